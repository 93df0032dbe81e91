//! Starts the threads, decides when measuring begins and ends, merges windows and results.
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use pippin_model::load::{LoadSpec, WarmUp};
use pippin_model::result::{WarmUpResult, Window};

use crate::error::panic_text;
use crate::record::outcome::Outcome;
use crate::record::recorder::Message;
use crate::record::tally::WindowTally;
use crate::run::watchdog::{self, Doing, Watchdog};
use crate::shared::Shared;
use crate::time::clock;
use crate::time::timeline::{Progress, Timeline, UNKNOWN};
use crate::{Control, EngineError, Gate};

/// From the set-up to the start of the schedule, if no gate holds it back.
const SOON_NS: u64 = 1_000_000;
/// How long before an instant it is announced: longer than any thread sleeps.
const LEAD_NS: u64 = 30_000_000;
/// The short windows in which the warm-up's throughput is looked at.
const SHORT_WINDOW_NS: u64 = 200_000_000;
/// How often the coordinator wakes up while it has an instant to decide.
const POLL: Duration = Duration::from_millis(5);
/// How often it wakes up afterwards, when it only watches for the caller's stop. If it shares a
/// core with a thread of the load, each time delays all requests under way
/// (docs/decisions/engine-waiting.md).
const RARE_POLL: Duration = Duration::from_millis(100);

/// The part of the load that runs on the caller's thread.
pub(crate) struct Coordinator<'a> {
    spec: &'a LoadSpec,
    control: &'a Control<'a>,
    timeline: &'a Timeline,
    progress: &'a [Progress],
    inbox: Receiver<Message>,
    counts: Counts,
    started: u64,
    start: u64,
    measure_from: u64,
    steady: Option<bool>,
    short: Vec<f64>,
    short_from: u64,
    short_completed: u64,
    interrupted: bool,
    outcomes: Vec<Outcome>,
    failures: Vec<EngineError>,
    watchdog: Watchdog,
    pending: BTreeMap<u64, (u64, u32, Box<WindowTally>)>,
    windows: Vec<(u64, Window)>,
}

#[derive(Default)]
struct Counts {
    ready: usize,
    set_up: usize,
    finished: Vec<u64>,
    gone: usize,
}

/// What the coordinator has seen when all threads have ended.
pub(crate) struct Course {
    pub started_ns: u64,
    /// The start of the schedule and the end of the load.
    pub start_ns: u64,
    pub end_ns: u64,
    pub measured_from_ns: u64,
    pub measured_to_ns: u64,
    pub warm_up: WarmUpResult,
    pub windows: Vec<Window>,
    pub interrupted: bool,
}

impl<'a> Coordinator<'a> {
    pub fn new(shared: &'a Shared, control: &'a Control<'a>, inbox: Receiver<Message>) -> Self {
        Self {
            spec: &shared.spec,
            control,
            timeline: &shared.timeline,
            progress: &shared.progress,
            inbox,
            counts: Counts::default(),
            started: UNKNOWN,
            start: UNKNOWN,
            measure_from: UNKNOWN,
            steady: None,
            short: vec![],
            short_from: 0,
            short_completed: 0,
            interrupted: false,
            outcomes: vec![],
            failures: vec![],
            watchdog: Watchdog::new(clock::now_ns()),
            pending: BTreeMap::new(),
            windows: vec![],
        }
    }

    /// Leads the load to its end, and returns what the threads have measured. A failure ends the
    /// load for all of them.
    pub fn run(mut self) -> (Course, Vec<Outcome>, Vec<EngineError>) {
        while self.counts.gone < self.progress.len() && !self.watchdog.has_lost_patience() {
            self.guarded(Self::turn);
        }
        if self.counts.gone < self.progress.len() {
            self.fail(format!(
                "{} of {} threads did not end in time",
                self.progress.len() - self.counts.gone,
                self.progress.len()
            ));
        }
        self.guarded(|this| this.emit(true));
        self.outcomes.sort_by_key(|outcome| outcome.thread);
        let (outcomes, failures) =
            (std::mem::take(&mut self.outcomes), std::mem::take(&mut self.failures));
        (self.into_course(), outcomes, failures)
    }

    fn turn(&mut self) {
        match self.inbox.recv_timeout(self.poll()) {
            Ok(message) => self.hear(message),
            Err(RecvTimeoutError::Timeout) => {}
            // Every thread sends `Gone` before it drops its sender.
            Err(RecvTimeoutError::Disconnected) => self.counts.gone = self.progress.len(),
        }
        self.look();
    }

    /// Does one step. If it panics, or the caller's listener in it does, the load ends.
    fn guarded(&mut self, step: impl FnOnce(&mut Self)) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(self))) {
            self.fail(format!("the coordinator or its listener panicked: {}", panic_text(&*panic)));
        }
    }

    /// Ends the load for this reason. The listener gets no more windows, because it may be what
    /// failed.
    fn fail(&mut self, what: String) {
        self.failures.push(EngineError::died(what));
        self.timeline.end_now(clock::now_ns());
    }

    const fn poll(&self) -> Duration {
        if self.measure_from == UNKNOWN { POLL } else { RARE_POLL }
    }

    fn hear(&mut self, message: Message) {
        let threads = self.progress.len();
        match message {
            Message::Ready => {
                self.counts.ready += 1;
                if self.counts.ready == threads {
                    self.started = clock::now_ns();
                    self.timeline.begin_at(self.started);
                }
            }
            Message::SetUp => {
                self.counts.set_up += 1;
                if self.counts.set_up == threads {
                    match self.control.gate {
                        Some(gate) => gate.reach(),
                        None => self.begin(clock::now_ns() + SOON_NS),
                    }
                }
            }
            Message::Window { from, to, tally } => {
                match self.pending.get_mut(&from) {
                    Some((latest, count, merged)) => {
                        *latest = (*latest).max(to);
                        *count += 1;
                        merged.merge(&tally);
                    }
                    None => {
                        self.pending.insert(from, (to, 1, tally));
                    }
                }
                self.emit(false);
            }
            Message::Finished { at } => {
                self.counts.finished.push(at);
                self.emit(false);
            }
            Message::Gone(outcome) => {
                self.counts.gone += 1;
                match *outcome {
                    Ok(mut outcome) => {
                        self.failures.extend(outcome.failure.take());
                        self.outcomes.push(outcome);
                    }
                    Err(error) => self.failures.push(error),
                }
                // Without a thread, the others would wait for it, or measure less than was asked
                // for.
                if !self.failures.is_empty() {
                    self.timeline.end_now(clock::now_ns());
                }
            }
        }
    }

    /// All is set up: the schedule starts at `start`.
    fn begin(&mut self, start: u64) {
        self.start = start;
        self.watchdog.begin();
        self.short_from = start;
        match self.spec.warm_up {
            WarmUp::None => self.measure(start),
            WarmUp::Fixed { duration_ns } => self.measure(start + duration_ns),
            WarmUp::Auto { .. } => {}
        }
        self.timeline.start_at(start);
    }

    fn measure(&mut self, from: u64) {
        self.measure_from = from;
        self.timeline.measure_from(from);
        let end = crate::time::stop::end(self.spec, self.start, from);
        if let Some(end) = end {
            self.timeline.end_at(end);
        }
        if let Some(listen) = self.control.on_measuring {
            listen(from, end);
        }
    }

    /// Checks the clock and whether the caller wants to stop.
    fn look(&mut self) {
        let now = clock::now_ns();
        if self.control.is_stopped() && !self.interrupted {
            self.interrupted = true;
            self.timeline.end_now(now);
        }
        self.watch_the_gate(now);
        self.watch_the_end(now);
        if let WarmUp::Auto { at_most_ns } = self.spec.warm_up
            && self.measure_from == UNKNOWN
            && self.start != UNKNOWN
            && now > self.start
        {
            self.watch_warm_up(now, at_most_ns);
        }
    }

    /// Begins once the gate has a start. Threads learn of it in time if it is at least [`LEAD_NS`]
    /// ahead.
    fn watch_the_gate(&mut self, now: u64) {
        let waits = self.start == UNKNOWN && self.counts.set_up == self.progress.len();
        if let Some(start) = self.control.gate.filter(|_| waits).and_then(Gate::start) {
            self.begin(start.max(now + SOON_NS));
        }
    }

    /// Whether everything is set up and the gate has no start yet.
    fn is_held(&self) -> bool {
        self.start == UNKNOWN && self.control.gate.is_some_and(Gate::is_reached)
    }

    /// Ends a load that outlives its time, and counts for how long threads outlive its end.
    fn watch_the_end(&mut self, now: u64) {
        let doing = self.doing(now);
        if self.watchdog.look(now, doing) {
            self.fail("the load did not end in time".into());
        }
    }

    fn doing(&self, now: u64) -> Doing {
        let end = self.timeline.instants().end;
        if now > end {
            return Doing::Lingers;
        }
        if end != UNKNOWN || self.started == UNKNOWN || self.is_held() {
            return Doing::Waits;
        }
        if self.start == UNKNOWN {
            return Doing::Runs { at_most_ns: watchdog::set_up_ns(self.spec) };
        }
        if now < self.start {
            return Doing::Waits;
        }
        let warm_up_ns = match self.spec.warm_up {
            WarmUp::Auto { at_most_ns } => at_most_ns + watchdog::GRACE_NS,
            WarmUp::None | WarmUp::Fixed { .. } => 0,
        };
        Doing::Runs { at_most_ns: warm_up_ns.saturating_add(watchdog::counted_ns(self.spec)) }
    }

    fn watch_warm_up(&mut self, now: u64, at_most_ns: u64) {
        if now - self.short_from >= SHORT_WINDOW_NS {
            let completed: u64 = self.progress.iter().map(Progress::get).sum();
            let seconds = (now - self.short_from) as f64 / 1e9;
            self.short.push((completed - self.short_completed) as f64 / seconds);
            (self.short_from, self.short_completed) = (now, completed);
            if (self.control.steady)(&self.short) {
                self.steady = Some(true);
                self.measure(now + LEAD_NS);
                return;
            }
        }
        if now + LEAD_NS + 2 * POLL.as_nanos() as u64 >= self.start + at_most_ns {
            // Where nothing was answered, nothing shows that a throughput still changes.
            self.steady = self.short.iter().any(|rate| *rate > 0.0).then_some(false);
            self.measure((self.start + at_most_ns).max(now + LEAD_NS));
        }
    }

    /// Passes on the windows to which every thread that still runs has contributed.
    fn emit(&mut self, all: bool) {
        let threads = self.progress.len();
        while let Some(entry) = self.pending.first_entry() {
            let from = *entry.key();
            let (to, count, _) = *entry.get();
            let gone = self.counts.finished.iter().filter(|at| **at <= from).count();
            if !all && (count as usize) + gone < threads {
                return;
            }
            let (_, _, tally) = entry.remove();
            take_back(&mut self.windows, tally.taken_back);
            let window = tally.to_window(
                from as i64 - self.zero() as i64,
                to - from,
                self.control.histograms,
            );
            self.windows.push((from, window.clone()));
            if let Some(listen) = self.control.on_window.filter(|_| self.failures.is_empty()) {
                listen(&window);
            }
        }
    }

    /// The start of the measured part, or its latest possible start while that is not decided.
    fn zero(&self) -> u64 {
        if let Some([(_, ramp_up_ns), _, _]) = self.spec.schedule.phases() {
            return self.start + ramp_up_ns;
        }
        match self.spec.warm_up {
            _ if self.measure_from != UNKNOWN => self.measure_from,
            WarmUp::Auto { at_most_ns } => self.start + at_most_ns,
            _ => self.start,
        }
    }

    fn into_course(self) -> Course {
        let now = clock::now_ns();
        let end = self.counts.finished.iter().copied().max().unwrap_or(now);
        let start = if self.start == UNKNOWN { end } else { self.start };
        // If it was interrupted in the warm-up, nothing was measured.
        let from = self.measure_from.min(end).max(start.min(end));
        let (from, to) = match self.spec.schedule.phases() {
            Some([(_, ramp_up_ns), (_, sustain_ns), _]) => {
                ((start + ramp_up_ns).min(end), (start + ramp_up_ns + sustain_ns).min(end))
            }
            None => (from, end),
        };
        let windows = self
            .windows
            .into_iter()
            .map(|(at, window)| Window { from_ns: at as i64 - from as i64, ..window })
            .collect();
        Course {
            started_ns: if self.started == UNKNOWN { end } else { self.started },
            start_ns: start,
            end_ns: end,
            measured_from_ns: from,
            measured_to_ns: to,
            warm_up: WarmUpResult {
                duration_ns: if matches!(self.spec.warm_up, WarmUp::None) {
                    0
                } else {
                    from.saturating_sub(start)
                },
                steady: self.steady,
                ..WarmUpResult::default()
            },
            windows,
            interrupted: self.interrupted,
        }
    }
}

/// So many requests of these windows count as not sent after all: those that were sent last.
fn take_back(windows: &mut [(u64, Window)], mut count: u64) {
    for (_, window) in windows.iter_mut().rev() {
        let of_this_window = count.min(window.sent);
        window.sent -= of_this_window;
        count -= of_this_window;
    }
}

#[cfg(test)]
mod tests {
    use super::take_back;
    use crate::record::exchanges::Exchanges;
    use crate::record::recorder::{Message, Recorder, WINDOW_NS};
    use crate::time::timeline::{Instants, UNKNOWN};
    use pippin_model::result::Window;

    /// A server that refuses requests on and on makes a load of several windows, and requests are
    /// taken back in another window than the one in which they were sent.
    #[test]
    fn what_is_taken_back_in_a_later_window_is_missing_in_its_own() {
        let (outbox, inbox) = std::sync::mpsc::channel();
        let mut recorder = Recorder::new(vec![Exchanges::default()], false, outbox);
        recorder.start(0);
        recorder.learn(Instants { start: 0, measure_from: 0, end: UNKNOWN });
        let send = |recorder: &mut Recorder, count| {
            recorder.tally(0).requests.sent += count;
            recorder.window().sent += count;
        };
        send(&mut recorder, 5);
        recorder.cross();
        send(&mut recorder, 1);
        recorder.take_back(0, 3);
        send(&mut recorder, 4);
        recorder.finish(2 * WINDOW_NS);

        let mut windows = Vec::new();
        while let Ok(Message::Window { from, to, tally }) = inbox.try_recv() {
            take_back(&mut windows, tally.taken_back);
            windows.push((from, tally.to_window(from as i64, to - from, false)));
        }
        let sent: Vec<u64> =
            windows.iter().map(|(_, window): &(u64, Window)| window.sent).collect();
        assert_eq!(sent, [3, 4]);
        let all: u64 = recorder.into_stretches().iter().map(|tally| tally.requests.sent).sum();
        assert_eq!(all, sent.iter().sum::<u64>());
    }
}
