//! Limits for connections: how many at once, and how long each may take. Without them, a few lines
//! of shell could keep every descriptor of the server open. Who sends a request is served before who
//! only holds a connection: where all places are taken, the one that has waited longest makes room.
use axum::Router;
use axum::extract::Extension;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The pause before the next try if accepting fails, for example for lack of descriptors.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// The time that an answer still gets once its connection must end.
const LAST_ANSWER: Duration = Duration::from_secs(2);
/// How long a connection that must make room may take for it.
const MAKING_ROOM: Duration = Duration::from_millis(500);
/// The answer to a connection above the limit.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once. A further one takes the place of one that sends no request. If there is
    /// none, it gets 503 and is closed.
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
    let mut places: VecDeque<Arc<Place>> = VecDeque::new();
    let mut open = JoinSet::new();
    while let Some(accepted) = before(listener.accept(), stop.changed()).await {
        while open.try_join_next().is_some() {}
        places.retain(|place| !place.is_over.load(Ordering::Relaxed));
        let Ok((stream, peer)) = accepted else {
            sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let Some(permit) = room(&free, &mut places).await else {
            // A client that cannot take it at once is closed without it.
            drop(stream.try_write(BUSY));
            continue;
        };
        let router = router.clone().layer(Extension(Peer(peer.ip())));
        let stop = stop.clone();
        let place = Arc::new(Place::default());
        places.push_back(Arc::clone(&place));
        open.spawn(async move {
            one(stream, (router, Arc::clone(&place)), limits, stop).await;
            place.is_over.store(true, Ordering::Relaxed);
            drop(permit);
        });
    }
    drop(listener);
    open.join_all().await;
}

/// What one connection does.
#[derive(Debug, Default)]
struct Place {
    /// A request of it is being answered.
    is_busy: AtomicBool,
    is_over: AtomicBool,
    /// It must make room.
    evicted: Notify,
}

/// A free place, or that of the oldest connection without a request.
async fn room(
    free: &Arc<Semaphore>,
    places: &mut VecDeque<Arc<Place>>,
) -> Option<OwnedSemaphorePermit> {
    if let Ok(permit) = Arc::clone(free).try_acquire_owned() {
        return Some(permit);
    }
    let idle = places.iter().position(|place| !place.is_busy.load(Ordering::Relaxed))?;
    places.remove(idle)?.evicted.notify_one();
    timeout(MAKING_ROOM, Arc::clone(free).acquire_owned()).await.ok()?.ok()
}

/// Serves one connection until it ends, must make room, its maximum life is over, or the server
/// stops.
async fn one(
    stream: TcpStream,
    (router, place): (Router, Arc<Place>),
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let service = Marked { inner: TowerToHyperService::new(router), place: Arc::clone(&place) };
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .serve_connection(TokioIo::new(stream), service)
    );
    let must_end = timeout(limits.life, stop.changed());
    let served = async {
        // If a client breaks off, that is not a failure of the server.
        if before(connection.as_mut(), must_end).await.is_none() {
            connection.as_mut().graceful_shutdown();
            drop(timeout(LAST_ANSWER, connection).await);
        }
    };
    before(served, place.evicted.notified()).await;
}

/// Answers requests, and notes meanwhile that its connection has one.
struct Marked {
    inner: TowerToHyperService<Router>,
    place: Arc<Place>,
}

type Answering = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
type Failing = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;

impl Service<Request<Incoming>> for Marked {
    type Response = Answering;
    type Error = Failing;
    type Future = Pin<Box<dyn Future<Output = Result<Answering, Failing>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.place.is_busy.store(true, Ordering::Relaxed);
        let (answer, place) = (self.inner.call(request), Arc::clone(&self.place));
        Box::pin(async move {
            let answer = answer.await;
            place.is_busy.store(false, Ordering::Relaxed);
            answer
        })
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
