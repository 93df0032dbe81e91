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

use crate::PATIENCE_NS;
use crate::actor::{Actor, Outgoing, too_long};
use crate::caught::caught;
use crate::claim::{Claim, Heard};
use crate::clock::Clock;
use crate::message::{
    Hello, Opened, Order, Peer, Prepare, Report, SliceResult, open, seal, subject,
};
use crate::pieces::{Outbox, Piece, UNDER_WAY};
use crate::probe::{Entry, Errand};

mod policy;
mod work;

pub use policy::Policy;
pub use work::Means;

/// What current work tells its agent. The number is that of the work.
#[derive(Debug)]
pub enum Told {
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
    Run(Box<Errand>),
}

impl Work {
    const fn number(&self) -> u64 {
        match self {
            Self::Slice(slice) => slice.trial,
            Self::Run(errand) => errand.run,
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
            Self::Slice(slice) => {
                let addresses = slice.load.addresses.iter().map(ToString::to_string);
                format!("load {}: {}", slice.trial, addresses.collect::<Vec<_>>().join(", "))
            }
            Self::Run(errand) => format!("run of the plan {}", errand.plan.id),
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
    pub tell: UnboundedSender<Told>,
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
    tell: UnboundedSender<Told>,
    claim: Claim,
    job: Option<Job>,
    /// Set when its operator ends it.
    stop: &'a AtomicBool,
    say: &'a dyn Fn(&str),
    has_left: bool,
}

/// Current work, or its results that have not arrived yet.
struct Job {
    number: u64,
    gate: Arc<Gate>,
    stop: Arc<AtomicBool>,
    skips: Skips,
    is_ready: bool,
    /// Its coordinator was lost: nobody wants the result.
    is_orphan: bool,
    outbox: Outbox,
    is_over: bool,
}

impl<'a, W: Worker> Agent<'a, W> {
    /// An agent that is free.
    pub fn new(
        (me, hello): (Peer, Hello),
        clock: Clock,
        worker: W,
        tell: UnboundedSender<Told>,
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
            stop,
            say,
            has_left: false,
        }
    }

    /// The subjects it subscribes to.
    #[must_use]
    pub fn subjects(&self) -> [String; 2] {
        [subject::CALL.into(), subject::order(&self.me.name)]
    }

    fn report(&self, to: &Peer, report: &Report) -> Outgoing {
        Outgoing { subject: subject::report(to), payload: seal(&self.me, report) }
    }

    fn report_all(&self, reports: Vec<Report>) -> Vec<Outgoing> {
        let Some(coordinator) = self.claim.coordinator() else { return Vec::new() };
        reports.iter().map(|report| self.report(coordinator, report)).collect()
    }

    fn order(&mut self, from: Peer, order: Order, at_ns: u64) -> Vec<Outgoing> {
        if order == Order::Call {
            let ends = || self.job.as_ref().map(|_| "earlier work, which ends just now".into());
            let claimed_by = self.claim.coordinator().map(|peer| peer.name.clone()).or_else(ends);
            let hello = Hello { claimed_by, ..self.hello.clone() };
            return vec![self.report(&from, &Report::Hello(Box::new(hello)))];
        }
        match self.claim.hear(&from, matches!(order, Order::Beat { .. }), at_ns) {
            Heard::Ours => {}
            Heard::Busy(with) => return vec![self.report(&from, &Report::Busy { with })],
            Heard::Claimed => (self.say)(&format!("{} uses this agent", from.name)),
            Heard::Strange => return Vec::new(),
        }
        let job = self.job.as_mut();
        match order {
            Order::Beat { sent_ns } => {
                let (answered_ns, unix_ns) = (self.clock.now_ns(), self.clock.unix_ns());
                let echo = Report::Echo { sent_ns, received_ns: at_ns, answered_ns, unix_ns };
                return self.report_all(vec![echo]);
            }
            Order::Prepare(slice) => return self.begin(Work::Slice(slice)),
            Order::Measure(errand) => return self.begin(Work::Run(errand)),
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
            Order::Call => {}
        }
        Vec::new()
    }

    fn begin(&mut self, work: Work) -> Vec<Outgoing> {
        let is_known = |job: &Job| job.number == work.number() && !job.is_orphan;
        if self.job.as_ref().is_some_and(is_known) {
            // The order was repeated, because this answer was lost or is late.
            return self.report_all(vec![Report::Taken { trial: work.number() }]);
        }
        let refusal = match &self.job {
            Some(_) => Err("it is still ending earlier work".to_string()),
            None => caught(|| self.worker.allows(&work)).and_then(|allowed| allowed),
        };
        if let Err(why) = refusal {
            (self.say)(&format!("refused: {why}"));
            // If this piece gets lost, it is not repeated. The coordinator asks again, and gets the
            // same answer.
            let piece = Piece { text_nth: 0, nth: 0, of: 1, text: work.refusal(why) };
            return self.report_all(vec![Report::Piece { trial: work.number(), piece }]);
        }
        (self.say)(&work.words());
        let job = Job {
            number: work.number(),
            gate: Arc::new(Gate::new()),
            stop: Arc::default(),
            skips: Skips::default(),
            is_ready: false,
            is_orphan: false,
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
        let trial = job.number;
        self.job = Some(job);
        self.report_all(vec![Report::Taken { trial }])
    }

    fn release(&mut self, why: &str) {
        if self.claim.release() {
            (self.say)(why);
        }
        if let Some(job) = &mut self.job {
            job.stop.store(true, Ordering::Relaxed);
            job.is_orphan = true;
        }
        // Drop finished work that nobody waits for.
        self.job.take_if(|job| job.is_over);
    }

    fn notice_silence(&mut self, now_ns: u64) {
        let seconds = PATIENCE_NS / 1_000_000_000;
        let silent = self.claim.silent(now_ns);
        let why = silent
            .map(|name| format!("no message came from {name} for {seconds} s: its work ends"));
        if let Some(why) = why {
            self.release(&why);
        }
    }

    /// Everything to report now.
    fn go_on(&mut self, now_ns: u64) -> Vec<Outgoing> {
        self.job.take_if(|job| job.is_over && (job.is_orphan || job.outbox.is_empty()));
        let Some(job) = self.job.as_mut().filter(|job| !job.is_orphan) else { return Vec::new() };
        let trial = job.number;
        let mut reports = Vec::new();
        if !job.is_ready && job.gate.is_reached() {
            job.is_ready = true;
            reports.push(Report::Ready { trial });
        }
        let pieces = job.outbox.due(now_ns).into_iter();
        reports.extend(pieces.map(|piece| Report::Piece { trial, piece }));
        self.report_all(reports)
    }

    /// Its operator ends it.
    fn leave(&mut self) -> Vec<Outgoing> {
        let farewell = self.report_all(vec![Report::Leaving]);
        self.release("this agent ends");
        self.has_left = true;
        farewell
    }
}

impl<W: Worker> Actor for Agent<'_, W> {
    type Told = Told;

    fn hear(&mut self, payload: &[u8], at_ns: u64) -> Vec<Outgoing> {
        match open::<Order>(payload) {
            Some(Opened::Same(from, order)) => self.order(from, order, at_ns),
            // The coordinator has another version. It gets an answer, so that it can refuse this
            // agent by name.
            Some(Opened::Other { from, .. }) => {
                vec![self.report(&from, &Report::Hello(Box::new(self.hello.clone())))]
            }
            None => Vec::new(),
        }
    }

    fn told(&mut self, told: Told, at_ns: u64) -> Vec<Outgoing> {
        let (Told::Second(number, _) | Told::Text(number, _) | Told::Over(number)) = &told;
        let Some(job) = self.job.as_mut().filter(|job| job.number == *number) else {
            return Vec::new();
        };
        match told {
            // Seconds are only for display. Without a waiting coordinator they are useless.
            Told::Second(..) if job.is_orphan => return Vec::new(),
            Told::Second(trial, window) => {
                return self.report_all(vec![Report::Second { trial, window }]);
            }
            Told::Text(_, text) => job.outbox.put(&text),
            Told::Over(_) => job.is_over = true,
        }
        self.go_on(at_ns)
    }

    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing> {
        self.notice_silence(at_ns);
        if self.stop.load(Ordering::Relaxed) && !self.has_left {
            return self.leave();
        }
        self.go_on(at_ns)
    }

    fn too_long(&mut self, message: &Outgoing, most_bytes: usize) {
        (self.say)(&too_long("a report", message.payload.len(), most_bytes));
    }

    fn is_over(&self) -> bool {
        self.has_left && self.job.is_none()
    }
}
