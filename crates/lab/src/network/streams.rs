//! Connections of TCP. Their bytes are carried in segments as Ethernet has them.
use std::io;
use std::net::SocketAddr;
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::sleep_until;

use super::{Line, Lines, beside};

/// The bytes of a segment in a packet of 1,500 bytes with the usual options.
const SEGMENT_BYTES: usize = 1_448;
/// So many segments may be on their way: 5.6 MiB. Whoever sends more waits.
const MOST_SEGMENTS: usize = 4_096;

/// Some bytes, and when they come.
type Segment = (Instant, Vec<u8>);

/// Carries all connections to this server that are opened to the returned address.
pub(super) async fn begin(server: SocketAddr, lines: Lines) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(beside(server)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        for nth in 0.. {
            let Ok((client, _)) = listener.accept().await else { continue };
            tokio::spawn(connection(client, server, lines.pair(nth)));
        }
    });
    Ok(address)
}

/// A server that refuses the connection closes it.
async fn connection(client: TcpStream, server: SocketAddr, [mut up, mut down]: [Line; 2]) {
    let now = Instant::now();
    up.opens(now);
    down.opens(now);
    let Ok(server) = TcpStream::connect(server).await else { return };
    for stream in [&client, &server] {
        let _ = stream.set_nodelay(true);
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::spawn(carry(from_client, to_server, up));
    tokio::spawn(carry(from_server, to_client, down));
}

async fn carry(mut from: OwnedReadHalf, to: OwnedWriteHalf, mut line: Line) {
    let (way, on_their_way) = mpsc::channel(MOST_SEGMENTS);
    tokio::spawn(deliver(on_their_way, to));
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let now = Instant::now();
        for segment in buffer[..length].chunks(SEGMENT_BYTES) {
            if way.send((line.segment(now), segment.to_vec())).await.is_err() {
                return;
            }
        }
    }
    let _ = way.send((line.end(Instant::now()), Vec::new())).await;
}

async fn deliver(mut on_their_way: mpsc::Receiver<Segment>, mut to: OwnedWriteHalf) {
    while let Some((comes, bytes)) = on_their_way.recv().await {
        sleep_until(comes.into()).await;
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}
