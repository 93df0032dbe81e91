//! A server on its own thread.
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::error::Error;
use crate::socket;

/// A running server; dropping it stops it.
#[derive(Debug)]
pub struct Running<A> {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Error>>>,
    accounts: Arc<Vec<Mutex<A>>>,
}

impl<A: Clone + Default + Send + 'static> Running<A> {
    /// Listens on a free loopback port and runs `serve` on a new thread with one account for each
    /// of its `threads`.
    ///
    /// # Errors
    /// If there is no free port, or no thread can be started.
    pub fn spawn(
        threads: usize,
        serve: impl FnOnce(TcpListener, &[Mutex<A>], &AtomicBool) -> Result<(), Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let listener = socket::listen(SocketAddr::from(([127, 0, 0, 1], 0)), threads > 1)?;
        let address = listener
            .local_addr()
            .map_err(|source| Error::System { action: "getsockname", source })?;
        let stop = Arc::new(AtomicBool::new(false));
        let accounts: Arc<Vec<Mutex<A>>> =
            Arc::new((0..threads).map(|_| Mutex::default()).collect());
        let thread = {
            let (stop, accounts) = (Arc::clone(&stop), Arc::clone(&accounts));
            std::thread::Builder::new()
                .name("pippin-reference".into())
                .spawn(move || serve(listener, &accounts, &stop))
                .map_err(|source| Error::System { action: "starting a thread", source })?
        };
        Ok(Self { address, stop, thread: Some(thread), accounts })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Each thread's account so far.
    fn accounts(&self) -> Vec<A> {
        self.accounts.iter().map(|account| lock(account).clone()).collect()
    }

    /// Stops the server and waits for its end.
    fn finish(mut self) -> Result<Vec<A>, Error> {
        self.join()?;
        Ok(self.accounts())
    }

    fn join(&mut self) -> Result<(), Error> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or(Err(Error::Panicked)),
            None => Ok(()),
        }
    }
}

impl<A> Drop for Running<A> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // To learn how it ended, call `stop`.
            _ = thread.join();
        }
    }
}

/// What the threads of a server saw, as one account.
pub trait Total: Sized {
    /// The account of all threads together.
    fn total(accounts: &[Self]) -> Self;
}

impl Total for crate::Account {
    fn total(accounts: &[Self]) -> Self {
        merged(accounts)
    }
}

impl<A: Total + Clone + Default + Send + 'static> Running<A> {
    /// What the server saw and did so far, all threads together.
    #[must_use]
    pub fn account(&self) -> A {
        A::total(&self.accounts())
    }

    /// Stops the server and returns its final account.
    ///
    /// # Errors
    /// If the server had failed.
    pub fn stop(self) -> Result<A, Error> {
        self.finish().map(|accounts| A::total(&accounts))
    }
}

pub(crate) fn merged(accounts: &[crate::Account]) -> crate::Account {
    let mut all = crate::Account::default();
    accounts.iter().for_each(|account| all.merge(account));
    all
}

/// Locks an account. If its thread has panicked, it is still the best there is.
pub fn lock<A>(account: &Mutex<A>) -> MutexGuard<'_, A> {
    account.lock().unwrap_or_else(PoisonError::into_inner)
}
