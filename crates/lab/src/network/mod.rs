//! A network between generator and target, simulated by a thread of this process: packets come half a
//! round trip later, and some do not come (docs/decisions/simulated-network.md).
//!
//! | module | what it does |
//! |---|---|
//! | `line` | says when a packet comes, and whether |
//! | `streams` | connections of TCP |
//! | `datagrams` | datagrams of UDP |
mod datagrams;
mod line;
mod streams;

use pippin_model::load::network::{Network, NetworkUse};
use pippin_model::load::{LoadSpec, Protocol};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

use line::Line;

/// What lines have carried.
#[derive(Debug, Default)]
struct Counts {
    packets: AtomicU64,
    lost: AtomicU64,
}

/// How lines are made.
#[derive(Debug, Clone)]
struct Lines {
    network: Network,
    seed: u64,
    counts: Arc<Counts>,
}

impl Lines {
    /// Both directions of the `nth` connection.
    fn pair(&self, nth: u64) -> [Line; 2] {
        [0, 1].map(|direction| {
            let seed = self.seed ^ (2 * nth + direction).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            Line::new(self.network, seed, Arc::clone(&self.counts))
        })
    }
}

/// A network that is up until it is dropped.
#[derive(Debug)]
pub struct Simulated {
    /// Where the load connects to, in place of its addresses.
    addresses: Vec<SocketAddr>,
    counts: Arc<Counts>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Simulated {
    /// Puts the load's network between it and its addresses; `None` if it has none.
    ///
    /// # Errors
    /// A port or a thread could not be had, or the load does not go to addresses of its target.
    pub fn between(load: &LoadSpec) -> io::Result<Option<Self>> {
        let Some(network) = load.network else { return Ok(None) };
        if load.unix_socket.is_some() || load.proxy.is_some() {
            let why = "the load goes to a unix socket or a proxy, where none can be: take the network out";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let counts = Arc::new(Counts::default());
        let lines = Lines { network, seed: load.seed, counts: Arc::clone(&counts) };
        let is_datagram = load.protocol == Protocol::Http3;
        let servers = load.addresses.clone();
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("network".into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(tell.send(Err(error))),
            };
            runtime.block_on(async {
                let mut addresses = Vec::new();
                for server in servers {
                    let begun = if is_datagram {
                        datagrams::begin(server, lines.clone()).await
                    } else {
                        streams::begin(server, lines.clone()).await
                    };
                    match begun {
                        Ok(address) => addresses.push(address),
                        Err(error) => return drop(tell.send(Err(error))),
                    }
                }
                let _ = tell.send(Ok(addresses));
                let _ = stopped.await;
            });
        })?;
        let addresses =
            told.recv().map_err(|_| io::Error::other("the network did not begin"))??;
        Ok(Some(Self { addresses, counts, stop: Some(stop), thread: Some(thread) }))
    }

    /// The load that goes through it.
    #[must_use]
    pub fn through(&self, load: &LoadSpec) -> LoadSpec {
        LoadSpec { addresses: self.addresses.clone(), ..load.clone() }
    }

    /// What it has done so far.
    #[must_use]
    pub fn seen(&self) -> NetworkUse {
        NetworkUse {
            packets: self.counts.packets.load(Relaxed),
            lost: self.counts.lost.load(Relaxed),
        }
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Any port of the loopback, of the family that the server has.
fn beside(server: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, 0)
}

/// Any port from which the server can be reached.
fn any(server: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(ip, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;
    use pippin_testing::scripted::{Answer, Script, spawn};
    use std::io::{Read as _, Write as _};
    use std::net::{TcpStream, UdpSocket};
    use std::time::{Duration, Instant};

    fn through(server: SocketAddr, protocol: Protocol, network: &str) -> Simulated {
        let load = LoadSpec {
            protocol,
            network: Some(network.parse().unwrap()),
            ..load::base(server, Vec::new(), 1)
        };
        let simulated = Simulated::between(&load).unwrap().unwrap();
        assert_eq!(simulated.through(&load).addresses, simulated.addresses);
        simulated
    }

    /// Never sooner: how much later depends on who else uses the machine.
    #[test]
    fn bytes_of_tcp_come_whole_in_order_and_late() {
        let body = "x".repeat(100_000);
        let server = spawn(Script::always(Answer::ok(body.as_bytes()))).unwrap();
        let network = through(server.address(), Protocol::Http1, "30ms,10%");
        let begin = Instant::now();
        let mut stream = TcpStream::connect(network.addresses[0]).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let (mut all, mut buffer) = (Vec::new(), [0; 65_536]);
        while all.len() < body.len() || !all.ends_with(body.as_bytes()) {
            let length = stream.read(&mut buffer).unwrap();
            assert!(length > 0, "the connection ended");
            all.extend_from_slice(&buffer[..length]);
        }
        let all = String::from_utf8(all).unwrap();
        // To connect takes a round trip too.
        assert!(begin.elapsed() >= Duration::from_millis(60), "{:?}", begin.elapsed());
        assert!(all.starts_with("HTTP/1.1 200") && all.ends_with(&body), "{} bytes", all.len());
        let seen = network.seen();
        assert!(seen.packets >= 70 && (1..30).contains(&seen.lost), "{seen:?}");
    }

    #[test]
    fn datagrams_are_late_and_some_are_lost() {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let network = through(server.local_addr().unwrap(), Protocol::Http3, "30ms,20%");
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client.connect(network.addresses[0]).unwrap();
        for socket in [&server, &client] {
            socket.set_read_timeout(Some(Duration::from_millis(2_000))).unwrap();
        }
        let begin = Instant::now();
        (0..100_u8).for_each(|nth| assert_eq!(client.send(&[nth]).unwrap(), 1));
        let (mut came, mut buffer) = (Vec::new(), [0; 8]);
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            assert!(begin.elapsed() >= Duration::from_millis(15));
            came.push(buffer[0]);
            server.send_to(&buffer[..length], from).unwrap();
        }
        assert!(came.is_sorted() && (60..95).contains(&came.len()), "{} came", came.len());
        let back = std::iter::from_fn(|| client.recv(&mut buffer).ok()).count();
        assert!(back < came.len() && back > came.len() / 2, "{back} of {}", came.len());
        let seen = network.seen();
        assert_eq!(seen.packets, 100 + came.len() as u64);
        assert_eq!(seen.lost, 100 - back as u64);
    }

    #[test]
    fn a_load_without_one_has_none_and_one_that_cannot_have_it_is_refused() {
        let load = load::base(([127, 0, 0, 1], 1).into(), Vec::new(), 1);
        assert!(Simulated::between(&load).unwrap().is_none());
        let (unix_socket, network) = (Some("/x".into()), "20ms".parse().ok());
        let refused = Simulated::between(&LoadSpec { unix_socket, network, ..load });
        assert!(refused.unwrap_err().to_string().contains("a unix socket"));
    }
}
