//! One load: validates it, starts the threads, waits for them, and puts the result together.
//!
//! | module | what it does |
//! |---|---|
//! | `validate` | whether a load can run as requested; each message says what to change |
//! | `coordinator` | starts the threads, ends the warm-up and the load, merges windows |
//! | `watchdog` | when a load must be over at the latest |
//! | `result` | from what the threads have counted to the result |
//! | `exchanges` | which requests are kept one by one, and their names |
//! | `gate` | where a load waits, with its connections open, for a start that its caller decides |
//! | `descriptors` | enough file descriptors, or a clear error |
//! | `cpu` | binds threads to processors |
pub(crate) mod coordinator;
pub(crate) mod cpu;
pub(crate) mod descriptors;
pub(crate) mod exchanges;
pub(crate) mod gate;
pub(crate) mod result;
pub(crate) mod validate;
pub(crate) mod watchdog;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use pippin_model::load::{IoChoice, LoadSpec, Protocol, Request};
use pippin_model::result::LoadResult;

use crate::digest::asking::challenges;
use crate::error::{panic_text, place};
use crate::io::chosen::Chosen;
use crate::io::epoll::Epoll;
use crate::io::socket::Endpoints;
use crate::io::uring::{self, Uring};
use crate::io::{Io, Loop};
use crate::protocol::Protocol as _;
use crate::protocol::http1::{Digested, Drawn, Http1, Uploading, Varied};
use crate::protocol::http2::Http2;
use crate::protocol::http3::Http3;
use crate::protocol::outgoing::Frames;
use crate::protocol::websocket::{Broadcast, WebSocket};
use crate::record::outcome::Outcome;
use crate::record::recorder::{Message, Recorder};
use crate::request::drawn::Desk;
use crate::run::coordinator::Coordinator;
use crate::run::descriptors::Tables;
use crate::run::exchanges::kept;
use crate::run::result::{assemble, stretches};
use crate::run::validate::{users, validate};
use crate::shared::Shared;
use crate::time::clock;
use crate::time::timeline::{Progress, Timeline};
use crate::tls::Client;
use crate::transport::{Tcp, Tls, Transport};
use crate::worker::{Assignment, Over, Stack, Worker};
use crate::{Control, EngineError};

pub(crate) fn run(spec: &LoadSpec, control: &Control<'_>) -> Result<LoadResult, EngineError> {
    let named = with_names(spec)?;
    let spec = named.as_ref().unwrap_or(spec);
    validate(spec)?;
    refereed(spec, control)?;
    let authorized = with_credentials(spec);
    let spec = authorized.as_ref().unwrap_or(spec);
    let on = match (spec.io, uring::probe()) {
        (IoChoice::Auto, Ok(())) if has_deadlines(spec) => Loop::Epoll,
        (IoChoice::Epoll, _) | (IoChoice::Auto, Err(_)) => Loop::Epoll,
        (IoChoice::IoUring | IoChoice::Auto, Ok(())) => Loop::Uring,
        (IoChoice::IoUring, Err(error)) => {
            return Err(EngineError::IoUringUnavailable(error.to_string()));
        }
    };
    match on {
        Loop::Epoll => over::<Epoll>(spec, control, on),
        Loop::Uring => over::<Uring>(spec, control, on),
    }
}

/// The load with a header in each request that names it; `None` if it asks for none.
fn with_names(spec: &LoadSpec) -> Result<Option<LoadSpec>, EngineError> {
    let Some(id) = &spec.request_id else { return Ok(None) };
    let unsendable =
        |why| EngineError::UnsendableRequest { request: "a request with a name".into(), why };
    let requests = id.added(&spec.requests).map_err(unsendable)?;
    Ok(Some(LoadSpec { requests, ..spec.clone() }))
}

/// The load with the credentials for its proxy in each request, where the proxy reads the requests:
/// in a tunnel they would reach the server. `None` if there is nothing to add.
pub(crate) fn with_credentials(spec: &LoadSpec) -> Option<LoadSpec> {
    let field = spec.proxy.as_ref().filter(|proxy| proxy.tunnel.is_none())?.authorization()?;
    let mut authorized = spec.clone();
    authorized.requests.iter_mut().for_each(|request| request.headers.push(field.clone()));
    Some(authorized)
}

/// Refuses checks that need a referee if there is none.
fn refereed(spec: &LoadSpec, control: &Control<'_>) -> Result<(), EngineError> {
    let examines = spec.surprises.as_ref().is_some_and(|surprises| surprises.by_referee);
    let asks = |request: &Request| examines || request.check.body.needs_referee();
    match spec.requests.iter().position(asks) {
        Some(nth) if control.referee.is_none() => Err(EngineError::ImpossibleCheck {
            request: place(spec, nth),
            why: "it needs a referee, which only a load with proofs has".into(),
        }),
        _ => Ok(()),
    }
}

/// Chooses transport and protocol. Plain HTTP/1.1 and HTTP/2 need the most speed, so a worker is built for each
/// event loop. All others choose the loop at run time ([`Chosen`]), because each combination takes seconds to
/// build.
fn over<I: Io>(
    spec: &LoadSpec,
    control: &Control<'_>,
    on: Loop,
) -> Result<LoadResult, EngineError> {
    let is_plain = spec.scenario.is_none()
        && !spec.uploads()
        && spec.digest.is_none()
        && !spec.draws()
        && (spec.connections.pipeline <= 1 || spec.others() == 0);
    match (spec.protocol, spec.tls.is_some()) {
        (Protocol::Http1, false) if is_plain => run_on::<Over<I, Tcp, Http1>>(spec, control, on),
        (Protocol::Http1, true) if is_plain => run_on::<Over<I, Tls, Http1>>(spec, control, on),
        (Protocol::Http2, false) => run_on::<Over<I, Tcp, Http2>>(spec, control, on),
        (Protocol::Http2, true) => run_on::<Over<I, Tls, Http2>>(spec, control, on),
        // What carries it secures itself.
        (Protocol::Http3, _) => run_on::<Over<Chosen, Tcp, Http3>>(spec, control, on),
        (Protocol::Http1 | Protocol::WebSocket, false) => on_chosen::<Tcp>(spec, control, on),
        (Protocol::Http1 | Protocol::WebSocket, true) => on_chosen::<Tls>(spec, control, on),
    }
}

/// HTTP/1.1 that is not plain, and WebSocket.
fn on_chosen<T: Transport>(
    spec: &LoadSpec,
    control: &Control<'_>,
    on: Loop,
) -> Result<LoadResult, EngineError> {
    match spec.protocol {
        Protocol::WebSocket if spec.is_broadcast() => {
            run_on::<Over<Chosen, T, Broadcast>>(spec, control, on)
        }
        Protocol::WebSocket => run_on::<Over<Chosen, T, WebSocket>>(spec, control, on),
        _ if spec.scenario.is_some() => run_on::<Over<Chosen, T, Varied>>(spec, control, on),
        _ if spec.uploads() => run_on::<Over<Chosen, T, Uploading>>(spec, control, on),
        _ if spec.digest.is_some() => run_on::<Over<Chosen, T, Digested>>(spec, control, on),
        // TLS copies what it sends, and what is sent in place of a pipelined request does not lie beside
        // the others.
        _ if T::SECURES || spec.connections.pipeline > 1 => {
            run_on::<Over<Chosen, T, Drawn<Frames>>>(spec, control, on)
        }
        _ => run_on::<Over<Chosen, Tcp, Drawn<Desk>>>(spec, control, on),
    }
}

/// Whether requests are to be sent at instants: epoll meets them better
/// (docs/decisions/engine-event-loops.md).
const fn has_deadlines(spec: &LoadSpec) -> bool {
    spec.schedule.arrivals().is_some()
}

pub(crate) fn run_on<S: Stack>(
    spec: &LoadSpec,
    control: &Control<'_>,
    on: Loop,
) -> Result<LoadResult, EngineError> {
    let wire = Arc::new(S::Protocol::wire(spec)?);
    let challenges = challenges(spec, users(spec), &|| control.is_stopped())?;
    let tables = descriptors::prepare(users(spec), spec.threads)?;
    let shared = Arc::new(Shared {
        spec: spec.clone(),
        wire,
        endpoints: Arc::new(Endpoints::from_spec(spec).map_err(|error| unix_socket(spec, error))?),
        on,
        challenges,
        tls: spec.tls.as_ref().map(|tls| Client::new(tls, spec.protocol)).transpose()?,
        timeline: Timeline::new(),
        referee: control.referee.clone(),
        progress: (0..spec.threads).map(|_| Progress::default()).collect(),
    });
    let (outbox, inbox) = channel();
    let started_unix_ns = clock::unix_ns();
    // Ends the workers, whatever happens to this thread.
    let _guard = EndsTheLoad(&shared.timeline);
    for thread in 0..spec.threads {
        let assignment = Assignment { shared: Arc::clone(&shared), thread };
        let outbox = outbox.clone();
        std::thread::Builder::new()
            .name(format!("load-{thread}"))
            .spawn(move || work::<S>(&assignment, tables, outbox))
            .map_err(|error| EngineError::System { what: "starting a thread", error })?;
    }
    drop(outbox);
    let (course, outcomes, mut failures) = Coordinator::new(&shared, control, inbox).run();
    let refusal = failures.iter().position(|failure| !matches!(failure, EngineError::Died { .. }));
    if let Some(refusal) = refusal {
        return Err(failures.swap_remove(refusal));
    }
    let result = assemble(spec, on.name(), started_unix_ns, course, &outcomes);
    match failures.into_iter().next() {
        Some(EngineError::Died { what, .. }) => {
            let measured = Some(Box::new(LoadResult { interrupted: true, ..result }));
            Err(EngineError::Died { what, measured })
        }
        _ => Ok(result),
    }
}

/// The only possible error is the path of the unix socket.
fn unix_socket(spec: &LoadSpec, error: std::io::Error) -> EngineError {
    let path = spec.unix_socket.clone().unwrap_or_default();
    EngineError::UnixSocket { path, error }
}

/// Ends the load when it goes out of scope, also by a panic.
struct EndsTheLoad<'a>(&'a Timeline);

impl Drop for EndsTheLoad<'_> {
    fn drop(&mut self) {
        self.0.end_now(clock::now_ns());
    }
}

/// The whole life of a thread. The coordinator is told of its end in any case.
fn work<S: Stack>(assignment: &Assignment, tables: Tables, outbox: Sender<Message>) {
    let farewell = outbox.clone();
    let outcome = catch_unwind(AssertUnwindSafe(|| measure::<S>(assignment, tables, outbox)))
        .unwrap_or_else(|panic| Err(EngineError::died(panic_text(&*panic))));
    // Only a coordinator that has given up does not listen.
    let _ = farewell.send(Message::Gone(Box::new(outcome)));
}

fn measure<S: Stack>(
    assignment: &Assignment,
    tables: Tables,
    outbox: Sender<Message>,
) -> Result<Outcome, EngineError> {
    let spec = &assignment.shared.spec;
    if !spec.cores.is_empty() {
        let core = spec.cores[assignment.thread as usize % spec.cores.len()];
        cpu::bind(core).map_err(|error| EngineError::Core { core, error })?;
    }
    if tables == Tables::OneForEachThread {
        descriptors::unshare().map_err(|error| EngineError::System {
            what: "giving a thread its own descriptors (close_range)",
            error,
        })?;
    }
    cpu::sleep_precisely();
    let (_, has_warm_up, _) = stretches(spec);
    let recorder = Recorder::new(kept(spec, assignment.thread), has_warm_up, outbox);
    let worker = Worker::<S>::new(assignment, recorder, clock::now_ns())
        .map_err(|error| EngineError::System { what: "setting up the event loop", error })?;
    Ok(worker.run())
}

#[cfg(test)]
mod tests;
