//! A coordinator and its agents in virtual time. Messages arrive at once, and a test can drop some
//! of them.
use pippin_model::example::ExampleTrial;
use pippin_model::host::fingerprint::Fingerprint;
use pippin_model::load::{LoadSpec, Part};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;
use crate::agent::{self, Assignment, Policy, Work, Worker};
use crate::fleet::without_result;
use crate::message::{Prepare, SliceResult};

const STEP_NS: u64 = 25_000_000;
const SECOND: u64 = 1_000_000_000;

/// A slice that the test controls.
struct Slice0 {
    trial: u64,
    stop: Arc<AtomicBool>,
    tell: UnboundedSender<agent::WorkEvent>,
    load: LoadSpec,
    briefing: Option<String>,
}

/// The test does its slices.
#[derive(Clone, Default)]
struct Idle(std::rc::Rc<RefCell<Vec<Slice0>>>);

impl Worker for Idle {
    fn allows(&self, work: &Work) -> Result<(), String> {
        match work {
            Work::Slice(slice) => Policy::default().allows(&slice.load.addresses),
            Work::Run(_) => Err("it is not a probe".into()),
        }
    }

    fn begin(&self, assignment: Assignment) {
        let Assignment { work, gate, stop, tell, .. } = assignment;
        let Work::Slice(slice) = work else { return };
        gate.reach();
        let Prepare { trial, load, briefing, .. } = *slice;
        self.0.borrow_mut().push(Slice0 { trial, stop, tell, load, briefing });
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

struct Simulated {
    agent: agent::Agent<'static, Idle>,
    work: Idle,
    told: UnboundedReceiver<agent::WorkEvent>,
    name: String,
    /// Whether its messages arrive.
    is_connected: bool,
    is_alive: bool,
}

impl Simulated {
    fn new(name: &str, instance: u64) -> Self {
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
        let work = Idle::default();
        let peer = Peer { name: name.into(), instance };
        let agent = agent::Agent::new(
            (peer, hello),
            Clock::default(),
            work.clone(),
            tell,
            (&NEVER, &|_| ()),
        );
        Self { agent, work, told, name: name.into(), is_connected: true, is_alive: true }
    }

    /// Ends its slice with this result.
    fn finish(&self, result: SliceResult) {
        let slice = self.work.0.borrow_mut().pop().unwrap();
        let text = serde_json::to_string(&result).unwrap();
        slice.tell.send(agent::WorkEvent::Text(slice.trial, text)).unwrap();
        slice.tell.send(agent::WorkEvent::Over(slice.trial)).unwrap();
    }

    fn is_stopped(&self) -> bool {
        self.work.0.borrow().last().is_none_or(|slice| slice.stop.load(Ordering::Relaxed))
    }
}

struct World {
    now_ns: u64,
    coordinator: Coordinator,
    events: Receiver<Event>,
    agents: Vec<Simulated>,
}

impl World {
    fn new(names: &[&str], wanted: usize) -> Self {
        let (sender, events) = channel();
        // Only differences count. Beats are stamped by the real clock, which hardly moves.
        let wanted = Wanted::any(wanted, 5 * SECOND);
        let me = (Peer { name: "c".into(), instance: 99 }, Some("one".into()));
        let mut key = 0;
        let keys = Box::new(move || {
            key += 1;
            key
        });
        let coordinator = Coordinator::new(me, Clock::default(), wanted, keys, sender);
        let now_ns = Clock::default().now_ns();
        let agents = (0..).zip(names).map(|(nth, name)| Simulated::new(name, nth)).collect();
        Self { now_ns, coordinator, events, agents }
    }

    fn deliver(&mut self, outgoing: Vec<Outgoing>) {
        for message in outgoing {
            for nth in 0..self.agents.len() {
                let agent = &mut self.agents[nth];
                let is_its = [subject::CALL.to_string(), subject::order(&agent.name)]
                    .contains(&message.subject);
                if is_its && agent.is_alive && agent.is_connected {
                    let reports = agent.agent.hear(&message.subject, &message.payload, self.now_ns);
                    self.hear(reports);
                }
            }
        }
    }

    fn hear(&mut self, reports: Vec<Outgoing>) {
        for report in reports {
            let answers = self.coordinator.hear(&report.subject, &report.payload, self.now_ns);
            self.deliver(answers);
        }
    }

    /// Lets some time pass.
    fn pass(&mut self, ns: u64) {
        let until = self.now_ns + ns;
        while self.now_ns < until {
            self.now_ns += STEP_NS;
            let orders = self.coordinator.tick(self.now_ns);
            self.deliver(orders);
            for nth in 0..self.agents.len() {
                let agent = &mut self.agents[nth];
                let mut reports = Vec::new();
                while let Ok(told) = agent.told.try_recv() {
                    reports.extend(agent.agent.told(told, self.now_ns));
                }
                reports.extend(agent.agent.tick(self.now_ns));
                if agent.is_alive && agent.is_connected {
                    self.hear(reports);
                }
            }
        }
    }

    fn apply(&mut self) {
        let load = ExampleTrial::hello().build().load_spec.unwrap_or_else(base);
        let orders = self.coordinator.told(task(load), self.now_ns);
        self.deliver(orders);
    }

    fn all_finish(&self) {
        self.agents.iter().for_each(|agent| agent.finish(whole()));
    }

    fn outcome(&self) -> Option<Outcome> {
        self.events.try_iter().find_map(|event| match event {
            Event::Over(outcome) => Some(*outcome),
            _ => None,
        })
    }

    /// Gathers, prepares and starts a load on two agents.
    fn under_way() -> Self {
        let mut world = Self::new(&["a", "b"], 2);
        world.pass(2 * SECOND);
        world.apply();
        world.pass(SECOND);
        assert!(world.coordinator.trial.as_ref().unwrap().start_ns.is_some(), "the load started");
        world
    }
}

fn task(load: LoadSpec) -> Instruction {
    Instruction::Apply(Box::new(Task { load, host: None, threads: None, briefing: None }))
}

fn base() -> LoadSpec {
    pippin_lab::load::base(([127, 0, 0, 1], 80).into(), Vec::new(), 1)
}

fn whole() -> SliceResult {
    let load = ExampleTrial::hello().build().load;
    SliceResult {
        start_ns: load.as_ref().map(|load| load.measured_from_ns),
        load,
        failure: None,
        caveats: Vec::new(),
        found: None,
    }
}

fn failures(outcome: &Outcome) -> Vec<(String, Option<String>)> {
    outcome.agents.iter().map(|agent| (agent.name.clone(), agent.failure.clone())).collect()
}

#[test]
fn agents_are_chosen_by_name_and_apply_a_load_together() {
    let mut world = World::new(&["c", "a", "b"], 2);
    world.pass(2 * SECOND);
    let gathered = world.events.try_iter().find_map(|event| match event {
        Event::Gathered(agents) => {
            Some(agents.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(gathered.unwrap(), ["a", "b"]);
    world.agents.retain(|agent| agent.name != "c");
    world.apply();
    world.pass(SECOND);
    let parts: Vec<Part> =
        world.agents.iter().map(|agent| agent.work.0.borrow()[0].load.slice).collect();
    assert_eq!(parts, [Part { nth: 0, width: 1, of: 2 }, Part { nth: 1, width: 1, of: 2 }]);
    world.all_finish();
    world.pass(SECOND);
    let outcome = world.outcome().unwrap();
    assert!(outcome.has_started && outcome.merged.slices() == 2);
    assert_eq!(failures(&outcome), [("a".into(), None), ("b".into(), None)]);
    // Results are taken, so the next load finds free agents.
    world.apply();
    world.pass(SECOND);
    world.all_finish();
    world.pass(SECOND);
    assert_eq!(world.outcome().unwrap().merged.slices(), 2);
}

#[test]
fn deputies_are_briefed_and_what_they_find_comes_back() {
    let mut world = World::new(&["a", "b"], 2);
    world.pass(2 * SECOND);
    let briefing = Some("what is right".to_string());
    let task = Task { load: base(), host: None, threads: None, briefing: briefing.clone() };
    let orders = world.coordinator.told(Instruction::Apply(Box::new(task)), world.now_ns);
    world.deliver(orders);
    world.pass(SECOND);
    for agent in &world.agents {
        assert_eq!(agent.work.0.borrow()[0].briefing, briefing);
        agent.finish(SliceResult { found: Some(agent.name.clone()), ..whole() });
    }
    world.pass(SECOND);
    assert_eq!(world.outcome().unwrap().found, ["a", "b"]);
}

#[test]
fn too_few_agents_are_told_with_the_reasons() {
    let mut world = World::new(&["a"], 2);
    world.pass(SECOND);
    let old = br#"{"schema":1,"version":"0.0.9","from":{"name":"old","instance":1},"body":{}}"#;
    for _ in 0..5 {
        world.coordinator.hear("pippin.report.0.old", old, world.now_ns);
        world.pass(SECOND);
    }
    let why = world.events.try_iter().find_map(|event| match event {
        Event::TooFew(why) => Some(why),
        _ => None,
    });
    let why = why.unwrap();
    assert!(why.starts_with("1 of 2 agents answered within 5 s"), "{why}");
    assert!(why.contains("agent old is Pippin 0.0.9 (messages 1), this is 0."), "{why}");
    assert!(world.coordinator.is_over());
}

#[test]
fn an_agent_that_falls_silent_ends_the_load_and_is_named() {
    let mut world = World::under_way();
    world.agents[1].is_alive = false;
    world.pass(3 * SECOND);
    assert!(world.outcome().is_none() && !world.agents[0].is_stopped());
    world.pass(2 * SECOND);
    assert!(world.agents[0].is_stopped(), "the others do not go on");
    world.agents[0].finish(whole());
    // The other one may hold a result: it is waited for as long again.
    world.pass(5 * SECOND);
    let outcome = world.outcome().unwrap();
    let named = failures(&outcome);
    assert_eq!((outcome.merged.slices(), &named[0]), (1, &("a".into(), None)));
    assert!(named[1].1.as_ref().unwrap().contains("nothing was heard of it for"), "{named:?}");
}

#[test]
fn an_agent_that_dies_before_the_start_ends_the_load_too() {
    let mut world = World::new(&["a", "b"], 2);
    world.pass(2 * SECOND);
    world.agents[1].is_alive = false;
    world.apply();
    world.pass(SECOND);
    assert!(world.coordinator.trial.as_ref().unwrap().start_ns.is_none());
    world.pass(4 * SECOND);
    world.agents[0].finish(whole());
    world.pass(SECOND);
    let outcome = world.outcome().unwrap();
    assert!(!outcome.has_started);
    assert!(failures(&outcome)[1].1.is_some());
    let said = without_result(outcome.has_started, &outcome.agents);
    assert!(said.starts_with("no load was applied: agent b: "), "{said}");
    let many = vec![outcome.agents[1].clone(); 1_000];
    let said = without_result(false, &many);
    assert!(said.ends_with("; 995 more"), "{said}");
    assert_eq!(said.matches("agent b: ").count(), 5);
}

#[test]
fn a_load_that_began_is_not_said_to_have_been_left_out() {
    let mut world = World::under_way();
    world.agents.iter_mut().for_each(|agent| agent.is_alive = false);
    // All at once: what connects them may come back.
    world.pass(60 * SECOND);
    assert!(world.outcome().is_none());
    world.pass(5 * SECOND);
    let outcome = world.outcome().unwrap();
    assert!(outcome.has_started && outcome.merged.slices() == 0);
    let said = without_result(outcome.has_started, &outcome.agents);
    assert!(said.starts_with("the load began, and no result came back: agent a: "), "{said}");
}

#[test]
fn a_load_that_is_too_long_is_refused_with_what_helps() {
    let mut world = World::new(&["a"], 1);
    world.pass(2 * SECOND);
    world.apply();
    let message = Outgoing { subject: subject::order("a"), payload: vec![0; 9] };
    world.coordinator.too_long(&message, 8);
    world.pass(SECOND);
    let outcome = world.outcome().unwrap();
    let why = failures(&outcome)[0].1.clone().unwrap();
    assert!(why.contains("9 bytes long and the NATS server takes 8: make it shorter"), "{why}");
}

#[test]
fn a_result_is_sent_until_it_is_taken() {
    let mut world = World::under_way();
    world.agents[1].is_connected = false;
    world.all_finish();
    world.pass(2 * SECOND);
    assert!(world.outcome().is_none());
    world.agents[1].is_connected = true;
    world.pass(2 * SECOND);
    let outcome = world.outcome().unwrap();
    assert_eq!((outcome.merged.slices(), failures(&outcome)[1].1.clone()), (2, None));
}

#[test]
fn who_was_cut_off_for_five_seconds_has_ended_its_load_and_delivers_it() {
    let mut world = World::under_way();
    world.agents[1].is_connected = false;
    world.pass(5 * SECOND);
    assert!(world.agents[1].is_stopped(), "no load goes on without its coordinator");
    world.agents[1].finish(SliceResult { load: interrupted(), ..whole() });
    world.agents[0].finish(whole());
    world.agents[1].is_connected = true;
    world.pass(SECOND);
    let outcome = world.outcome().unwrap();
    assert_eq!(outcome.merged.slices(), 2, "what it had measured is kept");
    assert!(outcome.is_lost && failures(&outcome)[1].1.is_some());
    // It takes part in the next load.
    world.apply();
    world.pass(3 * SECOND);
    world.all_finish();
    world.pass(SECOND);
    assert_eq!(failures(&world.outcome().unwrap())[1].1, None);
}

fn interrupted() -> Option<pippin_model::result::LoadResult> {
    let mut load = whole().load.unwrap();
    load.interrupted = true;
    Some(load)
}

/// Everything between the members is away for longer than anybody's patience.
#[test]
fn what_agents_hold_while_the_server_is_away_is_kept() {
    for away_s in [8, 30] {
        let mut world = World::under_way();
        world.agents.iter_mut().for_each(|agent| agent.is_connected = false);
        world.pass(5 * SECOND);
        assert!(world.agents.iter().all(Simulated::is_stopped));
        for agent in &world.agents {
            agent.finish(SliceResult { load: interrupted(), ..whole() });
        }
        world.pass((away_s - 5) * SECOND);
        world.agents.iter_mut().for_each(|agent| agent.is_connected = true);
        world.pass(2 * SECOND);
        let outcome = world.outcome().unwrap();
        assert_eq!(outcome.merged.slices(), 2, "away for {away_s} s");
        assert!(outcome.agents.iter().all(|agent| agent.failure.is_some()), "and it is INVALID");
        assert!(outcome.is_lost, "it is made again");
    }
}

/// The coordinator's process was stopped for six seconds: the agents ended their load.
#[test]
fn a_coordinator_that_stood_still_takes_what_the_agents_hold() {
    let mut world = World::under_way();
    for _ in 0..6 * SECOND / STEP_NS {
        world.now_ns += STEP_NS;
        for agent in &mut world.agents {
            drop(agent.agent.tick(world.now_ns));
        }
    }
    assert!(world.agents.iter().all(Simulated::is_stopped));
    for agent in &world.agents {
        agent.finish(SliceResult { load: interrupted(), ..whole() });
    }
    world.pass(2 * SECOND);
    let outcome = world.outcome().unwrap();
    assert_eq!(outcome.merged.slices(), 2);
    let named = failures(&outcome);
    assert!(named[0].1.as_ref().unwrap().contains("which stood still for 6"), "{named:?}");
}

/// A restarted agent, then a spare one, take the place of the one that was lost.
#[test]
fn the_next_load_takes_a_restarted_or_a_spare_agent() {
    for next in ["b", "d"] {
        let mut world = World::under_way();
        world.agents[1].is_alive = false;
        world.pass(5 * SECOND);
        world.agents[0].finish(whole());
        world.pass(5 * SECOND);
        assert!(world.outcome().unwrap().is_lost);
        world.agents[1] = Simulated::new(next, 1_000);
        world.apply();
        world.pass(4 * SECOND);
        world.all_finish();
        world.pass(SECOND);
        let outcome = world.outcome().unwrap();
        assert_eq!(failures(&outcome), [("a".into(), None), (next.to_string(), None)]);
        assert_eq!((outcome.merged.slices(), outcome.is_lost), (2, false));
    }
}

#[test]
fn without_enough_agents_the_next_load_is_refused_and_a_later_one_is_not() {
    let mut world = World::under_way();
    world.agents[1].is_alive = false;
    world.pass(5 * SECOND);
    world.agents[0].finish(whole());
    world.pass(5 * SECOND);
    assert!(world.outcome().is_some());
    world.apply();
    world.pass(6 * SECOND);
    let why = world.events.try_iter().find_map(|event| match event {
        Event::TooFew(why) => Some(why),
        _ => None,
    });
    assert!(why.unwrap().contains("1 of 2 agents"));
    world.agents[1] = Simulated::new("b", 1_000);
    world.apply();
    world.pass(4 * SECOND);
    world.all_finish();
    world.pass(SECOND);
    assert_eq!(world.outcome().unwrap().merged.slices(), 2);
}

/// Who cannot read an agent's orders does not know its key.
#[test]
fn nobody_reports_in_the_place_of_another() {
    let mut world = World::under_way();
    let b = Peer { name: "b".into(), instance: 1 };
    let result = serde_json::to_string(&whole()).unwrap();
    let piece = crate::pieces::Piece { text_nth: 0, nth: 0, of: 1, text: result };
    for report in
        [Report::Leaving, Report::Busy { with: "d".into() }, Report::Piece { trial: 1, piece }]
    {
        for (from, key) in [(&b, 0), (&b, 1), (&Peer { instance: 5, ..b.clone() }, 77)] {
            let payload = seal(from, key, &report);
            let to = subject::report(&Peer { name: "c".into(), instance: 99 }, "b");
            assert!(world.coordinator.hear(&to, &payload, world.now_ns).is_empty());
        }
        // Agent `a` has rights for its own subject only.
        let payload = seal(&b, 2, &report);
        let to = subject::report(&Peer { name: "c".into(), instance: 99 }, "a");
        assert!(world.coordinator.hear(&to, &payload, world.now_ns).is_empty());
    }
    world.pass(SECOND);
    assert!(world.outcome().is_none(), "the load goes on");
    world.all_finish();
    world.pass(SECOND);
    assert_eq!(failures(&world.outcome().unwrap())[1].1, None);
}

/// No result comes, but seconds did.
#[test]
fn seconds_that_came_become_a_measurement() {
    let mut world = World::under_way();
    for agent in &world.agents {
        let slice = &agent.work.0.borrow()[0];
        for second in 0..3 {
            let window = Window {
                from_ns: second * SECOND as i64,
                duration_ns: SECOND,
                sent: 11,
                completed: 10,
                good: 9,
                errors: 1,
                ..Window::default()
            };
            slice.tell.send(agent::WorkEvent::Second(1, Box::new(window))).unwrap();
        }
    }
    world.pass(SECOND);
    world.agents.iter_mut().for_each(|agent| agent.is_alive = false);
    world.pass(70 * SECOND);
    let outcome = world.outcome().unwrap();
    assert_eq!(outcome.merged.slices(), 0);
    let load = outcome.from_seconds.unwrap();
    let requests = &load.measured.requests;
    assert_eq!((requests.sent, requests.completed, requests.good), (66, 60, 54));
    assert_eq!(requests.sent, requests.completed + requests.failed + requests.censored);
    assert_eq!((load.measured.duration_ns, load.windows.len()), (3 * SECOND, 3));
    let figures = outcome.agents[1].figures.as_ref().unwrap();
    assert_eq!((figures.completed, figures.errors), (30, 3));
}

/// A coordinator that was lost gets its result when it is back, whoever uses the agent meanwhile.
#[test]
fn a_result_is_held_for_its_coordinator_while_another_one_uses_the_agent() {
    let mut world = World::under_way();
    world.agents.iter_mut().for_each(|agent| agent.is_connected = false);
    world.pass(5 * SECOND);
    for agent in &world.agents {
        agent.finish(SliceResult { load: interrupted(), ..whole() });
    }
    world.pass(SECOND);
    let other = Peer { name: "d".into(), instance: 100 };
    let beat = seal(&other, 7, &Order::Beat { sent_ns: 0, patience_ns: 20 * SECOND });
    drop(world.agents[0].agent.hear("pippin.order.a", &beat, world.now_ns));
    world.agents.iter_mut().for_each(|agent| agent.is_connected = true);
    world.pass(4 * SECOND);
    assert_eq!(world.outcome().unwrap().merged.slices(), 2);
}

#[test]
fn without_a_coordinator_agents_end_their_load_and_are_free() {
    let mut world = World::under_way();
    for agent in &mut world.agents {
        agent.is_connected = false;
    }
    world.pass(3 * SECOND);
    assert!(world.agents.iter().all(|agent| !agent.is_stopped()));
    world.pass(3 * SECOND / 2);
    assert!(world.agents.iter().all(Simulated::is_stopped));
    // Another coordinator may claim them.
    world.all_finish();
    world.pass(STEP_NS);
    let other = Peer { name: "d".into(), instance: 100 };
    let beat = seal(&other, 7, &Order::Beat { sent_ns: 0, patience_ns: 0 });
    let answers = world.agents[0].agent.hear("pippin.order.a", &beat, world.now_ns);
    assert_eq!(answers[0].subject, subject::report(&other, "a"));
    assert!(matches!(
        open::<Report>(&answers[0].payload),
        Some(Opened::Same(_, 7, Report::Echo { .. }))
    ));
}

#[test]
fn an_agent_works_for_one_coordinator_only() {
    let mut world = World::under_way();
    let other = Peer { name: "d".into(), instance: 100 };
    let beat = Order::Beat { sent_ns: 0, patience_ns: 0 };
    for order in [beat, Order::Stop { trial: 1 }, Order::Release] {
        let order = seal(&other, 7, &order);
        let answers = world.agents[0].agent.hear("pippin.order.a", &order, world.now_ns);
        match open::<Report>(&answers[0].payload) {
            Some(Opened::Same(_, 7, Report::Busy { with })) => assert_eq!(with, "c"),
            answer => panic!("{answer:?}"),
        }
    }
    assert!(!world.agents[0].is_stopped());
}

/// Two coordinators with agents of their own on one server: each result names the other.
#[test]
fn two_loads_of_one_target_are_named_in_both_results() {
    let named = |place: &str| {
        let mut world = World::under_way();
        let others = Order::Loads { places: vec!["10.0.0.9:80".into(), place.into()] };
        let other = Peer { name: "d".into(), instance: 100 };
        let order =
            Outgoing { subject: subject::CALL.into(), payload: seal(&other, NO_KEY, &others) };
        // Instruction twice, it is noted once.
        world.deliver(vec![order.clone(), order]);
        world.pass(SECOND);
        let notes = world.events.try_iter().filter(
            |event| matches!(event, Event::Note(text) if text.contains("coordinator d loads")),
        );
        let notes = notes.count();
        world.all_finish();
        world.pass(SECOND);
        (notes, world.outcome().unwrap().agents[0].beside.clone())
    };
    let own = World::under_way().coordinator.trial.unwrap().order.places();
    assert_eq!(named(&own[0]), (2, vec![format!("d: {}", own[0])]), "one note for each agent");
    assert_eq!(named("10.0.0.8:80"), (0, Vec::new()));
}

#[test]
fn what_is_loaded_is_told_to_all_agents_each_second() {
    let mut world = World::under_way();
    let mut told = 0;
    for _ in 0..200 {
        world.now_ns += STEP_NS;
        let orders = world.coordinator.tick(world.now_ns);
        told += orders.iter().filter(|order| order.subject == subject::CALL).count();
        world.deliver(orders);
    }
    assert_eq!(told, 5);
}

#[test]
fn an_agent_started_anew_is_not_the_same_one() {
    let mut world = World::under_way();
    let mut again = Simulated::new("b", 1_000);
    std::mem::swap(&mut world.agents[1], &mut again);
    world.pass(SECOND);
    world.agents[0].finish(whole());
    world.pass(SECOND);
    let named = failures(&world.outcome().unwrap());
    assert!(named[1].1.as_ref().unwrap().contains("restarted"), "{named:?}");
}

#[test]
fn what_an_agent_refuses_is_told_with_its_name() {
    let mut world = World::new(&["a", "b"], 2);
    world.pass(2 * SECOND);
    let mut load = base();
    load.addresses = vec![([10, 1, 2, 3], 80).into()];
    let orders = world.coordinator.told(task(load), world.now_ns);
    world.deliver(orders);
    world.pass(SECOND);
    let named = failures(&world.outcome().unwrap());
    assert!(named[0].1.as_ref().unwrap().contains("--allow-host 10.1.2.3"), "{named:?}");
}

#[test]
fn the_users_stop_reaches_all_and_is_no_failure() {
    let mut world = World::under_way();
    let orders = world.coordinator.told(Instruction::Stop, world.now_ns);
    world.deliver(orders);
    world.pass(SECOND);
    assert!(world.agents.iter().all(Simulated::is_stopped));
    world.all_finish();
    world.pass(SECOND);
    let outcome = world.outcome().unwrap();
    assert!(outcome.agents.iter().all(|agent| agent.failure.is_none()));
}

#[test]
fn no_agent_is_blamed_for_messages_that_wait_to_be_read() {
    let silent_for = |is_behind: bool| {
        let mut world = World::under_way();
        let until = world.now_ns + 20 * SECOND;
        while world.now_ns < until {
            world.now_ns += STEP_NS;
            if is_behind {
                world.coordinator.behind(STEP_NS, world.now_ns);
                world.agents.iter_mut().for_each(|agent| agent.agent.behind(STEP_NS, world.now_ns));
            }
            drop(world.coordinator.tick(world.now_ns));
            world.agents.iter_mut().for_each(|agent| drop(agent.agent.tick(world.now_ns)));
        }
        world.pass(SECOND);
        world.all_finish();
        world.pass(SECOND);
        let notes = world.events.try_iter().filter_map(|event| match event {
            Event::Note(text) => Some(text),
            Event::Over(outcome) => Some(format!("failures {:?}", failures(&outcome))),
            _ => None,
        });
        notes.collect::<Vec<_>>().join("; ")
    };
    let told = silent_for(true);
    assert!(told.contains("behind with reading what its agents reported, for 20 s"), "{told}");
    assert!(told.contains("failures [(\"a\", None), (\"b\", None)]"), "{told}");
    assert!(!told.contains("silent") && !told.contains("lost"), "{told}");
    let told = silent_for(false);
    assert!(told.contains("lost: nothing was heard"), "{told}");
}
