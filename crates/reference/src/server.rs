//! The lean event loop of the null, upstream and device servers.
//!
//! A request costs one receive and one send; a wait costs one entry in the timing wheel. Requests
//! on one connection are answered one after the other in their order, so a pipelined request behind
//! a waiting one begins to wait when that one is answered.
mod connection;

use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Mutex;

use crate::account::Account;
use crate::clock::monotonic_ns;
use crate::error::Error;
use crate::handle::lock;
use crate::poller::{Event, Interest, Poller};
use crate::prepared::Prepared;
use crate::request::{LastHead, Method, Parsed, Persistence, Request};
use crate::socket;
use crate::wheel::Wheel;
use connection::Connection;
pub(crate) use connection::Ticket;

/// How long the loop sleeps at most before it looks whether it should stop.
const STOP_CHECK_NS: u64 = 20_000_000;
/// Connections accepted before others get their turn.
const ACCEPTS_A_TURN: usize = 64;
/// The token of the listener; connections have their generation above bit 32 and a descriptor below
/// it.
const LISTENER: u64 = u64::MAX;

/// What a server answers.
pub(crate) trait Service {
    /// Whether `answer` may return [`Reply::After`]; if not, the loop does without the clock.
    const WAITS: bool;

    /// Appends the answer to `out`, or says how long it takes. `account` has the request counted
    /// already.
    fn answer(&mut self, request: &Request<'_>, account: &mut Account, out: &mut Vec<u8>) -> Reply;

    /// Appends the answer of a request whose wait is over.
    fn answer_after_wait(&mut self, ticket: &Ticket, out: &mut Vec<u8>);
}

/// When a request is answered.
pub(crate) enum Reply {
    /// The answer was appended.
    Now,
    /// Later.
    After {
        /// Answer this many nanoseconds after the request was noticed.
        wait_ns: u64,
        /// What the service calls it.
        nth: u32,
    },
}

/// What becomes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    Close,
}

/// Serves until `go_on` says no.
pub(crate) fn run<S: Service>(
    listener: BorrowedFd<'_>,
    service: &mut S,
    account: &Mutex<Account>,
    go_on: &dyn Fn() -> bool,
) -> Result<(), Error> {
    socket::prepare_listener(listener)?;
    let mut server = Server::new(listener, service)?;
    let mut now_ns = monotonic_ns();
    while go_on() {
        server.poller.wait(server.sleep_ns(now_ns))?;
        let turn_start_ns = if S::WAITS { monotonic_ns() } else { 0 };
        let mut account = lock(account);
        for index in 0..server.poller.count() {
            let event = server.poller.event(index);
            if event.token == LISTENER {
                server.accept_some(&mut account)?;
            } else {
                server.on_event(event, &mut account);
            }
        }
        if S::WAITS {
            server.answer_due(&mut account);
            now_ns = monotonic_ns();
            account.longest_turn_ns = account.longest_turn_ns.max(now_ns - turn_start_ns);
        }
    }
    let mut account = lock(account);
    account.live_connections = 0;
    account.waiting = 0;
    Ok(())
}

struct Server<'a, S> {
    poller: Poller,
    listener: BorrowedFd<'a>,
    service: &'a mut S,
    /// By descriptor.
    connections: Vec<Option<Connection>>,
    next_generation: u32,
    /// False while the descriptor table is full.
    accepting: bool,
    wheel: Wheel,
    due: Vec<u64>,
    last_head: LastHead,
    bad_request: Prepared,
    /// Shared by all connections: what was just received, and what is about to be sent.
    input: Box<[u8]>,
    output: Vec<u8>,
}

impl<'a, S: Service> Server<'a, S> {
    fn new(listener: BorrowedFd<'a>, service: &'a mut S) -> Result<Self, Error> {
        let poller = Poller::new()?;
        poller.add(listener, LISTENER, Interest::Accept)?;
        Ok(Self {
            poller,
            listener,
            service,
            connections: Vec::new(),
            next_generation: 0,
            accepting: true,
            wheel: Wheel::new(monotonic_ns()),
            due: Vec::new(),
            last_head: LastHead::default(),
            bad_request: Prepared::new("400 Bad Request", "text/plain", b"Bad Request"),
            input: vec![0; 64 * 1024].into_boxed_slice(),
            output: Vec::with_capacity(64 * 1024),
        })
    }

    fn sleep_ns(&self, now_ns: u64) -> u64 {
        self.wheel
            .next_due_ns()
            .map_or(STOP_CHECK_NS, |due_ns| due_ns.saturating_sub(now_ns).min(STOP_CHECK_NS))
    }

    fn accept_some(&mut self, account: &mut Account) -> Result<(), Error> {
        for _ in 0..ACCEPTS_A_TURN {
            match socket::accept(self.listener) {
                Ok(socket) => self.begin(Connection::new(socket, self.next_generation), account)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
                    account.descriptors_exhausted += 1;
                    self.accepting = false;
                    return self.poller.remove(self.listener);
                }
                // The client gave up before it was accepted, or a signal came: the next one may be
                // fine.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// A connection often brings its first request along; if that closes it again, epoll never
    /// needs to know of it.
    fn begin(&mut self, mut connection: Connection, account: &mut Account) -> Result<(), Error> {
        self.next_generation = (self.next_generation + 1) & 0x7fff_ffff;
        account.connections += 1;
        account.live_connections += 1;
        account.peak_connections = account.peak_connections.max(account.live_connections);
        match self.converse(&mut connection, account) {
            Fate::Keep => {
                self.poller.add(
                    connection.socket.as_fd(),
                    connection.token(),
                    connection.interest(),
                )?;
                connection.interest_is_set();
                self.put(connection);
            }
            Fate::Close => self.close(connection, account)?,
        }
        Ok(())
    }

    fn put(&mut self, connection: Connection) {
        let index = connection.socket.as_raw_fd() as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        self.connections[index] = Some(connection);
    }

    /// Takes the connection out while it is served; `None` if it is gone.
    fn take(&mut self, token: u64) -> Option<Connection> {
        self.connections
            .get_mut((token & 0xffff_ffff) as usize)?
            .take_if(|connection| connection.token() == token)
    }

    fn close(&mut self, connection: Connection, account: &mut Account) -> Result<(), Error> {
        account.live_connections -= 1;
        if connection.waiting.is_some() {
            account.waiting -= 1;
            account.abandoned += 1;
        }
        drop(connection);
        if !self.accepting {
            self.accepting = true;
            self.poller.add(self.listener, LISTENER, Interest::Accept)?;
        }
        Ok(())
    }

    fn on_event(&mut self, event: Event, account: &mut Account) {
        let Some(mut connection) = self.take(event.token) else { return };
        let fate = if event.gone()
            || (event.output() && self.flush_unsent(&mut connection, account) == Fate::Close)
        {
            Fate::Close
        } else if connection.waiting.is_some() {
            // Everything that came is read in its turn, because edge-triggered epoll does not
            // report it again.
            connection.unread |= event.input();
            Fate::Keep
        } else {
            self.converse(&mut connection, account)
        };
        self.settle(connection, fate, account);
    }

    fn settle(&mut self, mut connection: Connection, fate: Fate, account: &mut Account) {
        let watched = fate == Fate::Keep
            && (!connection.interest_changed()
                || self
                    .poller
                    .modify(connection.socket.as_fd(), connection.token(), connection.interest())
                    .is_ok());
        if watched {
            connection.interest_is_set();
            self.put(connection);
        } else if self.close(connection, account).is_err() {
            // If this fails, the server's own descriptors are used up. Existing connections go on.
            self.accepting = false;
        }
    }

    /// Reads and answers until there is nothing more to read, an answer must wait, or the client
    /// does not take its answers.
    fn converse(&mut self, connection: &mut Connection, account: &mut Account) -> Fate {
        loop {
            if connection.unsent.is_some() {
                connection.unread = true;
                return Fate::Keep;
            }
            let count = match socket::receive(connection.socket.as_fd(), &mut self.input) {
                Ok(0) => return Fate::Close,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    connection.unread = false;
                    return Fate::Keep;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return Fate::Close,
            };
            account.bytes_in += count as u64;
            connection.unread = count == self.input.len();
            // Taken out for the call, so that a request can borrow from it while the rest of the
            // server changes.
            let input = std::mem::take(&mut self.input);
            if connection.partial.is_empty() {
                let used = self.answer_all(connection, &input[..count], account);
                connection.keep_rest(&input[used..count]);
            } else {
                let mut bytes = std::mem::take(&mut connection.partial).into_vec();
                bytes.extend_from_slice(&input[..count]);
                let used = self.answer_all(connection, &bytes, account);
                connection.keep_rest(&bytes[used..]);
            }
            self.input = input;
            if self.flush(connection, account) == Fate::Close {
                return Fate::Close;
            }
            if connection.waiting.is_some() || !connection.unread {
                return Fate::Keep;
            }
        }
    }

    /// Answers the complete requests in `bytes` into the output; returns how many bytes they took.
    fn answer_all(
        &mut self,
        connection: &mut Connection,
        bytes: &[u8],
        account: &mut Account,
    ) -> usize {
        let mut used = 0;
        while used < bytes.len() && connection.waiting.is_none() && !connection.closing {
            match self.last_head.parse(&bytes[used..]) {
                Parsed::Complete(request) => {
                    used += request.length;
                    account.requests += 1;
                    match self.service.answer(&request, account, &mut self.output) {
                        Reply::Now => {
                            account.answers += 1;
                            connection.closing = request.persistence == Persistence::Close;
                        }
                        Reply::After { wait_ns, nth } => {
                            account.call_begins();
                            let ticket = Ticket {
                                // The present instant, not the start of this turn: the request may
                                // have come since.
                                due_ns: monotonic_ns() + wait_ns,
                                nth,
                                method: request.method,
                                persistence: request.persistence,
                            };
                            self.wheel.add(ticket.due_ns, connection.token());
                            connection.waiting = Some(ticket);
                        }
                    }
                }
                Parsed::Partial => break,
                Parsed::Bad => {
                    account.bad_requests += 1;
                    self.bad_request.write(Method::Get, Persistence::Close, &mut self.output);
                    connection.closing = true;
                }
            }
        }
        used
    }

    fn answer_due(&mut self, account: &mut Account) {
        let now_ns = monotonic_ns();
        let mut due = std::mem::take(&mut self.due);
        self.wheel.take_due(now_ns, &mut due);
        for token in due.drain(..) {
            let Some(mut connection) = self.take(token) else { continue };
            // A timer may outlive its connection, but never the wait of a live one.
            let Some(ticket) = connection.waiting.take() else {
                self.put(connection);
                continue;
            };
            account.waiting -= 1;
            account.answers += 1;
            self.service.answer_after_wait(&ticket, &mut self.output);
            connection.closing = ticket.persistence == Persistence::Close;
            account.answered_gets += u64::from(ticket.method == Method::Get);
            account.late.record(monotonic_ns().saturating_sub(ticket.due_ns));
            let fate = self.go_on_after_wait(&mut connection, account);
            self.settle(connection, fate, account);
        }
        self.due = due;
    }

    fn go_on_after_wait(&mut self, connection: &mut Connection, account: &mut Account) -> Fate {
        if !connection.closing && !connection.partial.is_empty() {
            let bytes = std::mem::take(&mut connection.partial);
            let used = self.answer_all(connection, &bytes, account);
            connection.keep_rest(&bytes[used..]);
        }
        if self.flush(connection, account) == Fate::Close {
            return Fate::Close;
        }
        if connection.unread && connection.waiting.is_none() {
            self.converse(connection, account)
        } else {
            Fate::Keep
        }
    }

    /// Sends the output; what the kernel does not take stays with the connection.
    fn flush(&mut self, connection: &mut Connection, account: &mut Account) -> Fate {
        if self.output.is_empty() {
            return Fate::Keep;
        }
        let sent = match socket::send(connection.socket.as_fd(), &self.output) {
            Ok(sent) => sent,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => {
                self.output.clear();
                return Fate::Close;
            }
        };
        account.bytes_out += sent as u64;
        let rest = &self.output[sent..];
        connection.unsent = (!rest.is_empty()).then(|| Box::new(rest.to_vec()));
        self.output.clear();
        if connection.closing && connection.unsent.is_none() { Fate::Close } else { Fate::Keep }
    }

    fn flush_unsent(&mut self, connection: &mut Connection, account: &mut Account) -> Fate {
        if let Some(bytes) = connection.unsent.take() {
            self.output.extend_from_slice(&bytes);
        }
        self.flush(connection, account)
    }
}
