//! Connections of this machine that were too short to be seen while they were open.
//!
//! The kernel keeps each ended connection for a minute, in TIME_WAIT (RFC 9293, section 3.6), and no
//! longer knows whose it was. So it shows that somebody got many short connections, and not who
//! opened them. A server that opens one for each request does that.
use pippin_model::host::usage::Passing;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

use crate::connected::ended;
use crate::server::{self, Place};

/// A place that got fewer is not named.
const LEAST: u64 = 100;

/// How many ended connections each address still has.
#[derive(Debug, Default)]
pub struct EndedConnections(HashMap<SocketAddr, u64>);

impl EndedConnections {
    /// Those of now, without those to the place that is loaded. Empty if the kernel does not tell.
    #[must_use]
    pub fn now(served: Option<&Place>) -> Self {
        let mut counts = HashMap::new();
        // Either end may have been the one that listened.
        for end in ended(served).unwrap_or_default().into_iter().flat_map(|it| [it.local, it.peer])
        {
            *counts.entry(end).or_default() += 1;
        }
        Self(counts)
    }

    /// Who got many more connections since then. `known` are processes that have a role: what they
    /// got is no news.
    #[must_use]
    pub fn since(&self, before: &Self, known: &BTreeSet<i32>) -> Vec<Passing> {
        let more = self.0.iter().filter_map(|(at, count)| {
            let more = count.saturating_sub(before.0.get(at).copied().unwrap_or(0));
            (more >= LEAST).then_some((*at, more))
        });
        // In the order of addresses, so that a record of one run reads as that of another.
        let more: BTreeMap<SocketAddr, u64> = more.collect();
        let named = more.into_iter().filter_map(|(at, connections)| {
            let servers = server::behind(&Place::Addresses(vec![at])).ok()?;
            let first = servers.processes.iter().find(|one| !known.contains(&one.pid))?;
            Some(Passing { name: first.name.clone(), pid: first.pid, at, connections })
        });
        named.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::{TcpListener, TcpStream};

    /// A child listens and closes first, and this process connects to it.
    #[test]
    fn who_got_many_short_connections_is_named() {
        let script = "import socket\ns=socket.socket()\ns.bind(('127.0.9.8',0))\ns.listen(99)\nprint(s.getsockname()[1],flush=True)\nwhile 1: s.accept()[0].close()";
        let mut child = std::process::Command::new("python3")
            .args(["-c", script])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let at: SocketAddr = format!("127.0.9.8:{}", line.trim()).parse().unwrap();
        let connect = |times: usize| {
            for _ in 0..times {
                let mut nothing = [0];
                assert_eq!(TcpStream::connect(at).unwrap().read(&mut nothing).unwrap(), 0);
            }
        };
        let of_child = |passing: Vec<Passing>| passing.into_iter().find(|one| one.at == at);
        connect(LEAST as usize);
        let before = EndedConnections::now(None);
        let none = BTreeSet::new();
        connect(LEAST as usize - 1);
        assert_eq!(
            of_child(EndedConnections::now(None).since(&before, &none)),
            None,
            "one too few"
        );
        connect(10);
        let now = EndedConnections::now(None);
        let found = of_child(now.since(&before, &none)).unwrap();
        assert_eq!((found.pid, found.connections), (child.id() as i32, LEAST + 9));
        assert!(found.name.starts_with("python"), "{found:?}");
        assert_eq!(of_child(now.since(&before, &[found.pid].into())), None, "it has a role");
        let served = Place::Addresses(vec![at]);
        assert_eq!(
            of_child(
                EndedConnections::now(Some(&served)).since(&EndedConnections::default(), &none)
            ),
            None
        );
        child.kill().unwrap();
        child.wait().unwrap();
        // Nobody listens there now.
        drop(TcpListener::bind(at));
        assert_eq!(of_child(now.since(&before, &none)), None);
    }
}
