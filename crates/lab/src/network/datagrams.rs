//! Datagrams of UDP. Each client has a socket of its own to the server, as behind a router.
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::time::sleep_until;

use super::{Line, Lines, any, beside};

const DATAGRAM_BYTES: usize = 65_536;

/// A datagram, and when it comes.
type Datagram = (Instant, Vec<u8>);

/// A client's way to the server.
struct Way {
    line: Line,
    queue: mpsc::UnboundedSender<Datagram>,
}

/// Carries all datagrams to this server that are sent to the returned address, and its answers.
pub(super) async fn begin(server: SocketAddr, lines: Lines) -> io::Result<SocketAddr> {
    let front = Arc::new(UdpSocket::bind(beside(server)).await?);
    let address = front.local_addr()?;
    tokio::spawn(async move {
        let mut ways: HashMap<SocketAddr, Way> = HashMap::new();
        let mut buffer = vec![0; DATAGRAM_BYTES];
        loop {
            // An error is that of a datagram that a client no longer wanted.
            let Ok((length, client)) = front.recv_from(&mut buffer).await else { continue };
            if !ways.contains_key(&client) {
                let pair = lines.pair(ways.len() as u64);
                let Ok(way) = open(server, Arc::clone(&front), client, pair).await else {
                    continue;
                };
                ways.insert(client, way);
            }
            if let Some(Way { line, queue }) = ways.get_mut(&client)
                && let Some(comes) = line.datagram(Instant::now())
            {
                let _ = queue.send((comes, buffer[..length].to_vec()));
            }
        }
    });
    Ok(address)
}

async fn open(
    server: SocketAddr,
    front: Arc<UdpSocket>,
    client: SocketAddr,
    [up, mut down]: [Line; 2],
) -> io::Result<Way> {
    let back = Arc::new(UdpSocket::bind(any(server)).await?);
    back.connect(server).await?;
    let (queue, mut to_server) = mpsc::unbounded_channel::<Datagram>();
    let (answers, mut to_client) = mpsc::unbounded_channel::<Datagram>();
    let sending = Arc::clone(&back);
    tokio::spawn(async move {
        while let Some((comes, bytes)) = to_server.recv().await {
            sleep_until(comes.into()).await;
            let _ = sending.send(&bytes).await;
        }
    });
    tokio::spawn(async move {
        while let Some((comes, bytes)) = to_client.recv().await {
            sleep_until(comes.into()).await;
            let _ = front.send_to(&bytes, client).await;
        }
    });
    tokio::spawn(async move {
        let mut buffer = vec![0; DATAGRAM_BYTES];
        loop {
            // Nobody listens, or no longer: it may come back.
            let Ok(length) = back.recv(&mut buffer).await else { continue };
            if let Some(comes) = down.datagram(Instant::now()) {
                let _ = answers.send((comes, buffer[..length].to_vec()));
            }
        }
    });
    Ok(Way { line: up, queue })
}
