//! The member that deals a load out: gathers agents, starts them at one instant, takes their seconds
//! and their results. What it hears and when decides what it does; it waits for nobody.
use pippin_model::agent::{AgentFigures, AgentPart};
use pippin_model::load_result::{LoadResult, Window};
use pippin_model::load_spec::{LoadSpec, Part};
use std::sync::mpsc::Sender;

use crate::PATIENCE_NS;
use crate::actor::{Actor, Outgoing};
use crate::clock::{Clock, Exchange, Offset};
use crate::merge::{Seconds, Slice};
use crate::message::{
    Hello, Opened, Order, Peer, Prepare, Report, SliceResult, open, seal, subject,
};
use crate::pieces::Pieces;
use crate::share;

mod gathering;

use gathering::Gathering;
pub use gathering::Wanted;

/// From the decision to the start: much longer than a message takes.
const LEAD_NS: u64 = 300_000_000;
/// Beats are so far apart, and closer until so many have been echoed.
const BEAT_NS: u64 = 500_000_000;
const FIRST_BEAT_NS: u64 = 50_000_000;
const FIRST_BEATS: usize = 8;

/// What a fleet tells its coordinator.
#[derive(Debug)]
pub enum Told {
    /// Apply a load.
    Apply {
        /// The whole of it.
        load: Box<LoadSpec>,
        /// Threads on each agent.
        threads: Option<u32>,
    },
    /// End the load.
    Stop,
    /// Let the agents go.
    End,
}

/// What a coordinator tells its fleet.
#[derive(Debug)]
pub enum Event {
    /// So many agents answered the call, of how many.
    Gathering(usize, usize),
    /// The agents that take part.
    Gathered(Vec<(String, Hello)>),
    /// Something worth knowing.
    Note(String),
    /// There are not enough agents.
    TooFew(String),
    /// A second of all agents.
    Second(Box<Window>),
    /// The load is over.
    Over(Outcome),
}

/// How a load ended.
#[derive(Debug)]
pub struct Outcome {
    /// What each agent did.
    pub agents: Vec<AgentPart>,
    /// What those measured that delivered a result.
    pub slices: Vec<Slice>,
    /// Whether the schedule ever started.
    pub has_started: bool,
}

/// An agent that takes part.
struct Agent {
    peer: Peer,
    hello: Hello,
    part: Part,
    offset: Offset,
    heard_ns: u64,
    /// Why it will not take part any more.
    gone: Option<String>,
    job: Job,
    pieces: Pieces,
}

/// How far an agent is with a load.
enum Job {
    Preparing,
    Ready,
    /// It was told when to start.
    Called,
    /// Its first second has come.
    Working,
    Done(Box<SliceResult>),
    Failed(String),
}

/// A load under way.
struct Trial {
    number: u64,
    began_ns: u64,
    start_ns: Option<u64>,
    is_stopping: bool,
    /// When starts and stops are sent again to those that show no sign of having heard them.
    next_repeat_ns: u64,
    seconds: Seconds,
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
    /// One that begins by gathering agents.
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
        // A fleet that is gone has sent `End`, or lets the channel go.
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
            pieces: Pieces::default(),
        };
        self.agents = agents.into_iter().zip(parts).map(agent).collect();
    }

    fn apply(&mut self, load: &LoadSpec, threads: Option<u32>, now_ns: u64) -> Vec<Outgoing> {
        self.trials += 1;
        self.trial = Some(Trial {
            number: self.trials,
            began_ns: now_ns,
            start_ns: None,
            is_stopping: false,
            next_repeat_ns: now_ns,
            seconds: Seconds::of(self.agents.len()),
        });
        let trial = self.trials;
        for agent in &mut self.agents {
            agent.pieces = Pieces::default();
            agent.job = match &agent.gone {
                Some(why) => Job::Failed(why.clone()),
                None => Job::Preparing,
            };
        }
        let prepare = |agent: &Agent| Prepare {
            trial,
            load: LoadSpec { slice: agent.part, ..load.clone() },
            threads,
            watches_host: agent.hello.boot != self.boot,
        };
        let able = self.agents.iter().filter(|agent| matches!(agent.job, Job::Preparing));
        able.map(|agent| self.order(agent, &Order::Prepare(Box::new(prepare(agent))))).collect()
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
                "another agent answers under its name: it was started anew, or two have one name"
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
                    unix_minus_clock_ns: (unix_ns as i64 - answered_ns as i64, unix_minus_clock),
                });
            }
            Report::Ready { trial } if Some(trial) == number => agent.ready(),
            Report::Second { trial, window } if Some(trial) == number => {
                agent.works();
                self.second(*window);
            }
            Report::Piece { trial, nth: piece, of, text } => {
                if Some(trial) == number {
                    agent.piece(piece, of, text);
                }
                // A result of an earlier load is not waited for any more.
                let is_done = Some(trial) != number || matches!(agent.job, Job::Done(_));
                return if is_done {
                    vec![self.order(&self.agents[nth], &Order::Taken { trial })]
                } else {
                    Vec::new()
                };
            }
            Report::Ready { .. } | Report::Second { .. } => {}
        }
        Vec::new()
    }

    fn second(&mut self, window: Window) {
        let Some(trial) = &mut self.trial else { return };
        for window in trial.seconds.take(window) {
            self.tell(Event::Second(Box::new(window)));
        }
    }

    /// What time alone decides: beats, the start, who is silent, the end.
    fn pass(&mut self, now_ns: u64) -> Vec<Outgoing> {
        let mut outgoing = self.beat(now_ns);
        let Some(trial) = &mut self.trial else { return outgoing };
        for agent in &mut self.agents {
            agent.notice_silence(trial.began_ns, now_ns);
        }
        if trial.start_ns.is_none() && self.agents.iter().all(Agent::can_start) {
            let error = self.agents.iter().filter_map(|agent| agent.offset.told());
            let error = error.map(|clock| clock.error_ns).max().unwrap_or(0);
            trial.start_ns = Some(now_ns + LEAD_NS + 2 * error);
        }
        let repeats = now_ns >= trial.next_repeat_ns;
        if repeats {
            trial.next_repeat_ns = now_ns + BEAT_NS;
        }
        let is_broken = self.agents.iter().any(|agent| agent.failure().is_some());
        let (number, start_ns) = (trial.number, trial.start_ns);
        let must_stop = trial.is_stopping || is_broken;
        if self.agents.iter().all(Agent::is_done) {
            self.end_trial();
        } else if must_stop && repeats {
            let at_work = self.agents.iter().filter(|agent| !agent.is_done());
            outgoing.extend(at_work.map(|agent| self.order(agent, &Order::Stop { trial: number })));
        } else if let Some(start_ns) = start_ns.filter(|_| !must_stop) {
            outgoing.extend(self.start(number, start_ns, repeats));
        }
        outgoing
    }

    /// Tells the start to all that wait for it.
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
        self.next_beat_ns = now_ns + if is_early { FIRST_BEAT_NS } else { BEAT_NS };
        // Stamped one by one: sealing those of many agents takes time.
        let beat = |agent| self.order(agent, &Order::Beat { sent_ns: self.clock.now_ns() });
        self.agents.iter().filter(|agent| agent.gone.is_none()).map(beat).collect()
    }

    fn end_trial(&mut self) {
        let Some(trial) = self.trial.take() else { return };
        let slices = self.agents.iter().filter_map(|agent| agent.slice(trial.start_ns));
        let outcome = Outcome {
            agents: self.agents.iter().map(|agent| agent.told(trial.start_ns)).collect(),
            slices: slices.collect(),
            has_started: trial.start_ns.is_some(),
        };
        self.tell(Event::Over(outcome));
    }
}

impl Agent {
    fn fail(&mut self, why: String) {
        if !self.is_done() {
            self.job = Job::Failed(why);
        }
    }

    fn give_up(&mut self, why: String) {
        self.fail(why.clone());
        self.gone = Some(why);
    }

    fn ready(&mut self) {
        if matches!(self.job, Job::Preparing) {
            self.job = Job::Ready;
        }
    }

    fn works(&mut self) {
        if matches!(self.job, Job::Called) {
            self.job = Job::Working;
        }
    }

    fn piece(&mut self, nth: u32, of: u32, text: String) {
        let Some(whole) = self.pieces.take(nth, of, text).filter(|_| !self.is_done()) else {
            return;
        };
        self.job = match serde_json::from_str::<SliceResult>(&whole) {
            Ok(result) => Job::Done(Box::new(result)),
            Err(error) => Job::Failed(format!("its result cannot be read: {error}")),
        };
    }

    fn notice_silence(&mut self, began_ns: u64, now_ns: u64) {
        let silent_ns = now_ns.saturating_sub(self.heard_ns.max(began_ns));
        if silent_ns > PATIENCE_NS {
            let seconds = now_ns.saturating_sub(self.heard_ns) as f64 / 1e9;
            self.fail(format!("nothing was heard of it for {seconds:.1} s: it is dead, cut off, or its NATS connection is"));
        }
    }

    fn can_start(&self) -> bool {
        matches!(self.job, Job::Ready) && self.offset.exchanges() >= FIRST_BEATS
    }

    const fn is_done(&self) -> bool {
        matches!(self.job, Job::Done(_) | Job::Failed(_))
    }

    fn failure(&self) -> Option<&str> {
        match &self.job {
            Job::Failed(why) => Some(why),
            Job::Done(result) => result.failure.as_deref(),
            Job::Preparing | Job::Ready | Job::Called | Job::Working => None,
        }
    }

    fn result(&self) -> Option<&SliceResult> {
        match &self.job {
            Job::Done(result) => Some(result),
            _ => None,
        }
    }

    fn slice(&self, start_ns: Option<u64>) -> Option<Slice> {
        let load = self.result()?.load.clone()?;
        let at_ns = start_ns.unwrap_or(load.started_ns);
        Some(Slice { offset_ns: self.offset.at(at_ns)?, load })
    }

    fn told(&self, start_ns: Option<u64>) -> AgentPart {
        let result = self.result();
        let started = result.and_then(|result| result.start_ns).zip(start_ns);
        AgentPart {
            name: self.peer.name.clone(),
            tags: self.hello.tags.clone(),
            host: self.hello.host.clone(),
            part: self.part,
            clock: self.offset.told(),
            late_ns: started.and_then(|(own, agreed)| {
                Some(own as i64 - self.offset.at(agreed)? - agreed as i64)
            }),
            figures: result
                .and_then(|result| result.load.as_ref())
                .map(|load| figures(load, self.hello.ceiling_per_s)),
            caveats: result.map_or_else(Vec::new, |result| result.caveats.clone()),
            failure: self.failure().map(str::to_string),
        }
    }
}

fn figures(load: &LoadResult, ceiling_per_s: Option<f64>) -> AgentFigures {
    let measured = &load.measured;
    AgentFigures {
        threads: load.threads,
        duration_ns: measured.duration_ns,
        scheduled: measured.requests.scheduled,
        completed: measured.requests.completed,
        errors: measured.errors_total(),
        goodput_per_s: measured.goodput_per_s(),
        response_p50_ns: measured.spans.response_time.quantile_ns(0.5),
        response_p99_ns: measured.spans.response_time.quantile_ns(0.99),
        cpu_ns: load.generator.cpu_ns,
        busiest_share: load.generator.busiest_share(measured.duration_ns),
        ceiling_per_s,
    }
}

impl Actor for Coordinator {
    type Told = Told;

    fn hear(&mut self, payload: &[u8], at_ns: u64) -> Vec<Outgoing> {
        match (open::<Report>(payload), &mut self.gathering) {
            (Some(Opened::Other { from, version, schema }), Some(gathering)) => {
                gathering.refuse(from, &version, schema);
            }
            (Some(Opened::Same(from, Report::Hello(hello))), Some(gathering)) => {
                gathering.welcome(from, *hello);
            }
            (Some(Opened::Same(from, report)), None) => return self.report(&from, report, at_ns),
            _ => {}
        }
        Vec::new()
    }

    fn told(&mut self, told: Told, at_ns: u64) -> Vec<Outgoing> {
        match told {
            Told::Apply { load, threads } => self.apply(&load, threads, at_ns),
            Told::Stop => {
                if let Some(trial) = &mut self.trial {
                    trial.is_stopping = true;
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
            agent.fail(format!(
                "the load is {} bytes long and the NATS server takes {most_bytes}: raise its max_payload",
                message.payload.len()
            ));
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests;
