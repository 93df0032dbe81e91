//! The law of every load: each phase has a deadline, whatever the agents do, and what was delivered
//! is kept. Agents are real ones with random work and random connections, in virtual time.
use pippin_model::example::ExampleTrial;
use pippin_model::load::{StopRule, Timeouts};
use pippin_model::result::Window;
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;
use crate::agent::{self, Assignment, Work, Worker};
use crate::message::SliceResult;
use pippin_engine::Gate;
use pippin_model::host::fingerprint::Fingerprint;

const STEP_NS: u64 = 50_000_000;
const SECOND: u64 = 1_000_000_000;
/// No load of three seconds may hold its coordinator for longer than this: opening connections
/// (11 s), the load with its time limits (19 s), a stop (14 s), and agents that are waited for (64 s,
/// twice if they come and go).
const LONGEST_NS: u64 = 200 * SECOND;

/// How an agent's work goes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Habits {
    /// When its connections are open, after the order; `None` never.
    ready_ns: Option<u64>,
    /// When its load ends, after the start; `None` never.
    ends_ns: Option<u64>,
    /// Whether it reports seconds.
    reports: bool,
    /// Whether it ends when it is told to.
    obeys: bool,
    /// When no message passes, from and to.
    away: (u64, u64),
    /// When it is killed and started again under the same name.
    restarts_ns: Option<u64>,
}

fn habits() -> impl Strategy<Value = Habits> {
    let often = |right: u64, most: u64| prop_oneof![6 => Just(Some(right)), 1 => Just(None), 2 => (0..most).prop_map(Some)];
    let away = prop_oneof![
        3 => Just((0, 0)),
        2 => (0..12 * SECOND, 0..20 * SECOND).prop_map(|(from, long)| (from, from + long)),
        1 => (0..12 * SECOND).prop_map(|from| (from, u64::MAX)),
    ];
    let restarts = prop_oneof![6 => Just(None), 1 => (SECOND..12 * SECOND).prop_map(Some)];
    (
        often(SECOND / 10, 20 * SECOND),
        often(3 * SECOND, 30 * SECOND),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.8),
        away,
        restarts,
    )
        .prop_map(|(ready_ns, ends_ns, reports, obeys, away, restarts_ns)| Habits {
            ready_ns,
            ends_ns,
            reports,
            obeys,
            away,
            restarts_ns,
        })
}

struct Doing {
    trial: u64,
    began_ns: u64,
    gate: Arc<Gate>,
    stop: Arc<AtomicBool>,
    tell: UnboundedSender<agent::WorkEvent>,
    started_ns: Option<u64>,
    seconds: u64,
}

/// Takes an order and does what its habits say.
#[derive(Clone, Default)]
struct Worked(Rc<RefCell<Vec<Doing>>>, Rc<RefCell<u64>>);

impl Worker for Worked {
    fn allows(&self, _: &Work) -> Result<(), String> {
        Ok(())
    }

    fn begin(&self, assignment: Assignment) {
        let Assignment { work, gate, stop, tell, .. } = assignment;
        let Work::Slice(slice) = work else { return };
        let (trial, began_ns) = (slice.trial, *self.1.borrow());
        self.0.borrow_mut().push(Doing {
            trial,
            began_ns,
            gate,
            stop,
            tell,
            started_ns: None,
            seconds: 0,
        });
    }
}

impl Worked {
    fn go_on(&self, habits: &Habits, now_ns: u64) {
        *self.1.borrow_mut() = now_ns;
        self.0.borrow_mut().retain_mut(|doing| {
            if habits.ready_ns.is_some_and(|ready| now_ns >= doing.began_ns + ready) {
                doing.gate.reach();
            }
            if doing.gate.is_reached() && doing.gate.start().is_some() && doing.started_ns.is_none()
            {
                // The kernel's clock and the virtual one have nothing in common.
                doing.started_ns = Some(now_ns + 500_000_000);
            }
            let is_stopped = habits.obeys && doing.stop.load(Ordering::Relaxed);
            let started = doing.started_ns.filter(|start| now_ns >= *start);
            if let Some(start_ns) = started.filter(|_| habits.reports)
                && now_ns >= start_ns + (doing.seconds + 1) * SECOND
            {
                let from_ns = (doing.seconds * SECOND) as i64;
                let window =
                    Window { from_ns, duration_ns: SECOND, completed: 1, ..Window::default() };
                drop(doing.tell.send(agent::WorkEvent::Second(doing.trial, Box::new(window))));
                doing.seconds += 1;
            }
            let ends =
                started.zip(habits.ends_ns).is_some_and(|(start, ends)| now_ns >= start + ends);
            if ends || is_stopped {
                let text = serde_json::to_string(&result(ends)).unwrap();
                drop(doing.tell.send(agent::WorkEvent::Text(doing.trial, text)));
                drop(doing.tell.send(agent::WorkEvent::Over(doing.trial)));
            }
            !(ends || is_stopped)
        });
    }
}

fn result(is_whole: bool) -> SliceResult {
    let mut load = ExampleTrial::hello().build().load.unwrap();
    load.interrupted = !is_whole;
    SliceResult {
        start_ns: Some(load.measured_from_ns),
        load: Some(load),
        failure: None,
        caveats: Vec::new(),
        found: None,
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

struct Fickle {
    agent: agent::Agent<'static, Worked>,
    work: Worked,
    told: UnboundedReceiver<agent::WorkEvent>,
    name: String,
    habits: Habits,
    restarts: u64,
}

impl Fickle {
    fn new(name: String, instance: u64, habits: Habits) -> Self {
        let (tell, told) = unbounded_channel();
        let hello = Hello {
            tags: Vec::new(),
            host: Fingerprint::default(),
            boot: Some("one".into()),
            processors: 1,
            ceiling_per_s: None,
            claimed_by: None,
            is_probe: false,
        };
        let work = Worked::default();
        let peer = Peer { name: name.clone(), instance };
        let agent = agent::Agent::new(
            (peer, hello),
            Clock::default(),
            work.clone(),
            tell,
            (&NEVER, &|_| ()),
        );
        Self { agent, work, told, name, habits, restarts: 0 }
    }
}

struct World {
    now_ns: u64,
    began_ns: u64,
    coordinator: Coordinator,
    events: Receiver<Event>,
    agents: Vec<Fickle>,
    /// Pieces of results that reached the coordinator, by agent.
    delivered: Vec<bool>,
}

impl World {
    fn new(habits: &[Habits]) -> Self {
        let (sender, events) = channel();
        let wanted = Wanted::any(habits.len(), 5 * SECOND);
        let me = (Peer { name: "c".into(), instance: 99 }, Some("one".into()));
        let mut key = 0;
        let keys = Box::new(move || {
            key += 1;
            key
        });
        let coordinator = Coordinator::new(me, Clock::default(), wanted, keys, sender);
        let now_ns = Clock::default().now_ns();
        let new =
            |(nth, habits): (usize, &Habits)| Fickle::new(format!("a{nth}"), nth as u64, *habits);
        let agents: Vec<_> = habits.iter().enumerate().map(new).collect();
        Self {
            now_ns,
            began_ns: u64::MAX,
            coordinator,
            events,
            delivered: vec![false; agents.len()],
            agents,
        }
    }

    fn is_reached(&self, nth: usize) -> bool {
        let (from, to) = self.agents[nth].habits.away;
        let since_ns = self.now_ns.saturating_sub(self.began_ns);
        self.began_ns == u64::MAX || !(from..to).contains(&since_ns)
    }

    fn deliver(&mut self, outgoing: Vec<Outgoing>) {
        for message in outgoing {
            for nth in 0..self.agents.len() {
                let agent = &mut self.agents[nth];
                let is_its = [subject::CALL.to_string(), subject::order(&agent.name)]
                    .contains(&message.subject);
                if is_its && self.is_reached(nth) {
                    let reports = self.agents[nth].agent.hear(
                        &message.subject,
                        &message.payload,
                        self.now_ns,
                    );
                    self.hear(nth, reports);
                }
            }
        }
    }

    fn hear(&mut self, nth: usize, reports: Vec<Outgoing>) {
        for report in reports {
            if let Some(Opened::Same(_, _, Report::Piece { piece, .. })) = open(&report.payload) {
                let is_all = piece.of == 1;
                self.delivered[nth] |= is_all && self.coordinator.trial.is_some();
            }
            let answers = self.coordinator.hear(&report.subject, &report.payload, self.now_ns);
            self.deliver(answers);
        }
    }

    /// Lets time pass until the load is over, or for so long.
    fn pass(&mut self, most_ns: u64) -> Option<Outcome> {
        let until = self.now_ns + most_ns;
        while self.now_ns < until {
            self.now_ns += STEP_NS;
            let orders = self.coordinator.tick(self.now_ns);
            self.deliver(orders);
            for nth in 0..self.agents.len() {
                self.restart(nth);
                let agent = &mut self.agents[nth];
                agent.work.go_on(&agent.habits, self.now_ns);
                let mut reports = Vec::new();
                while let Ok(told) = agent.told.try_recv() {
                    reports.extend(agent.agent.told(told, self.now_ns));
                }
                reports.extend(agent.agent.tick(self.now_ns));
                if self.is_reached(nth) {
                    self.hear(nth, reports);
                }
            }
            for event in self.events.try_iter() {
                if let Event::Over(outcome) = event {
                    return Some(*outcome);
                }
            }
        }
        None
    }

    fn restart(&mut self, nth: usize) {
        let since_ns = self.now_ns.saturating_sub(self.began_ns);
        let agent = &mut self.agents[nth];
        if agent.restarts == 0 && agent.habits.restarts_ns.is_some_and(|at| since_ns >= at) {
            *agent = Fickle::new(agent.name.clone(), 1_000 + nth as u64, agent.habits);
            agent.restarts = 1;
        }
    }

    fn begin(&mut self) {
        self.pass(2 * SECOND);
        self.apply();
    }

    fn apply(&mut self) {
        self.began_ns = self.now_ns;
        let stop = StopRule { duration_ns: Some(3 * SECOND), requests: None };
        let timeouts = Timeouts { connect_ns: SECOND, request_ns: SECOND, ..Timeouts::default() };
        let load = LoadSpec {
            stop,
            timeouts,
            ..pippin_lab::load::base(([127, 0, 0, 1], 80).into(), Vec::new(), 1)
        };
        let task = Task { load, host: None, threads: None, briefing: None };
        let orders = self.coordinator.told(Instruction::Apply(Box::new(task)), self.now_ns);
        self.deliver(orders);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_load_ends_in_time_and_keeps_what_was_delivered(
        habits in prop::collection::vec(habits(), 1..4),
        stops_ns in prop::option::weighted(0.3, 0..20 * SECOND),
    ) {
        let mut world = World::new(&habits);
        world.begin();
        let outcome = match stops_ns {
            None => world.pass(LONGEST_NS),
            Some(at_ns) => world.pass(at_ns).or_else(|| {
                let orders = world.coordinator.told(Instruction::Stop, world.now_ns);
                world.deliver(orders);
                // The first signal counts.
                world.pass(30 * SECOND)
            }),
        };
        let outcome = outcome.expect("the load holds its coordinator for ever");
        for (agent, delivered) in outcome.agents.iter().zip(&world.delivered) {
            if *delivered {
                prop_assert!(agent.figures.is_some(), "{} delivered: {:?}", agent.name, agent.failure);
            } else {
                prop_assert!(agent.failure.is_some(), "{} delivered nothing", agent.name);
            }
        }
        // Seconds alone make a measurement, where no result came.
        let has_seconds = outcome.agents.iter().any(|agent| agent.figures.is_some());
        prop_assert!(!has_seconds || outcome.merged.slices() > 0 || outcome.from_seconds.is_some());
    }
}

fn right() -> Habits {
    Habits {
        ready_ns: Some(SECOND / 10),
        ends_ns: Some(3 * SECOND),
        reports: true,
        obeys: true,
        away: (0, 0),
        restarts_ns: None,
    }
}

/// The failures of a load with one right agent and this one, and after how long it ended, seconds.
fn beside_a_right_one(habits: Habits) -> (Vec<Option<String>>, u64) {
    let mut world = World::new(&[right(), habits]);
    world.begin();
    let outcome = world.pass(LONGEST_NS).expect("it ends");
    let took_s = (world.now_ns - world.began_ns) / SECOND;
    assert!(outcome.agents[0].figures.is_some(), "the right one's result is kept");
    (outcome.agents.into_iter().map(|agent| agent.failure).collect(), took_s)
}

#[test]
fn heartbeats_alone_hold_no_load() {
    for (habits, said, within_s) in [
        (Habits { ready_ns: None, obeys: false, ..right() }, "its connections were not open", 30),
        (Habits { ends_ns: None, obeys: false, ..right() }, "delivered no result", 40),
        (
            Habits { ends_ns: None, reports: false, obeys: false, ..right() },
            "reported nothing about the load",
            40,
        ),
    ] {
        let (failures, took_s) = beside_a_right_one(habits);
        assert!(failures[1].as_ref().unwrap().contains(said), "{failures:?}");
        assert!(took_s < within_s, "{took_s} s");
    }
}

/// The user's first stop ends the wait for an agent that never becomes ready and obeys nothing.
#[test]
fn the_first_stop_counts() {
    let mut world = World::new(&[right(), Habits { ready_ns: None, obeys: false, ..right() }]);
    world.begin();
    assert!(world.pass(SECOND).is_none());
    let orders = world.coordinator.told(Instruction::Stop, world.now_ns);
    world.deliver(orders);
    let outcome = world.pass(20 * SECOND).expect("the first stop counts");
    assert!(outcome.agents[1].failure.is_some());
}

/// A night: twenty loads, and one after the other each agent is started again, the server is away
/// for 8 s and for 30 s, and one agent's network fails. Every load is whole in the end.
#[test]
fn a_night_of_twenty_loads_survives_restarts_and_outages() {
    let mut world = World::new(&[right(); 3]);
    let restarted = Habits { restarts_ns: Some(3 * SECOND / 2), ..right() };
    let away = |seconds: u64| Habits { away: (SECOND, (1 + seconds) * SECOND), ..right() };
    let faults = |load: u32| -> Vec<(usize, Habits)> {
        match load {
            3 => vec![(0, restarted)],
            5 => vec![(1, restarted)],
            7 => vec![(2, restarted)],
            10 => (0..3).map(|nth| (nth, away(8))).collect(),
            13 => (0..3).map(|nth| (nth, away(30))).collect(),
            16 => vec![(1, away(8))],
            18 => vec![(0, restarted), (2, restarted)],
            _ => Vec::new(),
        }
    };
    let mut made_again = 0;
    for load in 0..20 {
        let mut attempts = 0;
        loop {
            attempts += 1;
            for agent in &mut world.agents {
                (agent.habits, agent.restarts) = (right(), 0);
            }
            world.pass(2 * SECOND);
            for (nth, habits) in faults(load).into_iter().filter(|_| attempts == 1) {
                world.agents[nth].habits = habits;
            }
            world.apply();
            let outcome = world.pass(LONGEST_NS).expect("the load ends");
            if !outcome.is_lost {
                assert_eq!(outcome.merged.slices(), 3, "load {load}");
                assert!(outcome.agents.iter().all(|agent| agent.failure.is_none()));
                break;
            }
            assert!(!faults(load).is_empty(), "load {load} loses nobody without a fault");
            made_again += 1;
            assert!(attempts < 4, "load {load} is made again without end");
        }
    }
    assert!((7..=14).contains(&made_again), "{made_again}");
}
