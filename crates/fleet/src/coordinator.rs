//! The member that distributes a load. It gathers agents, starts them at one instant, and takes
//! their seconds and results. It only reacts to messages and time, and never blocks.
use pippin_model::load::{LoadSpec, Part};
use pippin_model::result::Window;
use pippin_model::trial::agent::AgentPart;
use std::sync::mpsc::Sender;

use crate::PATIENCE_NS;
use crate::actor::{Actor, Outgoing, too_long};
use crate::caught::caught;
use crate::clock::{Clock, Exchange, Offset};
use crate::merge::{Merged, Seconds};
use crate::message::{Hello, Opened, Order, Peer, Prepare, Report, open, seal, subject};
use crate::pieces::{Inbox, UNDER_WAY};
use crate::share;

mod agent;
mod deadlines;
mod gathering;

use agent::{Agent, Job};
use deadlines::Deadlines;
use gathering::Gathering;
pub use gathering::Wanted;

/// Time from the decision to the start: much longer than a message takes.
const LEAD_NS: u64 = 300_000_000;
/// The interval between beats, the shorter one of the first beats, and the number of those.
const BEAT_NS: u64 = 500_000_000;
const FIRST_BEAT_NS: u64 = 50_000_000;
const FIRST_BEATS: usize = 8;
/// With many agents, the first beats are farther apart: each costs about this much.
const BEAT_COST_NS: u64 = 500_000;

/// What a fleet tells its coordinator.
#[derive(Debug)]
pub enum Told {
    /// Apply a load.
    Apply {
        /// The whole load.
        load: Box<LoadSpec>,
        /// Threads on each agent.
        threads: Option<u32>,
        /// What each agent needs to judge answers.
        briefing: Option<String>,
    },
    /// End the load.
    Stop,
    /// Let the agents go.
    End,
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
}

/// A load under way.
struct Trial {
    number: u64,
    began_ns: u64,
    start_ns: Option<u64>,
    /// When it was stopped: by the user, or because an agent has failed.
    stop_ns: Option<u64>,
    /// When to repeat orders for agents that do not react to them.
    next_repeat_ns: u64,
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
}

/// The coordinator.
pub struct Coordinator {
    me: Peer,
    boot: Option<String>,
    clock: Clock,
    events: Sender<Event>,
    gathering: Option<Gathering>,
    agents: Vec<Agent>,
    trial: Option<Trial>,
    trials: u64,
    next_beat_ns: u64,
    is_over: bool,
}

impl Coordinator {
    /// A coordinator that begins by gathering agents.
    #[must_use]
    pub fn new(
        me: Peer,
        boot: Option<String>,
        clock: Clock,
        wanted: Wanted,
        events: Sender<Event>,
    ) -> Self {
        Self {
            me,
            boot,
            clock,
            events,
            gathering: Some(Gathering::new(wanted, clock.now_ns())),
            agents: Vec::new(),
            trial: None,
            trials: 0,
            next_beat_ns: 0,
            is_over: false,
        }
    }

    fn tell(&self, event: Event) {
        // If the fleet is gone, it has sent `End` or dropped the channel.
        drop(self.events.send(event));
    }

    fn order(&self, agent: &Agent, order: &Order) -> Outgoing {
        Outgoing { subject: subject::order(&agent.peer.name), payload: seal(&self.me, order) }
    }

    fn order_all(&self, order: &Order) -> Vec<Outgoing> {
        self.agents.iter().map(|agent| self.order(agent, order)).collect()
    }

    fn begin(&mut self, agents: Vec<(Peer, Hello)>, now_ns: u64) {
        let ceilings: Vec<Option<f64>> =
            agents.iter().map(|(_, hello)| hello.ceiling_per_s).collect();
        let told = agents.iter().map(|(peer, hello)| (peer.name.clone(), hello.clone()));
        self.tell(Event::Gathered(told.collect()));
        let parts = share::parts(&ceilings);
        let agent = |((peer, hello), part): ((Peer, Hello), Part)| Agent {
            offset: Offset::new(hello.boot.is_some() && hello.boot == self.boot),
            peer,
            hello,
            part,
            heard_ns: now_ns,
            gone: None,
            job: Job::Failed(String::new()),
            has_taken: false,
            second_ns: 0,
            piece_ns: 0,
            inbox: Inbox::default(),
        };
        self.agents = agents.into_iter().zip(parts).map(agent).collect();
    }

    fn apply(
        &mut self,
        load: &LoadSpec,
        (threads, briefing): (Option<u32>, Option<String>),
        now_ns: u64,
    ) -> Vec<Outgoing> {
        self.trials += 1;
        let parts = self.agents.iter().map(|agent| agent.part);
        let deadlines = Deadlines::of(load, parts);
        for agent in &mut self.agents {
            agent.begin_trial();
        }
        self.trial = Some(Trial {
            number: self.trials,
            began_ns: now_ns,
            start_ns: None,
            stop_ns: None,
            next_repeat_ns: now_ns + BEAT_NS,
            order: Prepare {
                trial: self.trials,
                load: load.clone(),
                threads,
                watches_host: true,
                pieces_at_once: (UNDER_WAY / self.agents.len().max(1)).max(1) as u32,
                briefing,
            },
            deadlines,
            seconds: Seconds::of(self.agents.len()),
            merged: Merged::default(),
        });
        self.prepare()
    }

    /// The order to prepare, to all agents that have not reacted to it.
    fn prepare(&self) -> Vec<Outgoing> {
        let Some(trial) = &self.trial else { return Vec::new() };
        let order = |agent: &Agent| {
            let load = LoadSpec { slice: agent.part, ..trial.order.load.clone() };
            let watches_host = agent.hello.boot != self.boot;
            let prepare = Prepare { load, watches_host, ..trial.order.clone() };
            self.order(agent, &Order::Prepare(Box::new(prepare)))
        };
        let waiting = self.agents.iter().filter(|agent| agent.has_no_order());
        waiting.map(order).collect()
    }

    fn report(&mut self, from: &Peer, report: Report, at_ns: u64) -> Vec<Outgoing> {
        let unix_minus_clock = self.clock.unix_ns() as i64 - at_ns as i64;
        let number = self.trial.as_ref().map(|trial| trial.number);
        let Some(nth) = self.agents.iter().position(|agent| agent.peer.name == from.name) else {
            return Vec::new();
        };
        let agent = &mut self.agents[nth];
        if agent.peer.instance != from.instance {
            agent.give_up(
                "another agent answers with its name: it was restarted, or two have the same name"
                    .into(),
            );
            return Vec::new();
        }
        agent.heard_ns = at_ns;
        match report {
            Report::Hello(_) => {}
            Report::Busy { with } => agent.fail(format!("{with} uses it")),
            Report::Leaving => agent.give_up("its operator ended it".into()),
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
            Report::Taken { trial } if Some(trial) == number => agent.has_taken = true,
            Report::Ready { trial } if Some(trial) == number => agent.ready(),
            Report::Second { trial, window } if Some(trial) == number => {
                agent.works(at_ns);
                self.second(*window);
            }
            Report::Piece { trial, piece } => {
                let got = Order::Got { trial, text_nth: piece.text_nth, nth: piece.nth };
                // Results of earlier loads are ignored.
                if let Some(own) = self.trial.as_mut().filter(|own| own.number == trial)
                    && let Some(slice) = agent.piece(piece, (own.start_ns, at_ns))
                    && let Err(error) = own.merged.take(slice)
                {
                    agent.is_unreadable(&error);
                }
                return vec![self.order(&self.agents[nth], &got)];
            }
            Report::Taken { .. } | Report::Ready { .. } | Report::Second { .. } => {}
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
        let mut outgoing = self.beat(now_ns);
        let Some(trial) = &mut self.trial else { return outgoing };
        for agent in &mut self.agents {
            agent.notice_silence(trial.began_ns, now_ns);
            if let Some(why) = trial.deadlines.missed(agent, trial, now_ns) {
                agent.fail(why);
            }
        }
        if trial.start_ns.is_none() && self.agents.iter().all(Agent::can_start) {
            let error = self.agents.iter().filter_map(|agent| agent.offset.told());
            // An agent that lies about its clock delays nobody for long.
            let error = error.map(|clock| clock.error_ns).max().unwrap_or(0).min(PATIENCE_NS);
            trial.start_ns = Some(now_ns + LEAD_NS + 2 * error);
        }
        if self.agents.iter().any(|agent| agent.failure().is_some()) {
            trial.stop(now_ns);
        }
        let repeats = now_ns >= trial.next_repeat_ns;
        if repeats {
            trial.next_repeat_ns = now_ns + BEAT_NS;
        }
        let (number, start_ns) = (trial.number, trial.start_ns);
        let must_stop = trial.stop_ns.is_some();
        if self.agents.iter().all(Agent::is_done) {
            self.end_trial();
        } else if must_stop && repeats {
            let at_work = self.agents.iter().filter(|agent| !agent.is_done());
            outgoing.extend(at_work.map(|agent| self.order(agent, &Order::Stop { trial: number })));
        } else if let Some(start_ns) = start_ns.filter(|_| !must_stop) {
            outgoing.extend(self.start(number, start_ns, repeats));
        } else if repeats {
            outgoing.extend(self.prepare());
        }
        outgoing
    }

    /// Sends the start to all that wait for it.
    fn start(&mut self, trial: u64, start_ns: u64, repeats: bool) -> Vec<Outgoing> {
        let mut starts = Vec::new();
        for nth in 0..self.agents.len() {
            let agent = &mut self.agents[nth];
            let Some(offset) = agent.offset.at(start_ns) else { continue };
            if matches!(agent.job, Job::Ready) || repeats && matches!(agent.job, Job::Called) {
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
        // Stamp each separately: sealing the beats of many agents takes time.
        let beat = |agent| self.order(agent, &Order::Beat { sent_ns: self.clock.now_ns() });
        self.agents.iter().filter(|agent| agent.gone.is_none()).map(beat).collect()
    }

    fn end_trial(&mut self) {
        let Some(trial) = self.trial.take() else { return };
        let outcome = Outcome {
            agents: self.agents.iter().map(|agent| agent.told(trial.start_ns)).collect(),
            merged: trial.merged,
            windows: trial.seconds.whole(),
            has_started: trial.start_ns.is_some(),
            found: self.agents.iter_mut().filter_map(Agent::found).collect(),
        };
        self.tell(Event::Over(Box::new(outcome)));
    }
}

impl Actor for Coordinator {
    type Told = Told;

    fn hear(&mut self, payload: &[u8], at_ns: u64) -> Vec<Outgoing> {
        match (open::<Report>(payload), &mut self.gathering) {
            (Some(Opened::Other { from, version, schema }), Some(gathering)) => {
                gathering.refuse(from, &version, schema);
            }
            // A probe applies no loads.
            (Some(Opened::Same(from, Report::Hello(hello))), Some(gathering))
                if !hello.is_probe =>
            {
                gathering.welcome(from, *hello);
            }
            (Some(Opened::Same(from, report)), None) => {
                return caught(|| self.report(&from, report, at_ns)).unwrap_or_else(|why| {
                    let is_its = |agent: &&mut Agent| agent.peer == from;
                    if let Some(agent) = self.agents.iter_mut().find(is_its) {
                        agent.fail(format!("its report cannot be used: {why}"));
                    }
                    Vec::new()
                });
            }
            _ => {}
        }
        Vec::new()
    }

    fn told(&mut self, told: Told, at_ns: u64) -> Vec<Outgoing> {
        match told {
            Told::Apply { load, threads, briefing } => {
                self.apply(&load, (threads, briefing), at_ns)
            }
            Told::Stop => {
                if let Some(trial) = &mut self.trial {
                    trial.stop(at_ns);
                }
                Vec::new()
            }
            Told::End => {
                self.is_over = true;
                self.order_all(&Order::Release)
            }
        }
    }

    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing> {
        let Some(gathering) = &mut self.gathering else { return self.pass(at_ns) };
        let (events, verdict) = gathering.look(at_ns);
        let is_due = gathering.is_call_due(at_ns);
        events.into_iter().for_each(|event| self.tell(event));
        match verdict {
            Some(Ok(agents)) => {
                self.gathering = None;
                self.begin(agents, at_ns);
                self.pass(at_ns)
            }
            Some(Err(why)) => {
                self.tell(Event::TooFew(why));
                self.is_over = true;
                Vec::new()
            }
            None if is_due => {
                vec![Outgoing {
                    subject: subject::CALL.into(),
                    payload: seal(&self.me, &Order::Call),
                }]
            }
            None => Vec::new(),
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
