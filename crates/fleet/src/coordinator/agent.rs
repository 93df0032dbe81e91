//! An agent that takes part, from the coordinator's view.
use pippin_model::load::Part;
use pippin_model::result::LoadResult;
use pippin_model::result::histogram::HistogramError;
use pippin_model::trial::agent::{AgentFigures, AgentPart};
use pippin_model::verdict::Caveat;

use super::FIRST_BEATS;
use crate::PATIENCE_NS;
use crate::clock::Offset;
use crate::merge::Slice;
use crate::message::{Hello, Peer, SliceResult};
use crate::pieces::{Inbox, Piece};

/// An agent that takes part.
pub struct Agent {
    pub peer: Peer,
    pub hello: Hello,
    pub part: Part,
    pub offset: Offset,
    pub heard_ns: u64,
    /// Why it does not take part any more.
    pub gone: Option<String>,
    pub job: Job,
    /// Whether it has reacted to the order to prepare.
    pub has_taken: bool,
    /// When its last second, and the last new piece of its result, came; 0 if none did.
    pub second_ns: u64,
    pub piece_ns: u64,
    pub inbox: Inbox,
}

/// The progress of an agent with a load.
pub enum Job {
    Preparing,
    Ready,
    /// It was told when to start.
    Called,
    /// Its first second has come.
    Working,
    Done(Box<Done>),
    Failed(String),
}

/// The part of a result that is kept after merging.
pub struct Done {
    start_ns: Option<u64>,
    figures: Option<AgentFigures>,
    caveats: Vec<Caveat>,
    failure: Option<String>,
    found: Option<String>,
}

impl Agent {
    /// Another load begins.
    pub fn begin_trial(&mut self) {
        self.inbox = Inbox::default();
        (self.has_taken, self.second_ns, self.piece_ns) = (false, 0, 0);
        self.job = match &self.gone {
            Some(why) => Job::Failed(why.clone()),
            None => Job::Preparing,
        };
    }

    /// Whether the order to prepare may have been lost.
    pub const fn has_no_order(&self) -> bool {
        matches!(self.job, Job::Preparing) && !self.has_taken
    }

    pub fn fail(&mut self, why: String) {
        if !self.is_done() {
            self.job = Job::Failed(why);
        }
    }

    pub fn give_up(&mut self, why: String) {
        self.fail(why.clone());
        self.gone = Some(why);
    }

    pub fn ready(&mut self) {
        if matches!(self.job, Job::Preparing) {
            self.job = Job::Ready;
        }
    }

    pub fn works(&mut self, now_ns: u64) {
        self.second_ns = now_ns;
        if matches!(self.job, Job::Called) {
            self.job = Job::Working;
        }
    }

    /// Takes a piece of its result. Returns the measurement once the result is complete.
    pub fn piece(&mut self, piece: Piece, (start_ns, now_ns): (Option<u64>, u64)) -> Option<Slice> {
        let before = self.inbox.pieces();
        let whole = self.inbox.take(piece).pop();
        if self.inbox.pieces() > before {
            self.piece_ns = now_ns;
        }
        let whole = whole.filter(|_| !self.is_done())?;
        match serde_json::from_str::<SliceResult>(&whole) {
            Ok(result) => self.done(result, start_ns),
            Err(error) => {
                self.fail(format!("its result cannot be read: {error}"));
                None
            }
        }
    }

    fn done(&mut self, result: SliceResult, start_ns: Option<u64>) -> Option<Slice> {
        let SliceResult { load, start_ns: own_start_ns, failure, caveats, found } = result;
        let figures = load.as_ref().map(|load| figures(load, self.hello.ceiling_per_s));
        let done = Done { start_ns: own_start_ns, figures, caveats, failure, found };
        self.job = Job::Done(Box::new(done));
        let load = load?;
        let at_ns = start_ns.unwrap_or(load.started_ns);
        Some(Slice { offset_ns: self.offset.at(at_ns)?, load })
    }

    /// Its measurement could not be merged.
    pub fn is_unreadable(&mut self, error: &HistogramError) {
        self.job = Job::Failed(format!("it sent a window with {error}"));
    }

    pub fn notice_silence(&mut self, began_ns: u64, now_ns: u64) {
        let silent_ns = now_ns.saturating_sub(self.heard_ns.max(began_ns));
        if silent_ns > PATIENCE_NS {
            let seconds = now_ns.saturating_sub(self.heard_ns) as f64 / 1e9;
            self.fail(format!("nothing was heard of it for {seconds:.1} s: it has stopped, or its connection to NATS is lost"));
        }
    }

    pub fn can_start(&self) -> bool {
        matches!(self.job, Job::Ready) && self.offset.exchanges() >= FIRST_BEATS
    }

    pub const fn is_done(&self) -> bool {
        matches!(self.job, Job::Done(_) | Job::Failed(_))
    }

    pub fn failure(&self) -> Option<&str> {
        match &self.job {
            Job::Failed(why) => Some(why),
            Job::Done(done) => done.failure.as_deref(),
            Job::Preparing | Job::Ready | Job::Called | Job::Working => None,
        }
    }

    fn result(&self) -> Option<&Done> {
        match &self.job {
            Job::Done(done) => Some(done),
            _ => None,
        }
    }

    /// What its deputy of the referee has found. It is taken once.
    pub fn found(&mut self) -> Option<String> {
        match &mut self.job {
            Job::Done(done) => done.found.take(),
            _ => None,
        }
    }

    pub fn told(&self, start_ns: Option<u64>) -> AgentPart {
        let result = self.result();
        let started = result.and_then(|result| result.start_ns).zip(start_ns);
        AgentPart {
            name: self.peer.name.clone(),
            tags: self.hello.tags.clone(),
            host: self.hello.host.clone(),
            part: self.part,
            clock: self.offset.told(),
            late_ns: started.and_then(|(own, agreed)| {
                Some((own.wrapping_sub(agreed) as i64).saturating_sub(self.offset.at(agreed)?))
            }),
            figures: result.and_then(|result| result.figures.clone()),
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
        network_ns: network_ns(load),
        cpu_ns: load.generator.cpu_ns,
        busiest_share: load.generator.busiest_share(measured.duration_ns),
        ceiling_per_s,
    }
}

/// The median round trip of its handshakes over all parts of the load, because most connections are
/// opened before the measured part. `None` unless the kernel timed them.
fn network_ns(load: &LoadResult) -> Option<u64> {
    let mut connects = load.measured.spans.connect.clone();
    let phases = load.phases.iter().map(|phase| &phase.measured.spans.connect);
    phases.for_each(|connect| connects.merge(connect));
    (load.measured.connections.timed_by_kernel > 0).then(|| connects.quantile_ns(0.5)).flatten()
}
