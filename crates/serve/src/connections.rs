//! Limits for connections: how many at once, and how long each may take. Without them, a few lines
//! of shell could keep every descriptor of the server open.
use axum::Router;
use axum::extract::Extension;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The pause before the next try if accepting fails, for example for lack of descriptors.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// The time that an answer still gets once its connection must end.
const LAST_ANSWER: Duration = Duration::from_secs(2);
/// The answer to a connection above the limit.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once. Further ones get 503 and are closed.
    pub connections: usize,
    /// How long a connection may take to send the whole head of a request. The time from one answer
    /// to the next request counts too, so this also closes idle connections.
    pub head: Duration,
    /// The maximum life of a connection. This also ends those that do not read their answers.
    pub life: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 256, head: Duration::from_secs(10), life: Duration::from_secs(300) }
    }
}

/// The client's address, for the routes.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// Answers connections until `stop` changes, then lets those end that are being answered.
pub async fn answer(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let free = Arc::new(Semaphore::new(limits.connections));
    let mut open = JoinSet::new();
    while let Some(accepted) = before(listener.accept(), stop.changed()).await {
        while open.try_join_next().is_some() {}
        let Ok((stream, peer)) = accepted else {
            sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let Ok(place) = Arc::clone(&free).try_acquire_owned() else {
            // A client that cannot take it at once is closed without it.
            drop(stream.try_write(BUSY));
            continue;
        };
        let router = router.clone().layer(Extension(Peer(peer.ip())));
        let stop = stop.clone();
        open.spawn(async move {
            one(stream, router, limits, stop).await;
            drop(place);
        });
    }
    drop(listener);
    open.join_all().await;
}

/// Serves one connection until it ends, its maximum life is over, or the server stops.
async fn one(stream: TcpStream, router: Router, limits: Limits, mut stop: watch::Receiver<bool>) {
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
    );
    let must_end = timeout(limits.life, stop.changed());
    // If a client breaks off, that is not a failure of the server.
    if before(connection.as_mut(), must_end).await.is_none() {
        connection.as_mut().graceful_shutdown();
        drop(timeout(LAST_ANSWER, connection).await);
    }
}

/// The result of `work`, or `None` if `end` comes first.
async fn before<T>(work: impl Future<Output = T>, end: impl Future) -> Option<T> {
    let (mut work, mut end) = (pin!(work), pin!(end));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => end.as_mut().poll(context).map(|_| None),
    })
    .await
}
