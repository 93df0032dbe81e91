//! Loads whose parts die: all the others end, and what was measured is kept.
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use pippin_model::load::{Check, Connections, Request, StopRule, WarmUp};
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Answer, Script, spawn};

use super::*;
use crate::Gate;
use crate::io::{Event, Handshake, Opening, Sending};

pippin_testing::patient_tests!(
    a_listener_that_panics_ends_the_load_and_is_told_no_more,
    a_load_ends_although_a_worker_hangs,
);

/// What goes wrong in a thread.
trait Fault {
    /// Before the `nth` wait of a thread, from 0; `slots` are the thread's.
    fn strike(slots: u32, nth: u32) -> io::Result<()>;

    /// With which errno every send fails.
    fn refuses_sends() -> Option<i32> {
        None
    }
}

/// An event loop in which something goes wrong.
struct Faulty<F> {
    epoll: Epoll,
    slots: u32,
    waits: u32,
    fault: std::marker::PhantomData<F>,
}

impl<F: Fault> Io for Faulty<F> {
    fn new(slots: u32, endpoints: &Arc<Endpoints>, on: Loop) -> io::Result<Self> {
        let epoll = Epoll::new(slots, endpoints, on)?;
        Ok(Self { epoll, slots, waits: 0, fault: std::marker::PhantomData })
    }
    fn wait(&mut self, timeout_ns: u64, stay_ns: u64) -> io::Result<()> {
        self.waits += 1;
        F::strike(self.slots, self.waits - 1)?;
        self.epoll.wait(timeout_ns, stay_ns)
    }
    fn open(&mut self, slot: u32, nth: u64) -> Opening {
        self.epoll.open(slot, nth)
    }
    fn send(&mut self, slot: u32, bytes: &[u8]) -> Sending {
        F::refuses_sends().map_or_else(|| self.epoll.send(slot, bytes), Sending::Failed)
    }
    fn close(&mut self, slot: u32) {
        self.epoll.close(slot);
    }
    fn next_event(&mut self) -> Option<Event> {
        self.epoll.next_event()
    }
    fn received(&self) -> &[u8] {
        self.epoll.received()
    }
    fn received_mut(&mut self) -> &mut [u8] {
        self.epoll.received_mut()
    }
    fn arrived_at(&mut self, now: u64) -> Option<u64> {
        self.epoll.arrived_at(now)
    }
    fn clock_steps(&self) -> u64 {
        self.epoll.clock_steps()
    }
    fn ends(&self, slot: u32) -> Option<(std::net::SocketAddr, std::net::SocketAddr)> {
        self.epoll.ends(slot)
    }
    fn handshake(&mut self, slot: u32) -> Option<Handshake> {
        self.epoll.handshake(slot)
    }
    fn is_closing(&self, slot: u32) -> bool {
        self.epoll.is_closing(slot)
    }
    fn is_undelivered(&self, slot: u32) -> Option<bool> {
        self.epoll.is_undelivered(slot)
    }
    fn has_delivered(&self, slot: u32) -> Option<bool> {
        self.epoll.has_delivered(slot)
    }
    fn syscalls(&self) -> u64 {
        self.epoll.syscalls()
    }
}

/// Two threads for an hour; the first of them has 2 connections, the other 1.
fn an_hour(address: std::net::SocketAddr) -> LoadSpec {
    LoadSpec {
        addresses: vec![address],
        requests: vec![Request {
            check: Check { status: vec![200], ..Check::default() },
            ..Request::get("/", "x")
        }]
        .into(),
        connections: Connections::kept(3),
        stop: StopRule::after(3_600_000_000_000),
        threads: 2,
        io: IoChoice::Epoll,
        ..LoadSpec::default()
    }
}

/// Why the load of an hour died, and what it had measured.
fn died<I: Io>(change: impl FnOnce(&mut LoadSpec), control: &Control<'_>) -> (String, LoadResult) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let mut spec = an_hour(server.address());
    change(&mut spec);
    let Err(EngineError::Died { what, measured }) =
        run_on::<Over<I, Tcp, Http1>>(&spec, control, Loop::Epoll)
    else {
        panic!("the load should have died");
    };
    drop(server);
    let measured = *measured.unwrap();
    assert!(measured.interrupted);
    assert!(measured.measured.requests.are_conserved(), "{:?}", measured.measured.requests);
    (what, measured)
}

struct Panics;

impl Fault for Panics {
    fn strike(slots: u32, nth: u32) -> io::Result<()> {
        assert!(slots == 1 || nth < 500, "a test's own panic");
        Ok(())
    }
}

#[test]
fn a_worker_that_panics_ends_the_load_and_leaves_what_all_have_measured() {
    let stop = AtomicBool::new(false);
    let (what, result) = died::<Faulty<Panics>>(|_| {}, &Control::new(&stop, &|_| true));
    assert_eq!(what, "a worker panicked: a test's own panic");
    assert!(result.measured.requests.good > 100, "{:?}", result.measured.requests);
    assert_eq!(result.generator.cpu_ns_by_thread.len(), 2);
}

struct Refuses;

impl Fault for Refuses {
    fn strike(slots: u32, nth: u32) -> io::Result<()> {
        if slots == 2 && nth >= 500 {
            Err(io::Error::from_raw_os_error(libc::EBADF))
        } else {
            Ok(())
        }
    }
}

#[test]
fn a_worker_that_cannot_wait_ends_the_load() {
    let stop = AtomicBool::new(false);
    let (what, result) = died::<Faulty<Refuses>>(|_| {}, &Control::new(&stop, &|_| true));
    assert!(what.contains("could not wait for events"), "{what}");
    assert!(result.measured.requests.good > 100);
}

fn a_listener_that_panics_ends_the_load_and_is_told_no_more() {
    let stop = AtomicBool::new(false);
    let told = AtomicU32::new(0);
    let listen = |_: &pippin_model::result::Window| {
        told.fetch_add(1, Ordering::Relaxed);
        panic!("nobody reads this");
    };
    for_each_loop(|run| {
        told.store(0, Ordering::Relaxed);
        let control = Control { on_window: Some(&listen), ..Control::new(&stop, &|_| true) };
        let (what, result) = run(&control);
        assert_eq!(what, "the coordinator or its listener panicked: nobody reads this");
        assert!(!result.windows.is_empty());
        in_time(result.measured.requests.good > 100, || format!("{:?}", result.measured.requests));
        assert_eq!(told.load(Ordering::Relaxed), 1);
    });
}

type Run<'a> = &'a dyn Fn(&Control<'_>) -> (String, LoadResult);

fn for_each_loop(test: impl Fn(Run<'_>)) {
    test(&|control| died::<Epoll>(|_| {}, control));
    test(&|control| died::<Uring>(|_| {}, control));
}

#[test]
fn a_judge_of_the_warm_up_that_panics_ends_the_load() {
    let stop = AtomicBool::new(false);
    // After a second, in which something was answered.
    let control = Control::new(&stop, &|rates: &[f64]| {
        assert!(rates.len() < 5, "cannot judge");
        false
    });
    let warm_up = |spec: &mut LoadSpec| {
        spec.warm_up = WarmUp::Auto { at_most_ns: 3_600_000_000_000 };
    };
    let (what, result) = died::<Epoll>(warm_up, &control);
    assert!(what.ends_with("cannot judge"), "{what}");
    assert!(result.warm_up.completed > 0);
}

struct Hangs;

static MAY_GO_ON: AtomicBool = AtomicBool::new(false);

impl Fault for Hangs {
    fn strike(slots: u32, nth: u32) -> io::Result<()> {
        // Early, since a busy machine may not give it many turns in a second.
        while slots == 2 && nth >= 20 && !MAY_GO_ON.load(Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Ok(())
    }
}

fn a_load_ends_although_a_worker_hangs() {
    MAY_GO_ON.store(false, Ordering::Relaxed);
    let stop = AtomicBool::new(false);
    let short = |spec: &mut LoadSpec| spec.stop.duration_ns = Some(1_000_000_000);
    let (what, result) = died::<Faulty<Hangs>>(short, &Control::new(&stop, &|_| true));
    MAY_GO_ON.store(true, Ordering::Relaxed);
    assert_eq!(what, "1 of 2 threads did not end in time");
    in_time(result.measured.requests.good > 100, || format!("{:?}", result.measured.requests));
}

#[test]
fn a_load_starts_at_the_agreed_instant() {
    let stop = AtomicBool::new(false);
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let mut spec = an_hour(server.address());
    spec.stop = StopRule { duration_ns: None, requests: Some(10) };
    let at = clock::now_ns() + 1_000_000_000;
    let gate = Gate::new();
    gate.open_at(at);
    let control = Control { gate: Some(&gate), ..Control::new(&stop, &|_| true) };
    let result = run_on::<Over<Epoll, Tcp, Http1>>(&spec, &control, Loop::Epoll).unwrap();
    assert_eq!(result.measured_from_ns, at);
    assert!(result.started_ns < at, "the connections are opened before");
    // An instant that has passed is at once.
    assert!(
        run_on::<Over<Epoll, Tcp, Http1>>(&spec, &control, Loop::Epoll).unwrap().measured_from_ns
            > at
    );
}

#[test]
fn a_load_waits_at_its_gate_with_its_connections_open() {
    let stop = AtomicBool::new(false);
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let mut spec = an_hour(server.address());
    spec.stop = StopRule { duration_ns: None, requests: Some(10) };
    let gate = Gate::new();
    let result = std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let control = Control { gate: Some(&gate), ..Control::new(&stop, &|_| true) };
            run_on::<Over<Epoll, Tcp, Http1>>(&spec, &control, Loop::Epoll).unwrap()
        });
        while !gate.is_reached() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(server.account().requests, 0);
        let at = clock::now_ns() + 100_000_000;
        gate.open_at(at);
        let result = load.join().unwrap();
        assert!(result.measured_from_ns >= at);
        result
    });
    assert_eq!(result.measured.requests.completed, 10);
}

struct Resets;

impl Fault for Resets {
    fn strike(_: u32, _: u32) -> io::Result<()> {
        Ok(())
    }
    fn refuses_sends() -> Option<i32> {
        Some(libc::ECONNRESET)
    }
}

/// Connections that are reset before a byte of a request is out: no request counts as sent, and
/// each has an error of its own kind.
#[test]
fn a_reset_before_the_first_request_is_no_close_before_an_answer() {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let spec = LoadSpec {
        stop: StopRule { duration_ns: None, requests: Some(6) },
        ..an_hour(server.address())
    };
    let stop = AtomicBool::new(false);
    let result = run_on::<Over<Faulty<Resets>, Tcp, Http1>>(
        &spec,
        &Control::new(&stop, &|_| true),
        Loop::Epoll,
    )
    .unwrap();
    let requests = result.measured.requests;
    assert_eq!((requests.scheduled, requests.sent, requests.unsent), (6, 0, 6));
    let kind = pippin_model::result::ErrorKind::ConnectReset;
    assert_eq!(result.measured.errors.into_iter().collect::<Vec<_>>(), [(kind, 6)]);
    assert_eq!(result.windows.iter().map(|window| window.sent).sum::<u64>(), 0);
    assert_eq!(server.stop().unwrap().requests, 0);
}
