//! An agent that takes part, from the coordinator's view.
use pippin_model::load::Part;
use pippin_model::result::histogram::HistogramError;
use pippin_model::result::{LoadResult, Window};
use pippin_model::text::units::format_length;
use pippin_model::trial::agent::{AgentFigures, AgentPart};
use pippin_model::verdict::Caveat;
use std::collections::BTreeSet;

use super::silences::Silence;
use super::{Course, FIRST_BEATS};
use crate::clock::Offset;
use crate::merge::Slice;
use crate::message::{Hello, Key, Peer, SliceResult};
use crate::pieces::{Inbox, Piece};

/// A silence of this length is told: two beats were missed.
const SILENCE_NS: u64 = 1_500_000_000;

/// An agent that takes part.
pub struct Agent {
    pub peer: Peer,
    pub hello: Hello,
    /// The secret that its orders and its reports carry.
    pub key: Key,
    pub part: Part,
    pub offset: Offset,
    pub heard_ns: u64,
    /// The longest time in this load without a word of it, and whether that was told.
    pub silent_ns: u64,
    has_told: bool,
    /// Why it does not take part any more.
    pub gone: Option<String>,
    /// Whether it was lost in the last load, or had other work: others may do that load.
    pub is_lost: bool,
    /// What it does for another one instead.
    pub busy: Option<String>,
    pub job: Job,
    /// When it reacted to the order to prepare.
    pub taken_ns: Option<u64>,
    /// When its last second, and the last new piece of its result, came; 0 if none did.
    pub second_ns: u64,
    pub piece_ns: u64,
    pub inbox: Inbox,
    /// Who else has its target loaded, with the place.
    beside: BTreeSet<String>,
    /// What its seconds add up to.
    seconds: Window,
}

/// The most other coordinators that are named.
const MOST_BESIDE: usize = 16;

/// The progress of an agent with a load.
pub enum Job {
    Preparing,
    Ready,
    /// It was told when to start.
    Called,
    /// Its first second has come.
    Working,
    /// It was lost after the start, for this reason, at this instant. It may hold a result.
    Awaited(String, u64),
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
    /// An agent that was not asked for anything yet. `is_here`: it shares this machine's clock.
    pub fn new((peer, hello): (Peer, Hello), key: Key, is_here: bool) -> Self {
        Self {
            peer,
            hello,
            key,
            part: Part::default(),
            offset: Offset::new(is_here),
            heard_ns: 0,
            silent_ns: 0,
            has_told: false,
            gone: None,
            is_lost: false,
            busy: None,
            job: Job::Failed(String::new()),
            taken_ns: None,
            second_ns: 0,
            piece_ns: 0,
            inbox: Inbox::default(),
            beside: BTreeSet::new(),
            seconds: Window::default(),
        }
    }

    /// Another load begins.
    pub fn begin_trial(&mut self) {
        (self.inbox, self.seconds) = (Inbox::default(), Window::default());
        self.beside.clear();
        (self.taken_ns, self.second_ns, self.piece_ns) = (None, 0, 0);
        (self.silent_ns, self.has_told, self.is_lost, self.busy) = (0, false, false, None);
        self.job = match &self.gone {
            Some(why) => Job::Failed(why.clone()),
            None => Job::Preparing,
        };
    }

    /// Whether the order to prepare may have been lost.
    pub const fn has_no_order(&self) -> bool {
        matches!(self.job, Job::Preparing) && self.taken_ns.is_none()
    }

    /// Whether another one of its name has taken its place, so that its orders go there.
    pub const fn is_replaced(&self) -> bool {
        self.gone.is_some() && !self.is_waited_for()
    }

    pub fn fail(&mut self, why: String) {
        if !self.is_done() {
            self.job = Job::Failed(why);
        }
    }

    /// It is lost. If it was at work, it may still deliver what it has measured.
    fn lose(&mut self, why: String, now_ns: u64) {
        self.is_lost = true;
        match self.job {
            Job::Called | Job::Working => self.job = Job::Awaited(why, now_ns),
            Job::Preparing | Job::Ready => self.job = Job::Failed(why),
            Job::Awaited(..) | Job::Done(_) | Job::Failed(_) => {}
        }
    }

    pub fn give_up(&mut self, why: String, now_ns: u64) {
        self.lose(why.clone(), now_ns);
        self.gone = Some(why);
    }

    /// Another process has taken its place, so this one holds nothing any more.
    pub fn replaced(&mut self, why: String) {
        self.is_lost = true;
        self.fail(why.clone());
        self.gone = Some(why);
    }

    /// Whether it was lost and may still deliver.
    pub const fn is_waited_for(&self) -> bool {
        matches!(self.job, Job::Awaited(..))
    }

    /// Ends the wait for what it holds, after so long since it was lost or the user stopped.
    pub fn give_up_waiting(&mut self, stopped_ns: u64, most_ns: u64, now_ns: u64) {
        if let Job::Awaited(why, since_ns) = &self.job
            && now_ns.saturating_sub(stopped_ns.max(*since_ns).max(self.piece_ns)) > most_ns
        {
            self.job = Job::Failed(why.clone());
        }
    }

    /// It was heard. Returns how long it had been silent, if that was told.
    pub fn hear(&mut self, at_ns: u64) -> Option<u64> {
        let silent_ns = at_ns.saturating_sub(self.heard_ns);
        self.heard_ns = at_ns;
        std::mem::take(&mut self.has_told).then_some(silent_ns)
    }

    pub fn ready(&mut self) {
        if matches!(self.job, Job::Preparing) {
            self.job = Job::Ready;
        }
    }

    /// Another coordinator loads the same place. Whether that is new.
    pub fn is_beside(&mut self, with: &str, place: &str) -> bool {
        let text = format!("{with}: {place}");
        self.beside.len() < MOST_BESIDE && text.len() < 400 && self.beside.insert(text)
    }

    pub fn works(&mut self, second: &Window, now_ns: u64) {
        self.second_ns = now_ns;
        // Seconds before the measured part, the warm-up's, are no part of the result.
        if second.from_ns >= 0 {
            let own = &mut self.seconds;
            own.duration_ns = own.duration_ns.saturating_add(second.duration_ns);
            own.sent = own.sent.saturating_add(second.sent);
            own.completed = own.completed.saturating_add(second.completed);
            own.good = own.good.saturating_add(second.good);
            own.errors = own.errors.saturating_add(second.errors);
        }
        if matches!(self.job, Job::Called) {
            self.job = Job::Working;
        }
    }

    /// Takes a piece of its result. Returns the measurement once the result is complete.
    pub fn piece(&mut self, piece: Piece, course: &Course, now_ns: u64) -> Option<Slice> {
        let before = self.inbox.pieces();
        let whole = self.inbox.take(piece).pop();
        if self.inbox.pieces() > before {
            self.piece_ns = now_ns;
        }
        // What comes late is kept too.
        let whole = whole.filter(|_| !matches!(self.job, Job::Done(_)))?;
        match serde_json::from_str::<SliceResult>(&whole) {
            Ok(result) => self.done(result, course),
            Err(error) => {
                self.fail(format!("its result cannot be read: {error}"));
                None
            }
        }
    }

    fn done(&mut self, result: SliceResult, course: &Course) -> Option<Slice> {
        let SliceResult { load, start_ns: own_start_ns, failure, caveats, found } = result;
        let ended_early = load.as_ref().is_some_and(|load| load.interrupted) && !course.was_stopped;
        let lost = match &self.job {
            Job::Awaited(why, _) | Job::Failed(why) => Some(why.clone()),
            _ => ended_early.then(|| early(course.still_ns)),
        };
        self.is_lost |= lost.is_some();
        let figures = load.as_ref().map(|load| figures(load, self.hello.ceiling_per_s));
        let failure = failure.or(lost);
        let done = Done { start_ns: own_start_ns, figures, caveats, failure, found };
        self.job = Job::Done(Box::new(done));
        let load = load?;
        let at_ns = course.start_ns.unwrap_or(load.started_ns);
        Some(Slice { offset_ns: self.offset.at(at_ns)?, load })
    }

    /// Its measurement could not be merged.
    pub fn is_unreadable(&mut self, error: &HistogramError) {
        self.job = Job::Failed(format!("it sent a window with {error}"));
    }

    /// Notices that it is silent: too long, and it is lost. Returns what is worth telling, with the
    /// length of the silence.
    pub fn notice_silence(
        &mut self,
        (began_ns, patience_ns): (u64, u64),
        (has_started, server): (bool, Option<&str>),
        now_ns: u64,
    ) -> Option<(Silence, u64)> {
        if self.is_done() || self.is_waited_for() {
            return None;
        }
        let silent_ns = now_ns.saturating_sub(self.heard_ns.max(began_ns));
        if has_started {
            self.silent_ns = self.silent_ns.max(silent_ns);
        }
        if silent_ns > patience_ns {
            let silent = format_length(silent_ns);
            let cause = server.unwrap_or("it has stopped, or its connection to NATS is lost");
            self.lose(format!("nothing was heard of it for {silent}: {cause}"), now_ns);
            return Some((Silence::Lost, silent_ns));
        }
        (silent_ns > SILENCE_NS && !std::mem::replace(&mut self.has_told, true))
            .then_some((Silence::Began, silent_ns))
    }

    pub fn can_start(&self) -> bool {
        matches!(self.job, Job::Ready) && self.offset.exchanges() >= FIRST_BEATS
    }

    pub const fn is_done(&self) -> bool {
        matches!(self.job, Job::Done(_) | Job::Failed(_))
    }

    /// Whether the load cannot be complete any more, because of this agent.
    pub fn has_failed(&self) -> bool {
        self.failure().is_some()
    }

    fn failure(&self) -> Option<&str> {
        match &self.job {
            Job::Failed(why) | Job::Awaited(why, _) => Some(why),
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
        let delivered = result.and_then(|result| result.figures.clone());
        AgentPart {
            name: self.peer.name.clone(),
            tags: self.hello.tags.clone(),
            host: self.hello.host.clone(),
            part: self.part,
            clock: self.offset.told(),
            late_ns: started.and_then(|(own, agreed)| {
                Some((own.wrapping_sub(agreed) as i64).saturating_sub(self.offset.at(agreed)?))
            }),
            figures: delivered.or_else(|| self.figures_of_seconds()),
            beside: self.beside.iter().cloned().collect(),
            silent_ns: Some(self.silent_ns).filter(|silent_ns| *silent_ns > SILENCE_NS),
            caveats: result.map_or_else(Vec::new, |result| result.caveats.clone()),
            failure: self.failure().map(str::to_string),
        }
    }

    /// What is known from its seconds alone, where no result came.
    fn figures_of_seconds(&self) -> Option<AgentFigures> {
        let Window { duration_ns, sent, completed, good, errors, .. } = self.seconds;
        (duration_ns > 0).then(|| AgentFigures {
            threads: 0,
            duration_ns,
            scheduled: sent,
            completed,
            errors,
            goodput_per_s: Some(good as f64 * 1e9 / duration_ns as f64),
            response_p50_ns: None,
            response_p99_ns: None,
            network_ns: None,
            cpu_ns: 0,
            busiest_share: None,
            ceiling_per_s: self.hello.ceiling_per_s,
        })
    }
}

/// Why an agent ended before the others.
fn early(still_ns: u64) -> String {
    let heard = "it ended its load early, because it heard nothing from the coordinator";
    match still_ns {
        0 => heard.into(),
        _ => format!("{heard}, which stood still for {}", format_length(still_ns)),
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
