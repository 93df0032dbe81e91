//! The messages of a fleet: what an agent does with any order, and a coordinator with any report.
use pippin_fleet::actor::Actor;
use pippin_fleet::agent::{Agent, Assignment, Means, Policy, Work, Worker};
use pippin_fleet::clock::Clock;
use pippin_fleet::coordinator::{Coordinator, Event, Instruction, Task, Wanted};
use pippin_fleet::message::{
    Hello, NO_KEY, Order, Peer, Prepare, Report, SliceResult, seal, subject,
};
use pippin_fleet::pieces::Piece;
use pippin_model::example::ExampleTrial;
use pippin_model::host::fingerprint::Fingerprint;
use pippin_model::load::{LoadSpec, Part, Request, Requests, StopRule};
use pippin_model::result::Window;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use tokio::sync::mpsc::unbounded_channel;

use crate::target::{gist, number};

/// Words of both kinds of messages.
pub(crate) const WORDS: &[&[u8]] = &[
    b"\"of\":0",
    b"\"of\":4294967295",
    b"\"width\":0",
    b"\"nth\":4294967295",
    b"\"threads\":4294967295",
    b"\"count\":4294967295",
    b"\"trial\":1",
    b"18446744073709551615",
    b"-9223372036854775808",
    b"1e309",
    b"null",
    b"[]",
    b"{}",
    b"\"order\":\"prepare\"",
    b"\"order\":\"stop\"",
    b"\"report\":\"piece\"",
    b"\"report\":\"second\"",
];

/// The subject of the agent's orders.
const ORDERS: &str = "pippin.order.a";
const SECOND_NS: u64 = 1_000_000_000;
static NEVER: AtomicBool = AtomicBool::new(false);

fn peer(name: &str) -> Peer {
    Peer { name: name.into(), instance: 1 }
}

fn hello() -> Hello {
    Hello {
        tags: Vec::new(),
        host: Fingerprint::default(),
        boot: None,
        processors: 1,
        ceiling_per_s: None,
        claimed_by: None,
        is_probe: false,
    }
}

fn load() -> LoadSpec {
    let stop = StopRule { duration_ns: Some(SECOND_NS), requests: None };
    let address = ([127, 0, 0, 1], 80).into();
    LoadSpec { stop, threads: 1, ..pippin_lab::load::base(address, Vec::new(), 1) }
}

/// Checks orders as an agent does, up to the first connection.
struct Checks(Means, Rc<RefCell<Vec<String>>>);

impl Worker for Checks {
    fn allows(&self, work: &Work) -> Result<(), String> {
        let allowed = self.0.allows(work);
        self.1.borrow_mut().extend(allowed.as_ref().err().map(|why| gist(why)));
        allowed
    }

    fn begin(&self, assignment: Assignment) {
        if let Work::Slice(slice) = assignment.work {
            let load = self.0.fit(slice.load, slice.threads);
            let checked = pippin_engine::check(&load).err().map(|error| gist(&error.to_string()));
            self.1.borrow_mut().push(checked.unwrap_or_default());
        }
    }
}

/// Whatever an agent hears, it goes on to answer calls.
pub(crate) fn orders(input: &[u8]) -> u64 {
    let (tell, _told) = unbounded_channel();
    let means = Means {
        policy: Policy::default(),
        cores: vec![0],
        source_addresses: Vec::new(),
        calibration: None,
        clock: Clock::default(),
    };
    let said = Rc::default();
    let checks = Checks(means, Rc::clone(&said));
    let mut agent =
        Agent::new((peer("a"), hello()), Clock::default(), checks, tell, (&NEVER, &|_| ()));
    let beat = seal(&peer("c"), 1, &Order::Beat { sent_ns: 0, patience_ns: 0 });
    let heard: Vec<usize> = [&beat[..], input]
        .into_iter()
        .map(|bytes| agent.hear(ORDERS, bytes, SECOND_NS).iter().map(|out| out.payload.len()).sum())
        .collect();
    let call = seal(&peer("c"), NO_KEY, &Order::Call);
    assert_eq!(agent.hear(ORDERS, &call, SECOND_NS).len(), 1, "it answers no more calls");
    number((heard, said.take()))
}

/// Whatever a coordinator hears, its load ends.
pub(crate) fn reports(input: &[u8]) -> u64 {
    let (sender, events) = channel();
    let wanted = Wanted::any(1, 5 * SECOND_NS);
    let to = subject::report(&peer("c"), "a");
    let clock = Clock::default();
    let mut coordinator =
        Coordinator::new((peer("c"), None), clock, wanted, Box::new(|| 1), sender);
    let begun_ns = clock.now_ns();
    let at = |seconds: u64| begun_ns + seconds * SECOND_NS;
    drop(coordinator.hear(
        &to,
        &seal(&peer("a"), NO_KEY, &Report::Hello(Box::new(hello()))),
        at(1),
    ));
    drop(coordinator.tick(at(2)));
    let task = Task { load: load(), host: None, threads: None, briefing: None };
    drop(coordinator.told(Instruction::Apply(Box::new(task)), at(3)));
    drop(coordinator.tick(at(4)));
    let heard = coordinator.hear(&to, input, at(5)).len();
    // A coordinator that looks less often takes itself for one that stood still. The agent answers
    // heartbeats, so that what it reports decides and not its silence.
    let echo = Report::Echo { sent_ns: 1, received_ns: 2, answered_ns: 3, unix_ns: 4 };
    let echo = seal(&peer("a"), 1, &echo);
    let ends = (6..300).find_map(|second| {
        drop(coordinator.hear(&to, &echo, at(second)));
        drop(coordinator.tick(at(second)));
        let over = |event| if let Event::Over(outcome) = event { Some(outcome) } else { None };
        let outcome = events.try_iter().find_map(over)?;
        let failures = outcome.agents.iter().filter_map(|agent| agent.failure.as_deref());
        let failures: Vec<String> = failures.map(gist).collect();
        Some((second, failures, outcome.merged.slices(), outcome.windows.len()))
    });
    assert!(ends.is_some(), "the load never ends");
    number((heard, ends))
}

pub(crate) fn some_orders() -> Vec<Vec<u8>> {
    let prepare = |change: fn(&mut LoadSpec)| {
        let mut load = LoadSpec { slice: Part { nth: 0, width: 1, of: 2 }, ..load() };
        load.requests = vec![Request::get("/", "a")].into();
        change(&mut load);
        Order::Prepare(Box::new(Prepare {
            trial: 1,
            load,
            host: None,
            threads: Some(1),
            watches_host: false,
            pieces_at_once: 8,
            briefing: None,
        }))
    };
    let orders = [
        Order::Call,
        Order::Loads { places: vec!["127.0.0.1:80".into()] },
        Order::Beat { sent_ns: 5, patience_ns: 9 },
        // One that is right; few of its mutations are still JSON, so what agents refuse comes too.
        prepare(|_| ()),
        prepare(|load| load.requests = Requests::default()),
        prepare(|load| load.addresses = vec![([192, 0, 2, 1], 80).into()]),
        prepare(|load| load.slice.width = 3),
        prepare(|load| load.connections.count = u32::MAX),
        prepare(|load| load.connections.pipeline = 0),
        prepare(|load| load.stop = StopRule { duration_ns: None, requests: None }),
        Order::Start { trial: 1, at_ns: 9 },
        Order::Stop { trial: 1 },
        Order::Got { trial: 1, text_nth: 0, nth: 0 },
        Order::Release,
    ];
    orders.iter().map(|order| seal(&peer("c"), 1, order)).collect()
}

pub(crate) fn some_reports() -> Vec<Vec<u8>> {
    let window = Window { duration_ns: SECOND_NS, completed: 3, ..Window::default() };
    let load = ExampleTrial::hello().build().load;
    let whole = SliceResult { load, start_ns: Some(9), ..SliceResult::failed(String::new()) };
    let piece = |text: String| Piece { text_nth: 0, nth: 0, of: 1, text };
    let failed = serde_json::to_string(&SliceResult::failed("no".into())).unwrap_or_default();
    let whole = serde_json::to_string(&whole).unwrap_or_default();
    let reports = [
        Report::Taken { trial: 1 },
        Report::Ready { trial: 1 },
        Report::Busy { with: "d".into() },
        Report::Leaving,
        Report::Beside { trial: 1, with: "d".into(), place: "127.0.0.1:80".into() },
        Report::Second { trial: 1, window: Box::new(window) },
        Report::Echo { sent_ns: 1, received_ns: 2, answered_ns: 3, unix_ns: 4 },
        Report::Piece { trial: 1, piece: piece(failed) },
        Report::Piece { trial: 1, piece: piece(whole) },
    ];
    reports.iter().map(|report| seal(&peer("a"), 1, report)).collect()
}
