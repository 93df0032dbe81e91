//! The member that applies slices: it answers calls, echoes beats, works for one coordinator at a
//! time, and ends its load when it hears nothing of that one any more.
use pippin_engine::Gate;
use pippin_model::load_result::Window;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc::UnboundedSender;

use crate::PATIENCE_NS;
use crate::actor::{Actor, Outgoing};
use crate::clock::Clock;
use crate::message::{
    Hello, Opened, Order, Peer, Prepare, Report, SliceResult, open, seal, subject,
};
use crate::pieces;

mod policy;
mod work;

pub use policy::Policy;
pub use work::Means;

/// A result is sent again so often until it is taken.
const AGAIN_NS: u64 = 1_000_000_000;

/// What a slice under way tells its agent.
#[derive(Debug)]
pub enum Told {
    /// Another second.
    Second(u64, Box<Window>),
    /// It is over.
    Over(u64, Box<SliceResult>),
}

/// Applies slices.
pub trait Worker {
    /// Begins a slice. It waits at the gate once its connections are open, ends when `stop` is set,
    /// and tells its seconds and its end.
    fn begin(
        &self,
        slice: Prepare,
        gate: Arc<Gate>,
        stop: Arc<AtomicBool>,
        tell: UnboundedSender<Told>,
    );
}

/// An agent.
pub struct Agent<'a, W> {
    me: Peer,
    hello: Hello,
    clock: Clock,
    policy: Policy,
    worker: W,
    tell: UnboundedSender<Told>,
    lease: Option<Lease>,
    job: Option<Job>,
    /// Set when its operator wants it to end.
    stop: &'a AtomicBool,
    say: &'a dyn Fn(&str),
    has_left: bool,
}

/// Who has claimed it.
struct Lease {
    coordinator: Peer,
    heard_ns: u64,
}

/// A slice under way, or its result that nobody has taken yet.
struct Job {
    trial: u64,
    gate: Arc<Gate>,
    stop: Arc<AtomicBool>,
    is_ready: bool,
    /// Its coordinator was given up: nobody wants the result.
    is_orphan: bool,
    pieces: Option<Vec<String>>,
    next_send_ns: u64,
}

impl<'a, W: Worker> Agent<'a, W> {
    /// One that is free.
    pub fn new(
        (me, hello): (Peer, Hello),
        clock: Clock,
        policy: Policy,
        worker: W,
        tell: UnboundedSender<Told>,
        (stop, say): (&'a AtomicBool, &'a dyn Fn(&str)),
    ) -> Self {
        Self {
            me,
            hello,
            clock,
            policy,
            worker,
            tell,
            lease: None,
            job: None,
            stop,
            say,
            has_left: false,
        }
    }

    /// The subjects that it listens to.
    #[must_use]
    pub fn subjects(&self) -> [String; 2] {
        [subject::CALL.into(), subject::order(&self.me.name)]
    }

    fn report(&self, to: &Peer, report: &Report) -> Outgoing {
        Outgoing { subject: subject::report(to), payload: seal(&self.me, report) }
    }

    fn report_all(&self, reports: Vec<Report>) -> Vec<Outgoing> {
        let Some(lease) = &self.lease else { return Vec::new() };
        reports.iter().map(|report| self.report(&lease.coordinator, report)).collect()
    }

    fn order(&mut self, from: Peer, order: Order, at_ns: u64) -> Vec<Outgoing> {
        if order == Order::Call {
            let claimed_by = self.lease.as_ref().map(|lease| lease.coordinator.name.clone());
            let hello = Hello { claimed_by, ..self.hello.clone() };
            return vec![self.report(&from, &Report::Hello(Box::new(hello)))];
        }
        match &mut self.lease {
            Some(lease) if lease.coordinator == from => lease.heard_ns = at_ns,
            Some(lease) => {
                let with = lease.coordinator.name.clone();
                return vec![self.report(&from, &Report::Busy { with })];
            }
            None if matches!(order, Order::Beat { .. }) => {
                (self.say)(&format!("{} uses this agent", from.name));
                self.lease = Some(Lease { coordinator: from, heard_ns: at_ns });
            }
            // Of a coordinator that was given up.
            None => return Vec::new(),
        }
        let job = self.job.as_mut();
        match order {
            Order::Beat { sent_ns } => {
                let (answered_ns, unix_ns) = (self.clock.now_ns(), self.clock.unix_ns());
                let echo = Report::Echo { sent_ns, received_ns: at_ns, answered_ns, unix_ns };
                return self.report_all(vec![echo]);
            }
            Order::Prepare(slice) => return self.prepare(*slice, at_ns),
            Order::Start { trial, at_ns } => {
                if let Some(job) = job.filter(|job| job.trial == trial) {
                    job.gate.open_at(self.clock.to_kernel(at_ns));
                }
            }
            Order::Stop { trial } => {
                if let Some(job) = job.filter(|job| job.trial == trial) {
                    job.stop.store(true, Ordering::Relaxed);
                }
            }
            Order::Taken { trial } => {
                self.job.take_if(|job| job.trial == trial && job.pieces.is_some());
            }
            Order::Release => self.release("this agent is free again"),
            Order::Call => {}
        }
        Vec::new()
    }

    fn prepare(&mut self, slice: Prepare, now_ns: u64) -> Vec<Outgoing> {
        let is_known = |job: &Job| job.trial == slice.trial && !job.is_orphan;
        if self.job.as_ref().is_some_and(is_known) {
            return Vec::new();
        }
        let refusal = match &self.job {
            Some(_) => Err("it still ends an earlier load".to_string()),
            None if slice.load.unix_socket.is_some() => {
                Err("a unix socket of this machine is no coordinator's business".into())
            }
            None => self.policy.allows(&slice.load.addresses),
        };
        if let Err(why) = refusal {
            (self.say)(&format!("refused: {why}"));
            return self.refuse(slice.trial, why);
        }
        let addresses: Vec<String> = slice.load.addresses.iter().map(ToString::to_string).collect();
        (self.say)(&format!("load {}: {}", slice.trial, addresses.join(", ")));
        let job = Job {
            trial: slice.trial,
            gate: Arc::new(Gate::new()),
            stop: Arc::default(),
            is_ready: false,
            is_orphan: false,
            pieces: None,
            next_send_ns: now_ns,
        };
        self.worker.begin(slice, Arc::clone(&job.gate), Arc::clone(&job.stop), self.tell.clone());
        self.job = Some(job);
        Vec::new()
    }

    /// Refuses a slice. Nobody waits for this to be taken: it is said again if it is asked again.
    fn refuse(&self, trial: u64, why: String) -> Vec<Outgoing> {
        let result =
            SliceResult { load: None, start_ns: None, failure: Some(why), caveats: Vec::new() };
        let text = serde_json::to_string(&result).unwrap_or_default();
        self.report_all(vec![Report::Piece { trial, nth: 0, of: 1, text }])
    }

    fn release(&mut self, why: &str) {
        if self.lease.take().is_some() {
            (self.say)(why);
        }
        if let Some(job) = &mut self.job {
            job.stop.store(true, Ordering::Relaxed);
            job.is_orphan = true;
        }
        // A result that nobody waits for any more.
        self.job.take_if(|job| job.pieces.is_some());
    }

    fn notice_silence(&mut self, now_ns: u64) {
        let silent = |lease: &Lease| now_ns.saturating_sub(lease.heard_ns) > PATIENCE_NS;
        if let Some(lease) = self.lease.as_ref().filter(|lease| silent(lease)) {
            let name = lease.coordinator.name.clone();
            self.release(&format!(
                "nothing was heard of {name} for {} s: its load ends",
                PATIENCE_NS / 1_000_000_000
            ));
        }
    }

    /// What the job has to report by now.
    fn progress(&mut self, now_ns: u64) -> Vec<Report> {
        let Some(job) = self.job.as_mut().filter(|job| !job.is_orphan) else { return Vec::new() };
        let trial = job.trial;
        if !job.is_ready && job.gate.is_reached() {
            job.is_ready = true;
            return vec![Report::Ready { trial }];
        }
        let Some(pieces) = job.pieces.as_ref().filter(|_| now_ns >= job.next_send_ns) else {
            return Vec::new();
        };
        job.next_send_ns = now_ns + AGAIN_NS;
        let of = pieces.len() as u32;
        let piece =
            |(nth, text): (u32, &String)| Report::Piece { trial, nth, of, text: text.clone() };
        (0..).zip(pieces).map(piece).collect()
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
            // It gets an answer, and refuses this agent by its name.
            Some(Opened::Other { from, .. }) => {
                vec![self.report(&from, &Report::Hello(Box::new(self.hello.clone())))]
            }
            None => Vec::new(),
        }
    }

    fn told(&mut self, told: Told, at_ns: u64) -> Vec<Outgoing> {
        match told {
            Told::Second(trial, window) => self.report_all(vec![Report::Second { trial, window }]),
            Told::Over(trial, result) => {
                let Some(job) = self.job.as_mut().filter(|job| job.trial == trial) else {
                    return Vec::new();
                };
                if job.is_orphan {
                    self.job = None;
                    return Vec::new();
                }
                let text = serde_json::to_string(&result).unwrap_or_default();
                job.pieces = Some(pieces::split(&text, pieces::LONGEST));
                job.next_send_ns = at_ns;
                let reports = self.progress(at_ns);
                self.report_all(reports)
            }
        }
    }

    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing> {
        self.notice_silence(at_ns);
        if self.stop.load(Ordering::Relaxed) && !self.has_left {
            return self.leave();
        }
        let reports = self.progress(at_ns);
        self.report_all(reports)
    }

    fn too_long(&mut self, message: &Outgoing, most_bytes: usize) {
        (self.say)(&format!(
            "a report of {} bytes is longer than the {most_bytes} that the NATS server takes: raise its max_payload",
            message.payload.len()
        ));
    }

    fn is_over(&self) -> bool {
        self.has_left && self.job.is_none()
    }
}
