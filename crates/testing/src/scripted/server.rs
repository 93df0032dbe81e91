//! The scripted server's event loop: each connection works off the steps of its answers, one
//! request after the other.
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::account::{Account, Exchange};
use super::answer::{Answer, End, Step};
use super::connection::Connection;
use super::script::{OnConnect, Received, Script, StallAt};
use pippin_reference::Error;
use pippin_reference::handle::lock;
use pippin_reference::monotonic_ns;
use pippin_reference::poller::{Event, Interest, Poller};
use pippin_reference::request::{Parsed, parse};
use pippin_reference::socket;
use pippin_reference::wheel::Wheel;

/// How long the loop sleeps at most before it looks whether it should stop.
const STOP_CHECK_NS: u64 = 20_000_000;
/// Turns after the stop at the most.
const LAST_TURNS: usize = 100;
const LISTENER: u64 = u64::MAX;
/// The timer of the stall.
const STALL: u64 = u64::MAX - 1;
/// How long an endless body without pauses waits after each piece, so that other connections get
/// their turn.
const ENDLESS_PAUSE: Duration = Duration::from_micros(200);

/// What becomes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    /// The client left, or can't be understood.
    Gone,
    /// The script says so.
    End(End),
}

/// Follows the script until `stop` is set.
pub(super) fn run(
    listener: &TcpListener,
    script: Script,
    account: &Mutex<Account>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    socket::prepare_listener(listener.as_fd())?;
    let mut server = Server::new(listener, script)?;
    while !stop.load(Ordering::Relaxed) {
        let sleep_ns = server.sleep_ns();
        server.turn(sleep_ns, account)?;
    }
    // Requests that came before the stop count. A client that keeps sending cannot delay the end.
    for _ in 0..LAST_TURNS {
        if server.turn(0, account)? == 0 {
            break;
        }
    }
    lock(account).live_connections = 0;
    Ok(())
}

struct Server<'a> {
    poller: Poller,
    listener: &'a TcpListener,
    script: Script,
    random: Xoshiro256PlusPlus,
    /// By token.
    connections: HashMap<u64, Connection>,
    wheel: Wheel,
    due: Vec<u64>,
    input: Box<[u8]>,
}

impl<'a> Server<'a> {
    fn new(listener: &'a TcpListener, script: Script) -> Result<Self, Error> {
        let poller = Poller::new()?;
        poller.add(listener.as_fd(), LISTENER, Interest::Accept)?;
        Ok(Self {
            poller,
            listener,
            random: Xoshiro256PlusPlus::seed_from_u64(script.seed),
            script,
            connections: HashMap::new(),
            wheel: Wheel::new(monotonic_ns()),
            due: Vec::new(),
            input: vec![0; 64 * 1024].into_boxed_slice(),
        })
    }

    /// One turn of the loop; returns how many events there were.
    fn turn(&mut self, sleep_ns: u64, account: &Mutex<Account>) -> Result<usize, Error> {
        self.poller.wait(sleep_ns)?;
        let account = &mut lock(account);
        for index in 0..self.poller.count() {
            let event = self.poller.event(index);
            if event.token == LISTENER {
                self.accept_all(account)?;
            } else {
                self.on_event(event, account);
            }
        }
        self.on_timers(account);
        Ok(self.poller.count())
    }

    fn sleep_ns(&self) -> u64 {
        self.wheel.next_due_ns().map_or(STOP_CHECK_NS, |due_ns| {
            due_ns.saturating_sub(monotonic_ns()).min(STOP_CHECK_NS)
        })
    }

    fn accept_all(&mut self, account: &mut Account) -> Result<(), Error> {
        loop {
            let socket = match socket::accept(self.listener.as_fd()) {
                Ok(socket) => socket,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
                    return Err(Error::System { action: "accepting a connection", source: error });
                }
                Err(_) => continue,
            };
            let mut connection = Connection::new(socket, account.connections);
            account.connections += 1;
            account.live_connections += 1;
            account.peak_connections = account.peak_connections.max(account.live_connections);
            match self.script.on_connect {
                OnConnect::Serve => {}
                OnConnect::Ignore => connection.silent = true,
                OnConnect::Close => {
                    close_by_script(connection, End::Close, account);
                    continue;
                }
                OnConnect::Reset => {
                    close_by_script(connection, End::Reset, account);
                    continue;
                }
            }
            self.poller.add(
                connection.socket.as_fd(),
                connection.token(),
                Interest::InputAndOutput,
            )?;
            self.connections.insert(connection.token(), connection);
        }
    }

    fn on_event(&mut self, event: Event, account: &mut Account) {
        let Some(mut connection) = self.connections.remove(&event.token) else { return };
        let read = if event.input() || event.gone() {
            self.read(&mut connection, account)
        } else {
            Fate::Keep
        };
        // Also for clients that have left: what they had sent before counts.
        let advanced = self.advance(&mut connection, account);
        let fate = if event.gone() || read == Fate::Gone { Fate::Gone } else { advanced };
        self.settle(connection, fate, account);
    }

    fn settle(&mut self, connection: Connection, fate: Fate, account: &mut Account) {
        match fate {
            Fate::Keep => _ = self.connections.insert(connection.token(), connection),
            Fate::Gone => account.live_connections -= 1,
            Fate::End(end) => close_by_script(connection, end, account),
        }
    }

    /// Reads all there is.
    fn read(&mut self, connection: &mut Connection, account: &mut Account) -> Fate {
        loop {
            match socket::receive(connection.socket.as_fd(), &mut self.input) {
                Ok(0) => {
                    connection.input_ended = true;
                    // Silent and idle connections are dropped; an answer under way is sent to its
                    // end if possible.
                    return if connection.silent || connection.current.is_none() {
                        Fate::Gone
                    } else {
                        Fate::Keep
                    };
                }
                Ok(count) => {
                    account.bytes_in += count as u64;
                    if !connection.silent {
                        connection.input.extend_from_slice(&self.input[..count]);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Fate::Keep,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Fate::Gone,
            }
        }
    }

    /// Goes on with the answer under way, then with the next request, until it must wait for
    /// something.
    fn advance(&mut self, connection: &mut Connection, account: &mut Account) -> Fate {
        loop {
            if connection.waiting || connection.silent {
                return Fate::Keep;
            }
            if !connection.output.is_empty() {
                connection.last_send_ns = monotonic_ns();
                match socket::send(connection.socket.as_fd(), &connection.output) {
                    Ok(count) => {
                        account.bytes_out += count as u64;
                        connection.output.drain(..count);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Fate::Keep,
                    Err(_) => return Fate::Gone,
                }
                continue;
            }
            match connection.steps.pop_front() {
                Some(Step::Send(bytes)) => connection.output = bytes,
                Some(Step::Wait(pause)) => self.wait(connection, pause),
                Some(Step::Endless { bytes, gap }) => {
                    connection.output.clone_from(&bytes);
                    connection.steps.push_front(Step::Endless { bytes, gap });
                    connection.steps.push_front(Step::Wait(gap.max(ENDLESS_PAUSE)));
                }
                None => {
                    let fate = finish(connection, account);
                    if fate != Fate::Keep {
                        return fate;
                    }
                    if !self.begin_next(connection, account) {
                        let over = connection.input_ended && connection.current.is_none();
                        return if over { Fate::Gone } else { Fate::Keep };
                    }
                }
            }
        }
    }

    fn wait(&mut self, connection: &mut Connection, pause: Duration) {
        connection.waiting = true;
        self.wheel.add(monotonic_ns() + pause.as_nanos() as u64, connection.token());
    }

    /// Begins to answer the next request; false if there is none or the connection fell silent.
    fn begin_next(&mut self, connection: &mut Connection, account: &mut Account) -> bool {
        if connection.silent {
            return false;
        }
        let request_bytes = match parse(&connection.input) {
            Parsed::Complete(request) => request.length,
            Parsed::Partial => return false,
            Parsed::Bad => {
                account.bad_requests += 1;
                connection.input.clear();
                connection.input_ended = true;
                return false;
            }
        };
        let bytes: Vec<u8> = connection.input.drain(..request_bytes).collect();
        let received = Received {
            number: account.requests,
            connection: connection.number,
            number_on_connection: connection.requests,
            received_ns: monotonic_ns(),
            bytes: &bytes,
        };
        account.requests += 1;
        connection.requests += 1;
        self.stall_if_due(&received, account);
        let answer = self.answer(&received);
        account.by_status.extend(
            answer
                .status()
                .map(|status| (status, account.by_status.get(&status).unwrap_or(&0) + 1)),
        );
        connection.current = Some((account.exchanges.len(), answer.end()));
        account.exchanges.push(Exchange {
            connection: received.connection,
            number_on_connection: received.number_on_connection,
            received_ns: received.received_ns,
            scripted_wait_ns: answer.wait().as_nanos() as u64,
            answered_ns: None,
        });
        connection.steps = answer.steps().into();
        true
    }

    fn answer(&mut self, received: &Received<'_>) -> Answer {
        let answer = (self.script.answering)(received, &mut self.random);
        match self.script.close_after {
            Some((answers, as_said)) if received.number_on_connection + 1 >= answers => {
                if as_said {
                    answer.then_close_as_said()
                } else {
                    answer.then_close()
                }
            }
            _ => answer,
        }
    }

    fn stall_if_due(&mut self, received: &Received<'_>, account: &mut Account) {
        match self.script.stall {
            Some((StallAt::Request(number), length)) if number == received.number => {
                stall(length, account)
            }
            Some((StallAt::AfterFirst(after), _)) if received.number == 0 => {
                self.wheel.add(received.received_ns + after.as_nanos() as u64, STALL)
            }
            _ => {}
        }
    }

    fn on_timers(&mut self, account: &mut Account) {
        let mut due = std::mem::take(&mut self.due);
        self.wheel.take_due(monotonic_ns(), &mut due);
        for token in due.drain(..) {
            if token == STALL {
                if let Some((_, length)) = self.script.stall {
                    stall(length, account);
                }
                continue;
            }
            let Some(mut connection) = self.connections.remove(&token) else { continue };
            connection.waiting = false;
            let fate = self.advance(&mut connection, account);
            self.settle(connection, fate, account);
        }
        self.due = due;
    }
}

/// Records the answer under way, if there is one, and does to the connection what the answer says.
fn finish(connection: &mut Connection, account: &mut Account) -> Fate {
    let Some((exchange, end)) = connection.current else { return Fate::Keep };
    if end == End::Silence {
        connection.silent = true;
        return Fate::Keep;
    }
    account.exchanges[exchange].answered_ns =
        Some(connection.last_send_ns.max(account.exchanges[exchange].received_ns));
    account.answers += 1;
    if end != End::Keep {
        return Fate::End(end);
    }
    connection.current = None;
    Fate::Keep
}

fn stall(length: Duration, account: &mut Account) {
    let begin_ns = monotonic_ns();
    std::thread::sleep(length);
    account.stall_ns = Some((begin_ns, monotonic_ns()));
}

fn close_by_script(connection: Connection, end: End, account: &mut Account) {
    account.live_connections -= 1;
    account.closed_by_script += 1;
    if end == End::Reset {
        // If this fails, the close is an ordinary one, and the test that asked for a reset would
        // notice.
        _ = socket::reset_on_close(connection.socket.as_fd());
    } else {
        socket::finish_sending(connection.socket.as_fd());
    }
}
