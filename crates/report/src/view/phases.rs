//! The phases of a device load.
use pippin_model::result::histogram::Summary;
use pippin_model::result::{ConnectionCounts, ErrorKind, Measured, Phase, RequestCounts};
use pippin_model::trial::TrialRecord;
use pippin_stats::rank::due;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A phase of one target, all repetitions together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// `ramp_up`, `sustain` or `ramp_down`.
    pub name: String,
    /// Where it begins on the time axis of [`super::series`], in seconds, in the first repetition.
    pub from_s: f64,
    /// Its length in seconds in the first repetition.
    pub length_s: f64,
    /// Requests by fate, summed.
    pub requests: RequestCounts,
    /// Right answers per second over all repetitions.
    pub goodput_per_s: Option<f64>,
    /// Connections: the highest number asked for and open, and the sum of those opened.
    pub connections: ConnectionCounts,
    /// Opening a connection.
    pub connect: Summary,
    /// From handing the request to the kernel to the parsed head.
    pub headers: Summary,
    /// From the head to the last byte of the body.
    pub body: Summary,
    /// From the intended instant to the last byte.
    pub response_time: Summary,
    /// Errors by kind, summed.
    pub errors: BTreeMap<ErrorKind, u64>,
}

/// The phases of these trials of one target.
#[must_use]
pub fn from_trials(trials: &[&TrialRecord]) -> Vec<PhaseRow> {
    let Some(first) = trials.iter().find_map(|trial| trial.load.as_ref()) else {
        return Vec::new();
    };
    let offset = first.measured_from_ns as f64 - first.started_ns as f64;
    first.phases.iter().map(|phase| phase_row(phase, offset, trials)).collect()
}

fn phase_row(first: &Phase, offset_ns: f64, trials: &[&TrialRecord]) -> PhaseRow {
    let same = trials
        .iter()
        .filter_map(|trial| trial.load.as_ref())
        .flat_map(|load| &load.phases)
        .filter(|phase| phase.name == first.name);
    let mut all = Measured::default();
    for phase in same {
        all.add_repetition(&phase.measured);
    }
    PhaseRow {
        name: first.name.clone(),
        from_s: (first.from_ns as f64 - offset_ns) / 1e9,
        length_s: first.measured.duration_ns as f64 / 1e9,
        requests: all.requests,
        goodput_per_s: all.goodput_per_s(),
        connections: all.connections,
        connect: all.spans.connect.summary(),
        headers: all.spans.headers.summary(),
        body: all.spans.body.summary(),
        response_time: due::summary(&all),
        errors: all.errors,
    }
}
