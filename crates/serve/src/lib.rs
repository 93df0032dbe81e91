//! `pippin serve`: the runs of a store in the browser. Read-only. It listens on loopback unless
//! told otherwise, and then needs a token.
//!
//! | module | what it holds |
//! |---|---|
//! | [`connections`] | how many at once, and how long each may take |
//! | [`guard`] | who may read: token, and the host name of the request |
//! | [`guesses`] | how many wrong tokens an address may send |
//! | [`routes`] | address to page |
//! | [`list`] | runs with filter and search, a page at a time |
//! | `digests` | makes missing digests, which lists show |
//! | [`live`], `live_charts`, `live_standing` | runs under way, updated each second |
//! | [`metrics`] | runs under way for Prometheus |
//! | [`compare`] | two or more runs side by side |
//! | [`leaderboard`] | targets over plans |
//! | [`board`] | the rounds of a plan |
//! | [`history`] | a target over time with change points |
//! | [`site`] | a store as a folder of files |
//! | [`page`] | what all pages share |
//! | [`failure`] | the page for requests that fail |
pub mod board;
pub mod compare;
pub mod connections;
mod digests;
pub mod failure;
pub mod guard;
pub mod guesses;
pub mod history;
pub mod leaderboard;
pub mod list;
pub mod live;
mod live_charts;
mod live_standing;
pub mod metrics;
pub mod page;
pub mod routes;
pub mod site;

use pippin_store::Store;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;

use connections::Limits;
use guard::Guard;

/// How often to check whether to stop.
const LOOK: Duration = Duration::from_millis(100);
/// The time that answers still get after the stop.
const GRACE: Duration = Duration::from_secs(2);
/// Shorter tokens can be guessed.
const SHORTEST_TOKEN: usize = 16;

/// Why the server did not start or failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address needs a token, because others could read all runs.
    #[error(
        "{0} is reached from other machines, which needs a token: name one of at least {SHORTEST_TOKEN} characters with --token, or bind to 127.0.0.1"
    )]
    TokenNeeded(SocketAddr),
    /// The token is too short and could be guessed.
    #[error(
        "the token has fewer than {SHORTEST_TOKEN} characters; a longer one is `head -c 18 /dev/urandom | base64`"
    )]
    TokenTooShort,
    /// The port is taken, or the address is not this machine's.
    #[error("cannot listen on {address}: {source}; another port is named with --bind")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The server itself failed.
    #[error("the server failed: {0}")]
    Io(#[from] io::Error),
}

/// A server that has its port but does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    store: Arc<Store>,
    guard: Guard,
    limits: Limits,
}

impl Server {
    /// Takes the port; 0 takes any free one.
    ///
    /// # Errors
    /// If other machines can reach `bind` and there is no token, if the token is short, or if the
    /// port is not available.
    pub fn bind(store: Store, bind: SocketAddr, token: Option<String>) -> Result<Self, ServeError> {
        match &token {
            None if !bind.ip().is_loopback() => return Err(ServeError::TokenNeeded(bind)),
            Some(token) if token.len() < SHORTEST_TOKEN => return Err(ServeError::TokenTooShort),
            _ => {}
        }
        let listener =
            TcpListener::bind(bind).map_err(|source| ServeError::Bind { address: bind, source })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            store: Arc::new(store),
            guard: Guard::new(token, bind.ip().is_loopback()),
            limits: Limits::default(),
        })
    }

    /// This server with other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is set, and then for at most two more seconds.
    ///
    /// # Errors
    /// If the server itself fails.
    pub fn run(self, stop: &AtomicBool) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (of_thread, store) = (Arc::clone(&is_over), Arc::clone(&self.store));
        // The thread ends after the digest that it is making, or with the process.
        std::thread::Builder::new()
            .name("digests".into())
            .spawn(move || digests::fill(&store, &of_thread))?;
        let answered = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let (send_stop, wait_for_stop) = watch::channel(false);
            let router = routes::router(self.store, self.guard);
            let task =
                tokio::spawn(connections::answer(listener, router, self.limits, wait_for_stop));
            while !stop.load(Ordering::Relaxed) && !task.is_finished() {
                tokio::time::sleep(LOOK).await;
            }
            // If the task has failed, nobody receives this; the error is returned below.
            let _ = send_stop.send(true);
            match tokio::time::timeout(GRACE, task).await {
                Ok(Err(panicked)) => Err(io::Error::other(panicked)),
                // A browser that keeps its connection open must not delay the end.
                Ok(Ok(())) | Err(_) => Ok(()),
            }
        });
        is_over.store(true, Ordering::Relaxed);
        runtime.shutdown_background();
        Ok(answered?)
    }
}

/// Serves the runs of a store until `stop` is set.
///
/// # Errors
/// Those of [`Server::bind`] and [`Server::run`].
pub fn serve(
    store: Store,
    bind: SocketAddr,
    token: Option<String>,
    stop: &AtomicBool,
) -> Result<(), ServeError> {
    Server::bind(store, bind, token)?.run(stop)
}
