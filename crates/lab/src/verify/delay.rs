//! That a device's request waits as it should, and holds nobody else.
use pippin_model::histogram::Histogram;
use pippin_model::load_result::LoadResult;
use pippin_model::load_spec::{BodyCheck, StopRule};
use pippin_model::units::{Spread, format_ns};

use super::{Subject, Verdict};
use crate::load::{self, Connecting};

/// No answer comes before the least wait; the middle of the waits lies where the mean of the distribution is; and they are not all alike.
///
/// # Errors
/// What was seen instead.
pub fn distribution(subject: &mut Subject<'_>, wait: Spread, samples: u32) -> Verdict {
    // Ten at a time keep the proof short and the machine idle, so that the waits and not the scheduler are seen.
    let result = ask_many(subject, 10, samples)?;
    let spans = &result.measured.spans.service_time;
    let slack = wait.mean_ns / 5;
    // Measured from the first byte sent, so that nothing shorter than the wait itself can be right; HDR's precision and timers that round
    // down to milliseconds are allowed for.
    let least = wait.min_ns() - wait.min_ns() / 1000 - 1_500_000;
    let q = |q: f64| spans.quantile_ns(q).unwrap_or(0);
    if q(0.0) < least {
        return Err(format!("an answer came after {}, before the least wait of {}", format_ns(q(0.0)), format_ns(wait.min_ns())));
    }
    if q(0.5) > wait.mean_ns + slack {
        return Err(format!("the median answer came after {} instead of about {}", format_ns(q(0.5)), format_ns(wait.mean_ns)));
    }
    spread(spans, wait)
}

/// The middle half of a uniform distribution is as wide as the jitter; waits that are all alike are no distribution.
fn spread(spans: &Histogram, wait: Spread) -> Verdict {
    let width = spans.quantile_ns(0.75).unwrap_or(0).saturating_sub(spans.quantile_ns(0.25).unwrap_or(0));
    let wanted = (wait.max_ns() - wait.min_ns()) / 2;
    if width < wanted / 2 {
        return Err(format!(
            "the middle half of the waits spans {} instead of about {}: they are not drawn anew for each request",
            format_ns(width),
            format_ns(wanted)
        ));
    }
    Ok(())
}

/// Rounds of [`simultaneous`]: opening so many connections at once takes its own time, which the later rounds do not see.
const ROUNDS: u32 = 3;
/// When [`simultaneous`] ends at the latest. A server of ten processes would need ten seconds a round.
const ROUNDS_LIMIT_NS: u64 = 8_000_000_000;

/// Many at once are answered in little more than one wait. A server that blocks a thread or process for each takes many waits.
///
/// # Errors
/// How long they took, and how many it serves at a time.
pub fn simultaneous(subject: &mut Subject<'_>, connections: u32, wait: Spread) -> Verdict {
    let requests = u64::from(connections * ROUNDS);
    let result = ask(subject, connections, StopRule { duration_ns: Some(ROUNDS_LIMIT_NS), requests: Some(requests) })?;
    if result.measured.errors_total() > 0 {
        return Err(format!("of {connections} at once some were not answered rightly: {}", errors_in_words(&result)));
    }
    let completed = result.measured.requests.completed;
    let median = result.measured.spans.service_time.quantile_ns(0.5).unwrap_or(u64::MAX);
    // Slow machines need time for so many answers; blocking servers need many waits.
    if completed == requests && median <= wait.max_ns() * 8 {
        return Ok(());
    }
    let seconds = result.measured.duration_ns as f64 / 1e9;
    let at_a_time = completed as f64 / seconds.max(1e-9) * wait.mean_ns as f64 / 1e9;
    Err(format!(
        "{connections} at once got {completed} answers in {seconds:.1} s, the median after {}: it serves about {at_a_time:.0} at a time, so that waiting blocks others",
        format_ns(median)
    ))
}

fn ask_many(subject: &Subject<'_>, connections: u32, requests: u32) -> Result<LoadResult, String> {
    let result = ask(subject, connections, StopRule { duration_ns: None, requests: Some(u64::from(requests)) })?;
    let good = result.measured.requests.good;
    if good != u64::from(requests) {
        return Err(format!("of {requests} requests on {connections} connections {good} were answered rightly: {}", errors_in_words(&result)));
    }
    Ok(result)
}

fn errors_in_words(result: &LoadResult) -> String {
    let kinds: Vec<String> = result.measured.errors.iter().map(|(kind, n)| format!("{n} {}", kind.name())).collect();
    kinds.join(", ")
}

fn ask(subject: &Subject<'_>, connections: u32, stop: StopRule) -> Result<LoadResult, String> {
    let connecting = Connecting { address: subject.address, cores: Vec::new(), threads: 1, seed: 1 };
    let templates = load::templates(subject.workload, subject.samples, &BodyCheck::Any, true, subject.address);
    load::run_closed(&connecting, templates, connections, stop).map_err(|error| error.to_string())
}
