//! The member that distributes a load. It gathers agents, starts them at one instant, and takes
//! their seconds and results. It only reacts to messages and time, and never blocks.
//!
//! | module | what it does |
//! |---|---|
//! | `gathering` | finds enough agents, before the first load and after one was lost |
//! | `agent` | an agent that takes part |
//! | `deadlines` | how long each phase of a load may take |
//! | `silences` | agents that fall silent and come back, in few lines |
use pippin_model::load::LoadSpec;
use pippin_model::result::{LoadResult, Window};
use pippin_model::text::units::format_length;
use pippin_model::trial::agent::AgentPart;
use std::collections::HashMap;
use std::sync::mpsc::Sender;

use crate::actor::{Actor, Link, Outgoing, too_long};
use crate::caught::caught;
use crate::clock::{Clock, Exchange};
use crate::error::FleetError;
use crate::merge::{Merged, Seconds};
use crate::message::{
    Hello, Key, NO_KEY, Opened, Order, Peer, Prepare, Report, open, seal, subject,
};
use crate::patience;
use crate::pieces::UNDER_WAY;
use crate::share;

mod agent;
mod deadlines;
mod gathering;
mod silences;

use agent::{Agent, Job};
use deadlines::Deadlines;
use gathering::Gathering;
pub use gathering::Wanted;
use silences::{Silence, Silences};

/// Time from the decision to the start: much longer than a message takes.
const LEAD_NS: u64 = 300_000_000;
/// The interval between beats, the shorter one of the first beats, and the number of those.
const BEAT_NS: u64 = 500_000_000;
const FIRST_BEAT_NS: u64 = 50_000_000;
const FIRST_BEATS: usize = 8;
/// How often all agents hear what is loaded.
const PLACES_NS: u64 = 1_000_000_000;
/// What a byte of the order to prepare may cost its agent, which still reads when it does not
/// answer: an order of 64 MiB is repeated every 30 s, a short one with each beat.
const READ_NS: u64 = 450;
/// With many agents, the first beats are farther apart: each costs about this much.
const BEAT_COST_NS: u64 = 500_000;
/// A coordinator that did nothing for so long was stopped itself: its process, or its machine.
const STILL_NS: u64 = 1_500_000_000;

/// What a fleet tells its coordinator.
#[derive(Debug)]
pub enum Instruction {
    /// Apply a load.
    Apply(Box<Task>),
    /// End the load.
    Stop,
    /// Let the agents go.
    End,
}

/// A load for all agents together.
#[derive(Debug, Clone)]
pub struct Task {
    /// The whole load.
    pub load: LoadSpec,
    /// The host and port that agents look up themselves, if the load has no addresses.
    pub host: Option<(String, u16)>,
    /// Threads on each agent.
    pub threads: Option<u32>,
    /// What each agent needs to judge answers.
    pub briefing: Option<String>,
}

/// What a coordinator tells its fleet.
#[derive(Debug)]
pub enum Event {
    /// How many agents have answered the call, and how many are wanted.
    Gathering(usize, usize),
    /// The agents that take part.
    Gathered(Vec<(String, Hello)>),
    /// Something worth knowing.
    Note(String),
    /// There are not enough agents.
    TooFew(String),
    /// The coordinator itself cannot go on.
    Broken(FleetError),
    /// A second of all agents together.
    Second(Box<Window>),
    /// The load is over.
    Over(Box<Outcome>),
}

/// How a load ended.
#[derive(Debug)]
pub struct Outcome {
    /// What each agent did.
    pub agents: Vec<AgentPart>,
    /// The merged measurement of all agents that delivered a result.
    pub merged: Merged,
    /// The seconds that all agents reported, with merged time figures.
    pub windows: Vec<Window>,
    /// Whether the schedule ever started.
    pub has_started: bool,
    /// What the agents' deputies of the referee have found.
    pub found: Vec<String>,
    /// What the seconds add up to that came from agents; for a load of which no result came.
    pub from_seconds: Option<LoadResult>,
    /// Whether an agent was lost, or had other work: made again, the load may well be complete.
    pub is_lost: bool,
}

/// A load under way.
struct Trial {
    number: u64,
    began_ns: u64,
    start_ns: Option<u64>,
    /// When it was stopped: by the user, or because an agent has failed.
    stop_ns: Option<u64>,
    /// When the user stopped it.
    user_stop_ns: Option<u64>,
    /// For how long this process itself did nothing meanwhile.
    still_ns: u64,
    /// For how long it was behind with reading meanwhile.
    behind_ns: u64,
    /// When to repeat orders for agents that do not react to them.
    next_repeat_ns: u64,
    /// When to repeat the order to prepare.
    next_prepare_ns: u64,
    /// When to tell all agents again what is loaded.
    next_places_ns: u64,
    /// What the agents were asked, without their parts.
    order: Prepare,
    deadlines: Deadlines,
    seconds: Seconds,
    merged: Merged,
}

impl Trial {
    /// Ends the load now, unless it is ending already.
    fn stop(&mut self, now_ns: u64) {
        if self.stop_ns.is_none() {
            self.stop_ns = Some(now_ns);
            // The order goes out at once.
            self.next_repeat_ns = now_ns;
        }
    }

    /// What an agent's result is compared with.
    fn course(&self) -> Course {
        Course {
            start_ns: self.start_ns,
            was_stopped: self.stop_ns.is_some(),
            still_ns: self.still_ns,
        }
    }
}

/// How a load went so far, for a result that comes.
struct Course {
    start_ns: Option<u64>,
    was_stopped: bool,
    still_ns: u64,
}

/// The coordinator.
pub struct Coordinator {
    me: Peer,
    boot: Option<String>,
    clock: Clock,
    wanted: Wanted,
    /// Makes the keys of the agents.
    keys: Box<dyn FnMut() -> Key + Send>,
    events: Sender<Event>,
    gathering: Option<Gathering>,
    agents: Vec<Agent>,
    /// Where each of them is, by name.
    nth_by_name: HashMap<String, usize>,
    /// What waits until there are enough agents again.
    waiting: Option<Box<Task>>,
    trial: Option<Trial>,
    trials: u64,
    next_beat_ns: u64,
    ticked_ns: u64,
    silences: Silences,
    /// Since when there is no connection to the server.
    unlinked_ns: Option<u64>,
    is_over: bool,
}

impl Coordinator {
    /// A coordinator that begins by gathering agents. `keys` gives another secret number each time.
    #[must_use]
    pub fn new(
        (me, boot): (Peer, Option<String>),
        clock: Clock,
        wanted: Wanted,
        keys: Box<dyn FnMut() -> Key + Send>,
        events: Sender<Event>,
    ) -> Self {
        let own = me.name.clone();
        let gathering = Gathering::new(wanted.clone(), own, [].into(), clock.now_ns());
        Self {
            me,
            boot,
            clock,
            wanted,
            keys,
            events,
            gathering: Some(gathering),
            agents: Vec::new(),
            nth_by_name: HashMap::new(),
            waiting: None,
            trial: None,
            trials: 0,
            next_beat_ns: 0,
            ticked_ns: 0,
            silences: Silences::default(),
            unlinked_ns: None,
            is_over: false,
        }
    }

    fn tell(&self, event: Event) {
        // If the fleet is gone, it has sent `End` or dropped the channel.
        drop(self.events.send(event));
    }

    fn order(&self, agent: &Agent, order: &Order) -> Outgoing {
        let payload = seal(&self.me, agent.key, order);
        Outgoing { subject: subject::order(&agent.peer.name), payload }
    }

    fn order_all(&self, order: &Order) -> Vec<Outgoing> {
        self.agents.iter().map(|agent| self.order(agent, order)).collect()
    }

    /// Enough agents are there. Those that took part before keep what is known of them.
    fn begin(&mut self, chosen: Vec<(Peer, Hello)>, now_ns: u64) -> Vec<Outgoing> {
        let told = chosen.iter().map(|(peer, hello)| (peer.name.clone(), hello.clone()));
        self.tell(Event::Gathered(told.collect()));
        let ceilings: Vec<Option<f64>> =
            chosen.iter().map(|(_, hello)| hello.ceiling_per_s).collect();
        let mut before = std::mem::take(&mut self.agents);
        for ((peer, hello), part) in chosen.into_iter().zip(share::parts(&ceilings)) {
            let known = before.iter().position(|agent| agent.peer == peer && agent.gone.is_none());
            let mut agent = match known {
                Some(nth) => before.swap_remove(nth),
                None => {
                    let is_here = hello.boot.is_some() && hello.boot == self.boot;
                    Agent::new((peer, hello), (self.keys)(), is_here)
                }
            };
            (agent.part, agent.heard_ns) = (part, now_ns);
            self.agents.push(agent);
        }
        let names = self.agents.iter().map(|agent| agent.peer.name.clone());
        self.nth_by_name = names.zip(0..).collect();
        // The others are free again.
        before.iter().map(|agent| self.order(agent, &Order::Release)).collect()
    }

    /// Whether an agent is missing since the last load, so that others must be found first.
    fn lacks_agents(&self, now_ns: u64) -> bool {
        let is_missing = |agent: &Agent| {
            agent.gone.is_some()
                || agent.is_lost
                || now_ns.saturating_sub(agent.heard_ns) > self.wanted.patience_ns
        };
        self.agents.iter().any(is_missing)
    }

    fn task(&mut self, task: Box<Task>, now_ns: u64) -> Vec<Outgoing> {
        if !self.lacks_agents(now_ns) {
            return self.apply(*task, now_ns);
        }
        let is_there = |agent: &&Agent| agent.gone.is_none();
        let known = self.agents.iter().filter(is_there);
        let known = known.map(|agent| (agent.peer.instance, agent.is_lost)).collect();
        let own = self.me.name.clone();
        self.gathering = Some(Gathering::new(self.wanted.clone(), own, known, now_ns));
        self.waiting = Some(task);
        Vec::new()
    }

    fn apply(&mut self, task: Task, now_ns: u64) -> Vec<Outgoing> {
        let Task { load, host, threads, briefing } = task;
        self.trials += 1;
        let parts = self.agents.iter().map(|agent| agent.part);
        let deadlines = Deadlines::from_load(&load, parts, &self.wanted);
        self.agents.iter_mut().for_each(Agent::begin_trial);
        self.trial = Some(Trial {
            number: self.trials,
            began_ns: now_ns,
            start_ns: None,
            stop_ns: None,
            user_stop_ns: None,
            still_ns: 0,
            behind_ns: 0,
            next_repeat_ns: now_ns + BEAT_NS,
            next_prepare_ns: now_ns,
            next_places_ns: now_ns,
            order: Prepare {
                trial: self.trials,
                load,
                host,
                threads,
                watches_host: true,
                pieces_at_once: (UNDER_WAY / self.agents.len().max(1)).max(1) as u32,
                briefing,
            },
            deadlines,
            seconds: Seconds::for_agents(self.agents.len()),
            merged: Merged::default(),
        });
        self.prepare(now_ns)
    }

    /// The order to prepare, to all agents that have not reacted to it.
    fn prepare(&mut self, now_ns: u64) -> Vec<Outgoing> {
        let Some(trial) = &self.trial else { return Vec::new() };
        let order = |agent: &Agent| {
            let load = LoadSpec { slice: agent.part, ..trial.order.load.clone() };
            let watches_host = agent.hello.boot != self.boot;
            let prepare = Prepare { load, watches_host, ..trial.order.clone() };
            self.order(agent, &Order::Prepare(Box::new(prepare)))
        };
        let waiting = self.agents.iter().filter(|agent| agent.has_no_order());
        let orders: Vec<Outgoing> = waiting.map(order).collect();
        let longest = orders.iter().map(|order| order.payload.len() as u64).max().unwrap_or(0);
        if let Some(trial) = &mut self.trial {
            trial.next_prepare_ns = now_ns + BEAT_NS.max(longest * READ_NS);
        }
        orders
    }

    fn report(&mut self, (from, key): (&Peer, Key), report: Report, at_ns: u64) -> Vec<Outgoing> {
        let unix_minus_clock = self.clock.unix_ns() as i64 - at_ns as i64;
        let number = self.trial.as_ref().map(|trial| trial.number);
        let nth = self.nth_by_name.get(&from.name).copied();
        let is_its = |nth: &usize| self.agents.get(*nth).is_some_and(|agent| agent.key == key);
        let Some(nth) = nth.filter(is_its) else { return Vec::new() };
        let agent = &mut self.agents[nth];
        if agent.peer.instance != from.instance {
            agent.replaced(
                "another agent answers with its name: it was restarted, or two have the same name"
                    .into(),
            );
            return Vec::new();
        }
        let back = agent.hear(at_ns);
        let name = agent.peer.name.clone();
        match report {
            Report::Hello(_) => {}
            Report::Busy { with } => agent.busy = Some(with),
            Report::Leaving => agent.give_up("its operator ended it".into(), at_ns),
            Report::Echo { sent_ns, received_ns, answered_ns, unix_ns } => {
                agent.offset.take(&Exchange {
                    sent_ns,
                    received_ns,
                    answered_ns,
                    back_ns: at_ns,
                    unix_minus_clock_ns: (
                        unix_ns.wrapping_sub(answered_ns) as i64,
                        unix_minus_clock,
                    ),
                });
            }
            Report::Taken { trial } if Some(trial) == number => {
                agent.taken_ns = agent.taken_ns.or(Some(at_ns));
            }
            Report::Ready { trial } if Some(trial) == number => agent.ready(),
            Report::Beside { trial, with, place } if Some(trial) == number => {
                if agent.is_beside(&with, &place) {
                    self.tell(Event::Note(format!("coordinator {with} loads {place} too")));
                }
            }
            Report::Second { trial, window } if Some(trial) == number => {
                agent.works(&window, at_ns);
                self.second(*window);
            }
            Report::Piece { trial, piece } => {
                let got = Order::Got { trial, text_nth: piece.text_nth, nth: piece.nth };
                // Results of earlier loads are ignored.
                if let Some(own) = self.trial.as_mut().filter(|own| own.number == trial)
                    && let Some(slice) = agent.piece(piece, &own.course(), at_ns)
                    && let Err(error) = own.merged.take(slice)
                {
                    agent.is_unreadable(&error);
                }
                return vec![self.order(&self.agents[nth], &got)];
            }
            Report::Taken { .. }
            | Report::Ready { .. }
            | Report::Second { .. }
            | Report::Beside { .. } => {}
        }
        if let Some(silent_ns) = back.filter(|_| self.trial.is_some()) {
            self.silences.add(Silence::Ended, &name, silent_ns);
        }
        Vec::new()
    }

    fn second(&mut self, window: Window) {
        let Some(trial) = &mut self.trial else { return };
        for window in trial.seconds.take(window) {
            self.tell(Event::Second(Box::new(window)));
        }
    }

    /// Everything that time alone triggers: beats, the start, silent agents, the end.
    fn pass(&mut self, now_ns: u64) -> Vec<Outgoing> {
        self.notice_own_stillness(now_ns);
        let mut outgoing = self.beat(now_ns);
        if self.trial.is_none() {
            return outgoing;
        }
        outgoing.extend(self.places(now_ns));
        self.notice_losses(now_ns);
        let Some(trial) = &mut self.trial else { return outgoing };
        if trial.start_ns.is_none() && self.agents.iter().all(Agent::can_start) {
            let error = self.agents.iter().filter_map(|agent| agent.offset.told());
            // An agent that lies about its clock delays nobody for long.
            let error = error.map(|clock| clock.error_ns).max().unwrap_or(0);
            let error = error.min(self.wanted.patience_ns);
            trial.start_ns = Some(now_ns + LEAD_NS + 2 * error);
        }
        if self.agents.iter().any(Agent::has_failed) {
            trial.stop(now_ns);
        }
        let repeats = now_ns >= trial.next_repeat_ns;
        if repeats {
            trial.next_repeat_ns = now_ns + BEAT_NS;
        }
        let (number, start_ns) = (trial.number, trial.start_ns);
        let prepares = now_ns >= trial.next_prepare_ns;
        let must_stop = trial.stop_ns.is_some();
        if self.agents.iter().all(Agent::is_done) {
            self.end_trial();
        } else if must_stop && repeats {
            let at_work = self.agents.iter().filter(|agent| !agent.is_done());
            outgoing.extend(at_work.map(|agent| self.order(agent, &Order::Stop { trial: number })));
        } else if let Some(start_ns) = start_ns.filter(|_| !must_stop) {
            outgoing.extend(self.start(number, start_ns, repeats));
        } else if prepares && !must_stop {
            outgoing.extend(self.prepare(now_ns));
        }
        outgoing
    }

    /// Tells all agents what is loaded, so that those which load it for others can say so.
    fn places(&mut self, now_ns: u64) -> Option<Outgoing> {
        let trial = self.trial.as_mut().filter(|trial| now_ns >= trial.next_places_ns)?;
        trial.next_places_ns = now_ns + PLACES_NS;
        let places = trial.order.places();
        let payload = seal(&self.me, NO_KEY, &Order::Loads { places });
        Some(Outgoing { subject: subject::CALL.into(), payload })
    }

    /// A process that stood still itself (SIGSTOP, a suspended machine) blames no agent for it.
    fn notice_own_stillness(&mut self, now_ns: u64) {
        let still_ns = now_ns.saturating_sub(self.ticked_ns);
        let was_still = self.ticked_ns > 0 && still_ns > STILL_NS;
        self.ticked_ns = now_ns;
        if !was_still {
            return;
        }
        for agent in &mut self.agents {
            agent.heard_ns = now_ns;
        }
        if let Some(trial) = &mut self.trial {
            trial.still_ns += still_ns;
            let still = format_length(still_ns);
            self.tell(Event::Note(format!("this coordinator stood still for {still}")));
        }
    }

    /// Notices who is silent, who has outlived a deadline, and who comes back no more.
    fn notice_losses(&mut self, now_ns: u64) {
        let Some(trial) = &self.trial else { return };
        let patience_ns = self.wanted.patience_ns;
        let server = self.unlinked_ns.map(|since| {
            let since = format_length(now_ns.saturating_sub(since));
            format!("there is no connection to the NATS server, for {since} now")
        });
        for agent in &mut self.agents {
            let has_started = trial.start_ns.is_some();
            let what = agent.notice_silence(
                (trial.began_ns, patience_ns),
                (has_started, server.as_deref()),
                now_ns,
            );
            if let Some((what, silent_ns)) = what {
                self.silences.add(what, &agent.peer.name, silent_ns);
            }
            if let Some((why, is_lost)) = trial.deadlines.missed(agent, trial, now_ns) {
                agent.is_lost |= is_lost;
                agent.fail(why);
            }
        }
        // If all are lost at once, what connects them is, and may come back.
        let are_all_lost = self.agents.iter().all(|agent| agent.is_lost);
        let most_ns = match trial.user_stop_ns {
            None if are_all_lost => patience::RETURN_NS.max(patience_ns),
            _ => patience_ns,
        };
        for agent in &mut self.agents {
            agent.give_up_waiting(trial.user_stop_ns.unwrap_or(0), most_ns, now_ns);
        }
        let lines = self.silences.tell(now_ns);
        lines.into_iter().for_each(|line| self.tell(Event::Note(line)));
    }

    /// Sends the start to all that wait for it.
    fn start(&mut self, trial: u64, start_ns: u64, repeats: bool) -> Vec<Outgoing> {
        let mut starts = Vec::new();
        for nth in 0..self.agents.len() {
            let agent = &mut self.agents[nth];
            let waits =
                matches!(agent.job, Job::Ready) || repeats && matches!(agent.job, Job::Called);
            // What its clock says is dear to compute, and this is asked at each tick.
            if waits && let Some(offset) = agent.offset.at(start_ns) {
                agent.job = Job::Called;
                let at_ns = start_ns.saturating_add_signed(offset);
                starts.push(self.order(&self.agents[nth], &Order::Start { trial, at_ns }));
            }
        }
        starts
    }

    fn beat(&mut self, now_ns: u64) -> Vec<Outgoing> {
        if now_ns < self.next_beat_ns || self.agents.is_empty() {
            return Vec::new();
        }
        let knows_little = |agent: &Agent| agent.offset.exchanges() < FIRST_BEATS;
        let is_early = self.agents.iter().any(knows_little);
        let all_cost_ns = BEAT_COST_NS * self.agents.len() as u64;
        let apart_ns = if is_early { FIRST_BEAT_NS.max(all_cost_ns).min(BEAT_NS) } else { BEAT_NS };
        self.next_beat_ns = now_ns + apart_ns;
        let patience_ns = self.wanted.patience_ns;
        let beat = || Order::Beat { sent_ns: self.clock.now_ns(), patience_ns };
        // Stamp each separately: sealing the beats of many agents takes time.
        let beats = |agent| self.order(agent, &beat());
        self.agents.iter().filter(|agent| !agent.is_replaced()).map(beats).collect()
    }

    fn end_trial(&mut self) {
        let Some(trial) = self.trial.take() else { return };
        self.silences = Silences::default();
        if trial.behind_ns >= STILL_NS {
            let behind = format_length(trial.behind_ns);
            self.tell(Event::Note(format!(
                "this coordinator was behind with reading what its agents reported, for {behind} in all: fewer agents, or a faster machine, would help"
            )));
        }
        let is_lost = self.agents.iter().any(|agent| agent.is_lost);
        let outcome = Outcome {
            agents: self.agents.iter().map(|agent| agent.told(trial.start_ns)).collect(),
            from_seconds: trial.start_ns.and_then(|start_ns| {
                trial.seconds.load(&trial.order.load, start_ns, self.clock.unix_ns())
            }),
            merged: trial.merged,
            windows: trial.seconds.whole(),
            has_started: trial.start_ns.is_some(),
            found: self.agents.iter_mut().filter_map(Agent::found).collect(),
            is_lost,
        };
        self.tell(Event::Over(Box::new(outcome)));
    }

    /// The call for agents goes on, or has ended.
    fn gather(&mut self, at_ns: u64) -> Vec<Outgoing> {
        let Some(gathering) = &mut self.gathering else { return Vec::new() };
        let (events, verdict) = gathering.look(at_ns);
        let is_due = gathering.is_call_due(at_ns);
        events.into_iter().for_each(|event| self.tell(event));
        match verdict {
            Some(Ok(agents)) => {
                self.gathering = None;
                let mut orders = self.begin(agents, at_ns);
                if let Some(task) = self.waiting.take() {
                    orders.extend(self.apply(*task, at_ns));
                }
                orders
            }
            Some(Err(why)) => {
                self.gathering = None;
                // After the first time, the next load may find more.
                self.is_over = self.waiting.take().is_none();
                self.tell(Event::TooFew(why));
                Vec::new()
            }
            None if is_due => {
                let payload = seal(&self.me, NO_KEY, &Order::Call);
                vec![Outgoing { subject: subject::CALL.into(), payload }]
            }
            None => Vec::new(),
        }
    }
}

impl Actor for Coordinator {
    type Input = Instruction;

    fn hear(&mut self, subject: &str, payload: &[u8], at_ns: u64) -> Vec<Outgoing> {
        let (from, key, report) = match (open::<Report>(payload), &mut self.gathering) {
            (Some(Opened::Other { from, version, schema }), Some(gathering)) => {
                gathering.refuse(from, (&version, schema), at_ns);
                return Vec::new();
            }
            (Some(Opened::Same(from, key, report)), _) => (from, key, report),
            _ => return Vec::new(),
        };
        // The server lets no other member publish to it.
        if !subject::is_of(subject, &from.name) {
            return Vec::new();
        }
        match (report, &mut self.gathering) {
            (Report::Hello(hello), gathering) => {
                // A probe applies no loads.
                if let Some(gathering) = gathering.as_mut().filter(|_| !hello.is_probe) {
                    gathering.welcome(from, *hello, at_ns);
                }
                Vec::new()
            }
            (report, _) => {
                caught(|| self.report((&from, key), report, at_ns)).unwrap_or_else(|why| {
                    let is_its = |agent: &&mut Agent| agent.peer == from;
                    if let Some(agent) = self.agents.iter_mut().find(is_its) {
                        agent.fail(format!("its report cannot be used: {why}"));
                    }
                    Vec::new()
                })
            }
        }
    }

    fn told(&mut self, told: Instruction, at_ns: u64) -> Vec<Outgoing> {
        match told {
            Instruction::Apply(task) => self.task(task, at_ns),
            Instruction::Stop => {
                if self.waiting.take().is_some() {
                    self.gathering = None;
                    self.tell(Event::TooFew("interrupted while agents were looked for".into()));
                }
                if let Some(trial) = &mut self.trial {
                    trial.stop(at_ns);
                    trial.user_stop_ns = trial.user_stop_ns.or(Some(at_ns));
                }
                Vec::new()
            }
            Instruction::End => {
                self.is_over = true;
                self.order_all(&Order::Release)
            }
        }
    }

    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing> {
        let mut outgoing = self.gather(at_ns);
        outgoing.extend(self.pass(at_ns));
        outgoing
    }

    fn behind(&mut self, ns: u64, at_ns: u64) {
        for agent in &mut self.agents {
            agent.heard_ns = agent.heard_ns.saturating_add(ns).min(at_ns);
        }
        if let Some(trial) = &mut self.trial {
            trial.behind_ns += ns;
        }
    }

    fn link(&mut self, link: &Link, at_ns: u64) {
        match link {
            Link::Lost => {
                self.unlinked_ns = self.unlinked_ns.or(Some(at_ns));
                self.tell(Event::Note("the connection to the NATS server is lost".into()));
            }
            Link::Restored => {
                if let Some(since_ns) = self.unlinked_ns.take() {
                    let after = format_length(at_ns.saturating_sub(since_ns));
                    self.tell(Event::Note(format!(
                        "the NATS server is there again, after {after}"
                    )));
                }
            }
            Link::Refused(what) => self.tell(Event::Note(crate::nats::refused(what))),
        }
    }

    fn too_long(&mut self, message: &Outgoing, most_bytes: usize) {
        let whose = |agent: &&mut Agent| subject::order(&agent.peer.name) == message.subject;
        if let Some(agent) = self.agents.iter_mut().find(whose) {
            agent.fail(too_long("the load", message.payload.len(), most_bytes));
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod law;
#[cfg(test)]
mod tests;
