//! The member that works: an agent applies slices, a probe makes runs. It answers calls, echoes
//! beats, and works for one coordinator at a time. If it hears nothing from that coordinator any
//! more, it ends its work.
use pippin_engine::Gate;
use pippin_model::result::Window;
use pippin_model::target::TargetId;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

use crate::actor::{Actor, Link, Outgoing, too_long};
use crate::caught::caught;
use crate::claim::{Claim, Heard, Owner};
use crate::clock::Clock;
use crate::message::{
    Hello, Key, NO_KEY, Opened, Order, Peer, Prepare, Report, SliceResult, open, seal, subject,
};
use crate::patience::HELD_NS;
use crate::pieces::{Outbox, Piece, UNDER_WAY};
use crate::probe::{Entry, RunOrder};

mod policy;
mod work;

pub use policy::{Policy, look_up};
pub use work::Means;

/// What current work tells its agent. The number is that of the work.
#[derive(Debug)]
pub enum WorkEvent {
    /// Another second of load.
    Second(u64, Box<Window>),
    /// A text that must arrive, as JSON: the [`SliceResult`](crate::message::SliceResult) of a
    /// slice, or each [`Entry`](crate::probe::Entry) of a run.
    Text(u64, String),
    /// The work is over.
    Over(u64),
}

/// What a coordinator can ask for.
#[derive(Debug)]
pub enum Work {
    /// A slice of a load.
    Slice(Box<Prepare>),
    /// A run.
    Run(Box<RunOrder>),
}

impl Work {
    const fn number(&self) -> u64 {
        match self {
            Self::Slice(slice) => slice.trial,
            Self::Run(run_order) => run_order.run,
        }
    }

    /// How many pieces of its texts may be in transit at once.
    const fn pieces_at_once(&self) -> usize {
        match self {
            Self::Slice(slice) => slice.pieces_at_once as usize,
            Self::Run(_) => UNDER_WAY,
        }
    }

    /// The work in words, for the agent's operator.
    fn words(&self) -> String {
        match self {
            Self::Slice(slice) => format!("load {}: {}", slice.trial, slice.places().join(", ")),
            Self::Run(run_order) => format!("run of the plan {}", run_order.plan.id),
        }
    }

    /// The text that says why the work is refused.
    fn refusal(&self, why: String) -> String {
        let text = match self {
            Self::Slice(_) => serde_json::to_string(&SliceResult::failed(why)),
            Self::Run(_) => serde_json::to_string(&Entry::Over(Err(why))),
        };
        text.unwrap_or_default()
    }
}

/// Work with its controls.
#[derive(Debug)]
pub struct Assignment {
    /// What is to be done.
    pub work: Work,
    /// Where a slice waits once its connections are open.
    pub gate: Arc<Gate>,
    /// Set to end the work.
    pub stop: Arc<AtomicBool>,
    /// Targets of a run that need no more trials.
    pub skips: Skips,
    /// Receives what the work has to tell.
    pub tell: UnboundedSender<WorkEvent>,
}

/// Targets that the user wants to skip.
pub type Skips = Arc<Mutex<BTreeSet<TargetId>>>;

/// Does the work that coordinators ask for.
pub trait Worker {
    /// Whether it does such work.
    ///
    /// # Errors
    /// The reason if it does not.
    fn allows(&self, work: &Work) -> Result<(), String>;

    /// Begins allowed work and returns at once.
    fn begin(&self, assignment: Assignment);
}

/// An agent.
pub struct Agent<'a, W> {
    me: Peer,
    hello: Hello,
    clock: Clock,
    worker: W,
    tell: UnboundedSender<WorkEvent>,
    claim: Claim,
    job: Option<Job>,
    held: Vec<Held>,
    /// Set when its operator ends it.
    stop: &'a AtomicBool,
    say: &'a dyn Fn(&str),
    /// When its operator ended it.
    left_ns: Option<u64>,
    /// Whether the connection to the server is lost.
    is_unlinked: bool,
}

/// Current work, or its results that have not arrived yet.
struct Job {
    number: u64,
    /// Who asked for it.
    owner: Owner,
    /// What it loads.
    places: Vec<String>,
    gate: Arc<Gate>,
    stop: Arc<AtomicBool>,
    skips: Skips,
    is_ready: bool,
    outbox: Outbox,
    is_over: bool,
}

/// Results of finished work whose coordinator does not hear this agent. They are kept until it has
/// them, or for [`HELD_NS`].
struct Held {
    number: u64,
    owner: Owner,
    outbox: Outbox,
    since_ns: u64,
    /// When its coordinator was last heard.
    heard_ns: Option<u64>,
}

/// The most results that are kept for coordinators that were lost.
const MOST_HELD: usize = 4;
/// How long after a sign of life a coordinator of held results is taken to listen.
const LISTENS_NS: u64 = 2_000_000_000;
/// How long an agent that its operator ends waits until its result has arrived.
const LEAVE_NS: u64 = 10_000_000_000;

impl<'a, W: Worker> Agent<'a, W> {
    /// An agent that is free.
    pub fn new(
        (me, hello): (Peer, Hello),
        clock: Clock,
        worker: W,
        tell: UnboundedSender<WorkEvent>,
        (stop, say): (&'a AtomicBool, &'a dyn Fn(&str)),
    ) -> Self {
        Self {
            me,
            hello,
            clock,
            worker,
            tell,
            claim: Claim::default(),
            job: None,
            held: Vec::new(),
            stop,
            say,
            left_ns: None,
            is_unlinked: false,
        }
    }

    /// The subjects it subscribes to.
    #[must_use]
    pub fn subjects(&self) -> [String; 2] {
        [subject::CALL.into(), subject::order(&self.me.name)]
    }

    fn report(&self, to: &Peer, key: Key, report: &Report) -> Outgoing {
        let payload = seal(&self.me, key, report);
        Outgoing { subject: subject::report(to, &self.me.name), payload }
    }

    fn report_all(&self, reports: Vec<Report>) -> Vec<Outgoing> {
        let Some(owner) = self.claim.owner() else { return Vec::new() };
        reports.iter().map(|report| self.report(&owner.peer, owner.key, report)).collect()
    }

    fn hello(&self) -> Hello {
        let is_busy = self.left_ns.is_some() || self.job.is_some();
        let ends = || is_busy.then(|| "earlier work, which ends just now".to_string());
        let claimed_by = self.claim.owner().map(|owner| owner.peer.name.clone()).or_else(ends);
        Hello { claimed_by, ..self.hello.clone() }
    }

    fn order(&mut self, from: Peer, key: Key, order: Order, at_ns: u64) -> Vec<Outgoing> {
        if order == Order::Call {
            return vec![self.report(&from, NO_KEY, &Report::Hello(Box::new(self.hello())))];
        }
        if let Order::Loads { places } = &order {
            return self.compare_places(&from, places);
        }
        let from = Owner { peer: from, key };
        if self.hear_of_held(&from, &order, at_ns) {
            return self.go_on(at_ns);
        }
        let beat_ns = match order {
            Order::Beat { patience_ns, .. } => Some(patience_ns),
            _ => None,
        };
        match self.claim.hear(&from, beat_ns, at_ns) {
            Heard::Ours => {}
            Heard::Busy(with) => {
                return vec![self.report(&from.peer, key, &Report::Busy { with })];
            }
            Heard::Claimed => (self.say)(&format!("{} uses this agent", from.peer.name)),
            Heard::Strange => return Vec::new(),
        }
        let job = self.job.as_mut().filter(|job| job.owner == from);
        match order {
            Order::Beat { sent_ns, .. } => {
                let (answered_ns, unix_ns) = (self.clock.now_ns(), self.clock.unix_ns());
                let echo = Report::Echo { sent_ns, received_ns: at_ns, answered_ns, unix_ns };
                return self.report_all(vec![echo]);
            }
            Order::Prepare(slice) => return self.begin(Work::Slice(slice)),
            Order::Measure(run_order) => return self.begin(Work::Run(run_order)),
            Order::Start { trial, at_ns } => {
                if let Some(job) = job.filter(|job| job.number == trial) {
                    job.gate.open_at(self.clock.to_kernel(at_ns));
                }
            }
            Order::Stop { trial } => {
                if let Some(job) = job.filter(|job| job.number == trial) {
                    job.stop.store(true, Ordering::Relaxed);
                }
            }
            Order::Skip { trial, target } => {
                if let Some(job) = job.filter(|job| job.number == trial) {
                    job.skips.lock().unwrap_or_else(PoisonError::into_inner).insert(target);
                }
            }
            Order::Got { trial, text_nth, nth } => {
                if let Some(job) = job.filter(|job| job.number == trial) {
                    job.outbox.got(text_nth, nth);
                }
                return self.go_on(at_ns);
            }
            Order::Release => self.release("this agent is free again"),
            Order::Call | Order::Loads { .. } => {}
        }
        Vec::new()
    }

    /// Reports that another coordinator has the target of this agent's own load loaded too.
    fn compare_places(&self, with: &Peer, places: &[String]) -> Vec<Outgoing> {
        let owner = self.claim.owner();
        let is_own = |job: &&Job| Some(&job.owner) == owner && job.owner.peer != *with;
        let Some(job) = self.job.as_ref().filter(is_own).filter(|job| !job.is_over) else {
            return Vec::new();
        };
        let Some(place) = job.places.iter().find(|own| places.contains(own)) else {
            return Vec::new();
        };
        let (trial, with, place) = (job.number, with.name.clone(), place.clone());
        self.report_all(vec![Report::Beside { trial, with, place }])
    }

    /// Takes an order of a coordinator for which results are held. Whether it needs no more than
    /// that.
    fn hear_of_held(&mut self, from: &Owner, order: &Order, at_ns: u64) -> bool {
        let mut its = self.held.iter_mut().filter(|held| held.owner == *from);
        match order {
            Order::Got { trial, text_nth, nth } => {
                let Some(held) = its.find(|held| held.number == *trial) else { return false };
                held.outbox.got(*text_nth, *nth);
                true
            }
            Order::Release => {
                self.held.retain(|held| held.owner != *from);
                false
            }
            _ => {
                its.for_each(|held| held.heard_ns = Some(at_ns));
                false
            }
        }
    }

    fn begin(&mut self, work: Work) -> Vec<Outgoing> {
        let Some(owner) = self.claim.owner().cloned() else { return Vec::new() };
        let trial = work.number();
        match &self.job {
            // The order was repeated, because this answer was lost or is late.
            Some(job) if job.number == trial && job.owner == owner => {
                return self.report_all(vec![Report::Taken { trial }]);
            }
            // The order is repeated until it is taken.
            Some(_) => {
                let with = "earlier work, which ends just now,".into();
                return self.report_all(vec![Report::Busy { with }]);
            }
            None if self.left_ns.is_some() => return Vec::new(),
            None => {}
        }
        let allowed = caught(|| self.worker.allows(&work)).and_then(|allowed| allowed);
        if let Err(why) = allowed {
            (self.say)(&format!("refused: {why}"));
            // If this piece gets lost, it is not repeated. The coordinator asks again, and gets the
            // same answer.
            let piece = Piece { text_nth: 0, nth: 0, of: 1, text: work.refusal(why) };
            return self.report_all(vec![Report::Piece { trial, piece }]);
        }
        (self.say)(&work.words());
        let places = match &work {
            Work::Slice(slice) => slice.places(),
            Work::Run(_) => Vec::new(),
        };
        let job = Job {
            number: trial,
            owner,
            places,
            gate: Arc::new(Gate::new()),
            stop: Arc::default(),
            skips: Skips::default(),
            is_ready: false,
            outbox: Outbox::new(work.pieces_at_once()),
            is_over: false,
        };
        self.worker.begin(Assignment {
            work,
            gate: Arc::clone(&job.gate),
            stop: Arc::clone(&job.stop),
            skips: Arc::clone(&job.skips),
            tell: self.tell.clone(),
        });
        self.job = Some(job);
        self.report_all(vec![Report::Taken { trial }])
    }

    /// Frees this agent and ends its work. Its result is kept for the coordinator that asked for it.
    fn release(&mut self, why: &str) {
        if self.claim.release() {
            (self.say)(why);
        }
        if let Some(job) = &mut self.job {
            job.stop.store(true, Ordering::Relaxed);
        }
    }

    fn notice_silence(&mut self, now_ns: u64) {
        let why = self.claim.silent(now_ns).map(|(name, patience_ns)| {
            let seconds = patience_ns as f64 / 1e9;
            format!(
                "no message came from {name} for {seconds} s: its work ends, its result is kept"
            )
        });
        if let Some(why) = why {
            self.release(&why);
        }
    }

    /// Puts finished work away: nothing is left of it, or its coordinator is not there.
    fn put_away(&mut self, now_ns: u64) {
        let owner = self.claim.owner();
        let is_done =
            |job: &mut Job| job.is_over && (job.outbox.is_empty() || Some(&job.owner) != owner);
        let done = self.job.take_if(is_done).filter(|job| !job.outbox.is_empty());
        self.held.extend(done.map(|job| Held {
            number: job.number,
            owner: job.owner,
            outbox: job.outbox,
            since_ns: now_ns,
            heard_ns: None,
        }));
        self.held.retain(|held| {
            !held.outbox.is_empty() && now_ns.saturating_sub(held.since_ns) < HELD_NS
        });
        let too_many = self.held.len().saturating_sub(MOST_HELD);
        self.held.drain(..too_many);
    }

    /// Everything to report now.
    fn go_on(&mut self, now_ns: u64) -> Vec<Outgoing> {
        self.put_away(now_ns);
        let mut outgoing = self.deliver_held(now_ns);
        let owner = self.claim.owner();
        let Some(job) = self.job.as_mut().filter(|job| Some(&job.owner) == owner) else {
            return outgoing;
        };
        let trial = job.number;
        let mut reports = Vec::new();
        if !job.is_ready && job.gate.is_reached() {
            job.is_ready = true;
            reports.push(Report::Ready { trial });
        }
        let pieces = job.outbox.due(now_ns).into_iter();
        reports.extend(pieces.map(|piece| Report::Piece { trial, piece }));
        outgoing.extend(self.report_all(reports));
        outgoing
    }

    /// Pieces of kept results, to coordinators that are there again.
    fn deliver_held(&mut self, now_ns: u64) -> Vec<Outgoing> {
        let mut due = Vec::new();
        for held in &mut self.held {
            if held.heard_ns.is_some_and(|heard| now_ns.saturating_sub(heard) < LISTENS_NS) {
                let pieces = held.outbox.due(now_ns).into_iter();
                let trial = held.number;
                let owner = held.owner.clone();
                due.extend(pieces.map(|piece| (owner.clone(), Report::Piece { trial, piece })));
            }
        }
        due.iter().map(|(owner, report)| self.report(&owner.peer, owner.key, report)).collect()
    }

    /// Its operator ends it. Its load ends, and its result may still arrive.
    fn leave(&mut self, now_ns: u64) -> Vec<Outgoing> {
        self.left_ns = Some(now_ns);
        (self.say)("this agent ends");
        if let Some(job) = &mut self.job {
            job.stop.store(true, Ordering::Relaxed);
        }
        self.report_all(vec![Report::Leaving])
    }
}

impl<W: Worker> Actor for Agent<'_, W> {
    type Input = WorkEvent;

    fn hear(&mut self, _subject: &str, payload: &[u8], at_ns: u64) -> Vec<Outgoing> {
        match open::<Order>(payload) {
            Some(Opened::Same(from, key, order)) => self.order(from, key, order, at_ns),
            // The coordinator has another version. It gets an answer, so that it can refuse this
            // agent by name.
            Some(Opened::Other { from, .. }) => {
                vec![self.report(&from, NO_KEY, &Report::Hello(Box::new(self.hello.clone())))]
            }
            None => Vec::new(),
        }
    }

    fn told(&mut self, told: WorkEvent, at_ns: u64) -> Vec<Outgoing> {
        let (WorkEvent::Second(number, _) | WorkEvent::Text(number, _) | WorkEvent::Over(number)) =
            &told;
        let Some(job) = self.job.as_mut().filter(|job| job.number == *number) else {
            return Vec::new();
        };
        match told {
            // Without a coordinator that listens, a second has no use.
            WorkEvent::Second(..) if self.claim.owner() != Some(&job.owner) => return Vec::new(),
            WorkEvent::Second(trial, window) => {
                return self.report_all(vec![Report::Second { trial, window }]);
            }
            WorkEvent::Text(_, text) => job.outbox.put(&text),
            WorkEvent::Over(_) => job.is_over = true,
        }
        self.go_on(at_ns)
    }

    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing> {
        self.notice_silence(at_ns);
        let mut outgoing = Vec::new();
        if self.stop.load(Ordering::Relaxed) && self.left_ns.is_none() {
            outgoing = self.leave(at_ns);
        }
        outgoing.extend(self.go_on(at_ns));
        if self.left_ns.is_some_and(|left| at_ns.saturating_sub(left) > LEAVE_NS) {
            self.job = None;
        }
        outgoing
    }

    fn behind(&mut self, ns: u64, at_ns: u64) {
        self.claim.behind(ns, at_ns);
    }

    fn link(&mut self, link: &Link, _at_ns: u64) {
        match link {
            Link::Lost => {
                self.is_unlinked = true;
                (self.say)("the connection to the NATS server is lost");
            }
            // The first connection is told of elsewhere.
            Link::Restored if std::mem::take(&mut self.is_unlinked) => {
                (self.say)("the NATS server is there again");
            }
            Link::Restored => {}
            Link::Refused(what) => (self.say)(&crate::nats::refused(what)),
        }
    }

    fn too_long(&mut self, message: &Outgoing, most_bytes: usize) {
        (self.say)(&too_long("a report", message.payload.len(), most_bytes));
    }

    fn is_over(&self) -> bool {
        self.left_ns.is_some() && self.job.is_none()
    }
}
