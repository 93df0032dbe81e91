//! A coordinator and its probe in virtual time. Messages arrive at once, and a test can drop some
//! of them.
use pippin_model::example;
use pippin_model::host::fingerprint::Fingerprint;
use pippin_model::run::RunState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;
use crate::agent::{self, Agent, Assignment, Skips, Work, Worker};
use crate::clock::Clock;
use crate::coordinator::Wanted;

const STEP_NS: u64 = 25_000_000;
const SECOND: u64 = 1_000_000_000;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A run that the test controls.
struct UnderWay {
    run_order: RunOrder,
    stop: Arc<AtomicBool>,
    skips: Skips,
    tell: UnboundedSender<agent::WorkEvent>,
}

/// The test makes its runs.
#[derive(Clone, Default)]
struct Idle(Arc<Mutex<Vec<UnderWay>>>);

impl Worker for Idle {
    fn allows(&self, work: &Work) -> Result<(), String> {
        match work {
            Work::Run(_) => Ok(()),
            Work::Slice(_) => Err("no".into()),
        }
    }

    fn begin(&self, assignment: Assignment) {
        let Assignment { work: Work::Run(run_order), stop, skips, tell, .. } = assignment else {
            return;
        };
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push(UnderWay { run_order: *run_order, stop, skips, tell });
    }
}

struct World {
    now_ns: u64,
    client: ProbeClient,
    events: Receiver<Event>,
    probe: Agent<'static, Idle>,
    work: Idle,
    told: UnboundedReceiver<agent::WorkEvent>,
    is_connected: bool,
}

impl World {
    fn new(is_probe: bool) -> Self {
        let (sender, events) = channel();
        let (tell, told) = unbounded_channel();
        let peer = |name: &str| Peer { name: name.into(), instance: 1 };
        let hello = Hello {
            tags: Vec::new(),
            host: Fingerprint::default(),
            boot: None,
            processors: 0,
            ceiling_per_s: None,
            claimed_by: None,
            is_probe,
        };
        let work = Idle::default();
        let probe = (peer("site"), hello);
        let probe = Agent::new(probe, Clock::default(), work.clone(), tell, (&NEVER, &|_| ()));
        let run_order = RunOrder {
            run: 1,
            plan: example::run::header("hello", "Hello", example::run::closed(), &["go/net-http"])
                .plan,
            seed: 7,
            wanted: Wanted::any(2, 5 * SECOND),
        };
        let now_ns = SECOND;
        let span = (5 * SECOND, now_ns);
        let client = ProbeClient::new((peer("c"), 3), "site".into(), run_order, span, sender);
        Self { now_ns, client, events, probe, work, told, is_connected: true }
    }

    fn probe_hears(&mut self, orders: Vec<Outgoing>) {
        for order in orders {
            let reports = self.probe.hear(&order.subject, &order.payload, self.now_ns);
            self.client_hears(reports);
        }
    }

    fn client_hears(&mut self, reports: Vec<Outgoing>) {
        for report in reports {
            let orders = self.client.hear(&report.subject, &report.payload, self.now_ns);
            self.probe_hears(orders);
        }
    }

    fn pass(&mut self, ns: u64) {
        let until = self.now_ns + ns;
        while self.now_ns < until {
            self.now_ns += STEP_NS;
            let orders = self.client.tick(self.now_ns);
            let mut reports = self.probe.tick(self.now_ns);
            while let Ok(told) = self.told.try_recv() {
                reports.extend(self.probe.told(told, self.now_ns));
            }
            if self.is_connected {
                self.probe_hears(orders);
                self.client_hears(reports);
            }
        }
    }

    fn tell(&self, entry: &Entry) {
        let runs = self.work.0.lock().unwrap();
        let text = serde_json::to_string(entry).unwrap();
        runs[0].tell.send(agent::WorkEvent::Text(runs[0].run_order.run, text)).unwrap();
    }

    fn is_stopped(&self) -> bool {
        self.work.0.lock().unwrap().iter().all(|run| run.stop.load(Ordering::Relaxed))
    }

    fn lost(&self) -> Option<String> {
        self.events.try_iter().find_map(|event| match event {
            Event::Lost(why) => Some(why),
            _ => None,
        })
    }

    fn entries(&self) -> Vec<Entry> {
        let entry = |event| match event {
            Event::Entry(entry) => Some(*entry),
            _ => None,
        };
        self.events.try_iter().filter_map(entry).collect()
    }
}

#[test]
fn a_run_is_begun_once_and_told_in_order() {
    let mut world = World::new(true);
    world.pass(3 * SECOND);
    assert_eq!(world.work.0.lock().unwrap().len(), 1, "asked again and again, begun once");
    let entries = [
        Entry::Note("n".repeat(100_000)),
        Entry::Stage("proving".into()),
        Entry::Over(Ok(RunState::Finished)),
    ];
    world.is_connected = false;
    entries.iter().for_each(|entry| world.tell(entry));
    world.pass(SECOND);
    assert_eq!(world.entries(), []);
    world.is_connected = true;
    world.pass(3 * SECOND);
    assert_eq!(world.entries(), entries, "what got lost was sent again");
    // The probe is free again afterwards.
    let release = world.client.told(Instruction::End, world.now_ns);
    world.probe_hears(release);
    assert!(world.client.is_over() && world.is_stopped());
}

#[test]
fn the_users_stop_reaches_the_run_and_silence_ends_it_on_both_sides() {
    let mut world = World::new(true);
    world.pass(SECOND);
    let target = example::run::id("go/net-http");
    world.client.told(Instruction::Skip(target.clone()), world.now_ns);
    world.pass(SECOND);
    let skips = Arc::clone(&world.work.0.lock().unwrap()[0].skips);
    assert!(skips.lock().unwrap().contains(&target) && !world.is_stopped());
    world.client.told(Instruction::Stop, world.now_ns);
    world.pass(SECOND);
    assert!(world.is_stopped() && world.lost().is_none());
    let mut world = World::new(true);
    world.pass(SECOND);
    world.is_connected = false;
    world.pass(3 * SECOND);
    assert!(!world.is_stopped() && world.lost().is_none());
    world.pass(3 * SECOND / 2);
    assert!(world.is_stopped(), "no run goes on without its coordinator");
    assert!(world.lost().unwrap().contains("nothing was heard of it for 4."));
}

#[test]
fn an_agent_is_no_probe_and_nobody_is_none() {
    let mut world = World::new(false);
    world.pass(SECOND);
    assert!(world.lost().unwrap().contains("it is an agent and not a probe"));
    let mut world = World::new(true);
    world.is_connected = false;
    world.pass(6 * SECOND);
    let why = world.lost().unwrap();
    assert!(
        why.contains("did not answer within 5 s") && why.contains("--probe --name site"),
        "{why}"
    );
    let mut world = World::new(true);
    let beat = Order::Beat { sent_ns: 0, patience_ns: 0 };
    let other = seal(&Peer { name: "d".into(), instance: 2 }, 9, &beat);
    for _ in 0..12 {
        world.probe.hear("pippin.order.site", &other, world.now_ns);
        world.pass(SECOND / 2);
    }
    assert_eq!(world.lost().unwrap(), "d uses it");
}
