//! A server of HTTP/3 by the crates `h3` and `quinn`. The path says what it answers.
use bytes::{Buf as _, Bytes};
use h3::error::Code;
use h3::server::RequestStream;
use h3_quinn::BidiStream;
use pippin_testing::tls::Authority;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::serving::{Room, Setup, listening};

/// What the server has counted.
#[derive(Default)]
pub(super) struct Account {
    pub connections: AtomicU64,
    pub requests: AtomicU64,
    pub paths: Mutex<HashSet<String>>,
}

pub(super) struct Library {
    pub address: SocketAddr,
    pub account: Arc<Account>,
    pub authority: Authority,
    _room: Room,
}

impl Library {
    pub fn new() -> Self {
        Self::set_up(Setup::default())
    }

    pub fn set_up(setup: Setup) -> Self {
        Self::made(setup, None)
    }

    /// One that says goodbye on each connection after this number of requests.
    pub fn closing_after(requests: usize) -> Self {
        Self::made(Setup::default(), Some(requests))
    }

    fn made(setup: Setup, most: Option<usize>) -> Self {
        let authority = Authority::new();
        let account = Arc::new(Account::default());
        let ours = Arc::clone(&account);
        let (address, room) = listening(&authority, setup, move |connection| {
            let account = Arc::clone(&account);
            async move {
                account.connections.fetch_add(1, Relaxed);
                let _ = serve(connection, setup, most, account).await;
            }
        });
        Self { address, account: ours, authority, _room: room }
    }
}

async fn serve(
    connection: quinn::Connection,
    setup: Setup,
    most: Option<usize>,
    account: Arc<Account>,
) -> Result<(), h3::error::ConnectionError> {
    let quic = connection.clone();
    let mut connection =
        h3::server::Connection::<_, Bytes>::new(h3_quinn::Connection::new(connection)).await?;
    let mut served = 0;
    while let Some(resolver) = connection.accept().await? {
        served += 1;
        if Some(served) == most {
            connection.shutdown(0).await?;
        }
        if setup.updates_keys {
            quic.force_key_update();
        }
        let account = Arc::clone(&account);
        tokio::spawn(async move {
            if let Ok((request, stream)) = resolver.resolve_request().await {
                account.requests.fetch_add(1, Relaxed);
                let path = request.uri().path().to_string();
                account.paths.lock().unwrap().insert(path.clone());
                let _ = answer(&path, stream).await;
            }
        });
    }
    // Who has said goodbye still answers what it has taken: the client closes.
    quic.closed().await;
    Ok(())
}

async fn answer(
    path: &str,
    mut stream: RequestStream<BidiStream<Bytes>, Bytes>,
) -> Result<(), h3::error::StreamError> {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let (status, body) = match parts[..] {
        ["wait", ms, text] => {
            tokio::time::sleep(Duration::from_millis(ms.parse().unwrap())).await;
            (200, text.to_string())
        }
        ["status", status] => (status.parse().unwrap(), "status".into()),
        ["size", bytes] => (200, "x".repeat(bytes.parse().unwrap())),
        ["reset"] => {
            stream.stop_stream(Code::H3_INTERNAL_ERROR);
            return Ok(());
        }
        ["echo"] => {
            let mut length = 0;
            while let Some(piece) = stream.recv_data().await? {
                length += piece.remaining();
            }
            (200, length.to_string())
        }
        _ => (200, path.to_string()),
    };
    let head = http::Response::builder().status(status).header("x-server", "h3").body(()).unwrap();
    stream.send_response(head).await?;
    if status != 204 {
        stream.send_data(Bytes::from(body)).await?;
    }
    stream.finish().await
}
