//! Merges the results of all agents into one, and their seconds into those of one load.
use pippin_model::load::LoadSpec;
use pippin_model::result::histogram::{Histogram, HistogramError};
use pippin_model::result::{
    Answered, GeneratorUse, LoadResult, Measured, Phase, WarmUpResult, Window,
};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;

/// The measurement of one agent.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The load, with instants on the agent's clock.
    pub load: LoadResult,
    /// The agent's clock minus the coordinator's, nanoseconds.
    pub offset_ns: i64,
}

/// All slices so far as one load, with instants on the coordinator's clock. Counters and histograms
/// are added bucket by bucket, in any order. A slice is merged when it comes and is not kept: its
/// histograms take about 8 MB of memory.
#[derive(Debug, Default)]
pub struct Merged {
    slices: usize,
    /// The load without windows.
    load: Option<LoadResult>,
    windows: BTreeMap<i64, Merging>,
}

impl Merged {
    /// Adds a slice.
    ///
    /// # Errors
    /// If the histogram of a window cannot be read.
    pub fn take(&mut self, mut slice: Slice) -> Result<(), HistogramError> {
        for window in std::mem::take(&mut slice.load.windows) {
            let one = Merging::new(window)?;
            match self.windows.entry(one.window.from_ns) {
                Entry::Occupied(mut all) => all.get_mut().add(&one),
                Entry::Vacant(none) => drop(none.insert(one)),
            }
        }
        self.slices += 1;
        let load = on_our_clock(slice);
        match &mut self.load {
            Some(all) => add(all, load),
            None => self.load = Some(load),
        }
        Ok(())
    }

    /// The number of slices.
    #[must_use]
    pub const fn slices(&self) -> usize {
        self.slices
    }

    /// The merged load; `None` without any slice. Its windows have no histograms. Windows that had
    /// none before have no time figures.
    #[must_use]
    pub fn load(self) -> Option<LoadResult> {
        let windows = self.windows.values().map(Merging::window).collect();
        self.load.map(|load| LoadResult { windows, ..load })
    }
}

fn on_our_clock(Slice { load, offset_ns }: Slice) -> LoadResult {
    let ours = |ns: u64| ns.saturating_add_signed(offset_ns.saturating_neg());
    LoadResult {
        started_ns: ours(load.started_ns),
        measured_from_ns: ours(load.measured_from_ns),
        measured_to_ns: ours(load.measured_to_ns),
        ..load
    }
}

fn add(all: &mut LoadResult, one: LoadResult) {
    if !all.io.split(" and ").any(|io| io == one.io) {
        all.io = format!("{} and {}", all.io, one.io);
    }
    all.threads += one.threads;
    all.measured.merge(&one.measured);
    add_phases(all, &one);
    all.started_unix_ns = all.started_unix_ns.min(one.started_unix_ns);
    all.started_ns = all.started_ns.min(one.started_ns);
    all.measured_from_ns = all.measured_from_ns.min(one.measured_from_ns);
    all.measured_to_ns = all.measured_to_ns.max(one.measured_to_ns);
    add_warm_up(&mut all.warm_up, one.warm_up);
    add_generator(&mut all.generator, one.generator);
    if let (Some(own), Some(others)) = (&mut all.tls, &one.tls) {
        own.merge(others);
    }
    if let (Some(own), Some(others)) = (&mut all.websocket, &one.websocket) {
        own.merge(others);
    }
    if let (Some(own), Some(others)) = (&mut all.network, &one.network) {
        own.merge(others);
    }
    if let (Some(own), Some(others)) = (&mut all.quic, &one.quic) {
        own.merge(others);
    }
    all.interrupted |= one.interrupted;
}

/// Adds phases. They begin at the same instants, counted from the first connection of each agent.
fn add_phases(all: &mut LoadResult, one: &LoadResult) {
    let first = all.started_ns.min(one.started_ns);
    let (own_shift, others_shift) = (all.started_ns - first, one.started_ns - first);
    for (own, other) in all.phases.iter_mut().zip(&one.phases) {
        let Phase { from_ns, measured, .. } = other;
        own.from_ns = (own.from_ns + own_shift).min(from_ns + others_shift);
        own.measured.merge(measured);
    }
}

fn add_warm_up(all: &mut WarmUpResult, one: WarmUpResult) {
    all.duration_ns = all.duration_ns.max(one.duration_ns);
    all.steady = all.steady.zip(one.steady).map(|(own, other)| own && other);
    all.completed += one.completed;
    for (kind, count) in one.errors {
        *all.errors.entry(kind).or_default() += count;
    }
}

fn add_generator(all: &mut GeneratorUse, one: GeneratorUse) {
    let sum = |own: Option<u64>, other: Option<u64>| Some(own? + other?);
    all.cpu_ns += one.cpu_ns;
    all.cpu_ns_by_thread.extend(one.cpu_ns_by_thread);
    all.spin_ns += one.spin_ns;
    all.max_rss_bytes = sum(all.max_rss_bytes, one.max_rss_bytes);
    all.syscalls = sum(all.syscalls, one.syscalls);
    all.clock_steps += one.clock_steps;
}

/// Windows of several agents with the same beginning, while they are merged. The histograms stay
/// decoded: as text they would have to be read again for each agent.
#[derive(Debug, Clone)]
struct Merging {
    agents: usize,
    window: Window,
    /// `None` as soon as one of the windows has none.
    histograms: Option<(Histogram, Histogram)>,
}

impl Merging {
    fn new(mut window: Window) -> Result<Self, HistogramError> {
        let histograms = match window.histograms.take() {
            Some(own) => Some((own.response.decode()?, own.send_lag.decode()?)),
            None => None,
        };
        Ok(Self { agents: 1, window, histograms })
    }

    fn add(&mut self, peer: &Self) {
        self.agents += peer.agents;
        self.histograms = match (self.histograms.take(), &peer.histograms) {
            (Some((mut response, mut send_lag)), Some(theirs)) => {
                response.merge(&theirs.0);
                send_lag.merge(&theirs.1);
                Some((response, send_lag))
            }
            _ => None,
        };
        self.window.add_counters(&peer.window);
    }

    /// The merged window. Of several windows, one of which had no histograms, no time figure is
    /// known.
    fn window(&self) -> Window {
        let mut window = self.window.clone();
        match &self.histograms {
            Some((response, send_lag)) => window.read(response, send_lag),
            None if self.agents > 1 => window.read(&Histogram::new(), &Histogram::new()),
            None => {}
        }
        window
    }
}

/// The seconds of a load under way. Each is passed on when all agents have sent theirs, or when one
/// of them is two seconds ahead.
#[derive(Debug, Default)]
pub struct Seconds {
    agents: usize,
    /// Seconds that not all agents have sent yet.
    pending: BTreeMap<i64, Merging>,
    whole: Vec<Window>,
    /// The last second that was passed on.
    told_ns: Option<i64>,
    /// What the seconds of the measured part add up to that all agents sent.
    sum: Sum,
    /// When the last one ended, counted as their beginnings are.
    last_ns: i64,
}

/// What seconds add up to.
#[derive(Debug, Clone, Default)]
struct Sum {
    /// Answers before the measured part.
    warm_up: u64,
    /// `None` before the first second of the measured part.
    measured: Option<Box<Merging>>,
}

impl Sum {
    fn add(&mut self, one: &Merging) {
        if one.window.from_ns < 0 {
            self.warm_up = self.warm_up.saturating_add(one.window.completed);
            return;
        }
        match &mut self.measured {
            Some(sum) => sum.add(one),
            None => self.measured = Some(Box::new(one.clone())),
        }
    }
}

/// How far one agent may be ahead of the others.
const AHEAD_NS: i64 = 2_000_000_000;

impl Seconds {
    /// For this many agents.
    #[must_use]
    pub fn for_agents(agents: usize) -> Self {
        Self { agents, ..Self::default() }
    }

    /// Takes a second of one agent. Returns the merged seconds to pass on now. An unreadable second
    /// is left out; the result has its counters.
    pub fn take(&mut self, window: Window) -> Vec<Window> {
        let from_ns = window.from_ns;
        let Ok(one) = Merging::new(window) else { return Vec::new() };
        let ends_ns = from_ns.saturating_add_unsigned(one.window.duration_ns);
        self.last_ns = self.last_ns.max(ends_ns);
        match self.pending.entry(from_ns) {
            Entry::Occupied(mut all) => all.get_mut().add(&one),
            Entry::Vacant(none) => drop(none.insert(one)),
        }
        self.pass_on(from_ns)
    }

    /// The measurement that the seconds of the measured part make, for a load of which no result
    /// came. It has counters, response times and send lags, and nothing else. `None` if no second
    /// came. `start_ns` is the start of the schedule.
    #[must_use]
    pub fn load(&self, spec: &LoadSpec, start_ns: u64, unix_ns: u64) -> Option<LoadResult> {
        let mut all = self.sum.clone();
        self.pending.values().for_each(|one| all.add(one));
        let sum = all.measured?;
        let ramp_ns = spec.schedule.phases().map_or(0, |[(_, ramp_up_ns), ..]| ramp_up_ns);
        let before_ns = spec.warm_up.at_most_ns().saturating_add(ramp_ns);
        let measured_from_ns = start_ns.saturating_add(before_ns);
        let duration_ns = self.last_ns.unsigned_abs();
        let Window { sent, completed, good, errors, bytes_in, bytes_out, .. } = sum.window;
        let mut measured = Measured { duration_ns, ..Measured::default() };
        // A wrong answer is complete, so not every error is a request without an answer.
        let failed = errors.min(sent.saturating_sub(completed));
        let requests = &mut measured.requests;
        (requests.scheduled, requests.sent) = (sent, sent);
        (requests.completed, requests.good, requests.failed) = (completed, good, failed);
        requests.censored = sent.saturating_sub(completed).saturating_sub(failed);
        measured.answered = Answered { completed, good };
        (measured.bytes.received, measured.bytes.sent) = (bytes_in, bytes_out);
        measured.connections.asked = spec.connections.count.into();
        if let Some((response, send_lag)) = &sum.histograms {
            measured.spans.response_time.merge(response);
            measured.spans.send_lag.merge(send_lag);
        }
        let seconds = self.pending.values().map(Merging::window);
        let mut windows: Vec<Window> = self.whole.iter().cloned().chain(seconds).collect();
        windows.sort_by_key(|window| window.from_ns);
        Some(LoadResult {
            io: "seconds".into(),
            threads: 0,
            started_unix_ns: unix_ns,
            started_ns: start_ns,
            measured_from_ns,
            measured_to_ns: measured_from_ns.saturating_add(duration_ns),
            warm_up: WarmUpResult {
                duration_ns: spec.warm_up.at_most_ns(),
                completed: all.warm_up,
                ..WarmUpResult::default()
            },
            measured,
            phases: Vec::new(),
            windows,
            generator: GeneratorUse::default(),
            tls: None,
            proxy: None,
            websocket: None,
            quic: None,
            network: None,
            interrupted: true,
            request_sample: None,
        })
    }

    fn pass_on(&mut self, newest_ns: i64) -> Vec<Window> {
        let from = self.told_ns.map_or(Bound::Unbounded, Bound::Excluded);
        let ready = |(from_ns, merging): &(&i64, &Merging)| {
            merging.agents >= self.agents || from_ns.saturating_add(AHEAD_NS) <= newest_ns
        };
        let untold = self.pending.range((from, Bound::Unbounded));
        let told: Vec<Window> =
            untold.take_while(ready).map(|(_, merging)| merging.window()).collect();
        self.told_ns = told.last().map(|window| window.from_ns).or(self.told_ns);
        let (told_ns, agents) = (self.told_ns, self.agents);
        let (whole, sum) = (&mut self.whole, &mut self.sum);
        // The others may become complete later, so keep their histograms.
        self.pending.retain(|from_ns, merging| {
            let is_over = Some(*from_ns) <= told_ns && merging.agents >= agents;
            if is_over {
                whole.push(merging.window());
                // Histograms are long: each second is added once, and not once for each agent.
                sum.add(merging);
            }
            !is_over
        });
        told
    }

    /// The seconds that all agents sent, even if one sent them late.
    #[must_use]
    pub fn whole(self) -> Vec<Window> {
        let left = self.pending.values().filter(|merging| merging.agents >= self.agents);
        let left: Vec<Window> = left.map(Merging::window).collect();
        [self.whole, left].concat()
    }
}

#[cfg(test)]
mod tests;
