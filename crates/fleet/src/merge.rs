//! The results of all agents as one, and their seconds as those of one load.
use pippin_model::histogram::{Histogram, HistogramError};
use pippin_model::load_result::{GeneratorUse, LoadResult, Phase, WarmUpResult, Window};
use std::collections::BTreeMap;

/// What one agent measured.
#[derive(Debug, Clone)]
pub struct Slice {
    /// With instants on the agent's clock.
    pub load: LoadResult,
    /// The agent's clock minus the coordinator's, nanoseconds.
    pub offset_ns: i64,
}

/// All slices as one load, with instants on the coordinator's clock; `None` without any. Counters
/// and histograms add up bucket by bucket. Windows have no histograms any more.
///
/// # Errors
/// If the histogram of a window cannot be read.
pub fn merge(slices: &[Slice]) -> Result<Option<LoadResult>, HistogramError> {
    let mut loads = slices.iter().map(on_our_clock);
    let Some(mut all) = loads.next() else { return Ok(None) };
    let mut windows = vec![std::mem::take(&mut all.windows)];
    for mut load in loads {
        windows.push(std::mem::take(&mut load.windows));
        add(&mut all, load);
    }
    all.windows = merged_windows(windows.into_iter().flatten())?;
    Ok(Some(all))
}

fn on_our_clock(slice: &Slice) -> LoadResult {
    let ours = |ns: u64| ns.saturating_add_signed(-slice.offset_ns);
    LoadResult {
        started_ns: ours(slice.load.started_ns),
        measured_from_ns: ours(slice.load.measured_from_ns),
        measured_to_ns: ours(slice.load.measured_to_ns),
        ..slice.load.clone()
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
    all.interrupted |= one.interrupted;
}

/// Phases begin at the same instants, counted from the first connection of each agent.
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

/// Windows of several agents with the same beginning, while they become one. Its histograms stay
/// decoded: as text they would be read anew for each agent.
#[derive(Debug)]
struct Merging {
    agents: usize,
    window: Window,
    /// `None` once one of the windows had none.
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

    fn add(&mut self, mut peer: Window) -> Result<(), HistogramError> {
        self.agents += 1;
        self.histograms = match (self.histograms.take(), peer.histograms.take()) {
            (Some((mut response, mut send_lag)), Some(theirs)) => {
                response.merge(&theirs.response.decode()?);
                send_lag.merge(&theirs.send_lag.decode()?);
                Some((response, send_lag))
            }
            _ => None,
        };
        self.window.merge(&peer)
    }

    fn into_window(self) -> Window {
        let mut window = self.window;
        if let Some((response, send_lag)) = &self.histograms {
            window.read(response, send_lag);
        }
        window
    }
}

fn merged_windows(windows: impl Iterator<Item = Window>) -> Result<Vec<Window>, HistogramError> {
    let mut merged: BTreeMap<i64, Merging> = BTreeMap::new();
    for window in windows {
        match merged.get_mut(&window.from_ns) {
            Some(all) => all.add(window)?,
            None => drop(merged.insert(window.from_ns, Merging::new(window)?)),
        }
    }
    Ok(merged.into_values().map(Merging::into_window).collect())
}

/// The seconds of a load under way: each is passed on when all agents have told theirs, or when one
/// of them is two seconds ahead.
#[derive(Debug, Default)]
pub struct Seconds {
    agents: usize,
    pending: BTreeMap<i64, Merging>,
    told_ns: Option<i64>,
}

/// How far one agent may be ahead of the others.
const AHEAD_NS: i64 = 2_000_000_000;

impl Seconds {
    /// Of so many agents.
    #[must_use]
    pub fn of(agents: usize) -> Self {
        Self { agents, ..Self::default() }
    }

    /// Takes a second of one agent; the merged seconds that are complete now. One that comes too
    /// late, or cannot be read, is left to the result.
    pub fn take(&mut self, window: Window) -> Vec<Window> {
        if self.told_ns.is_some_and(|told| window.from_ns <= told) {
            return Vec::new();
        }
        let newest = window.from_ns;
        match self.pending.get_mut(&newest) {
            Some(all) => drop(all.add(window)),
            None => drop(Merging::new(window).map(|new| self.pending.insert(newest, new))),
        }
        let mut complete = Vec::new();
        while let Some(entry) = self.pending.first_entry() {
            let from_ns = *entry.key();
            if entry.get().agents < self.agents && from_ns + AHEAD_NS > newest {
                break;
            }
            complete.push(entry.remove().into_window());
            self.told_ns = Some(from_ns);
        }
        complete
    }
}

#[cfg(test)]
mod tests;
