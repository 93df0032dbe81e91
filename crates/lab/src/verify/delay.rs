//! That a device's request waits as it should, and holds nobody else.
use pippin_model::histogram::Histogram;
use pippin_model::load_result::LoadResult;
use pippin_model::load_spec::{BodyCheck, StopRule};
use pippin_model::units::{Spread, format_ns};
use std::time::Instant;

use super::http::{Client, Request};
use super::{Subject, Verdict, answer};
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

/// The lower half of a uniform distribution is as wide as the jitter, less what lies below the 5th percentile. A busy machine widens the
/// upper half of waits that are all alike, never the lower one.
fn spread(spans: &Histogram, wait: Spread) -> Verdict {
    let q = |q: f64| spans.quantile_ns(q).unwrap_or(0);
    let width = q(0.5).saturating_sub(q(0.05));
    let wanted = (wait.max_ns() - wait.min_ns()) * 45 / 100;
    if width < wanted / 2 {
        return Err(format!(
            "the lower half of the waits spans {} instead of about {}: they are not drawn anew for each request",
            format_ns(width),
            format_ns(wanted)
        ));
    }
    Ok(())
}

/// Many at once are answered in little more than one wait. A server that blocks a thread or process for each takes many waits.
///
/// All connections are open before the first request is sent, and each sends one: a load that shares its requests among those
/// connections that came first would be served at once by fewer.
///
/// # Errors
/// How long they took, and how many it serves at a time.
pub fn simultaneous(subject: &mut Subject<'_>, connections: u32, wait: Spread) -> Verdict {
    let sample = subject.first()?;
    let request = Request::get(&sample.path);
    let mut clients = Vec::new();
    for number in 1..=connections {
        clients.push(Client::connect(subject.address, subject.limit).map_err(|error| format!("connection {number} of {connections} at once: {error}"))?);
    }
    let begin = Instant::now();
    clients.iter_mut().try_for_each(|client| client.send(&request))?;
    for (answered, client) in clients.iter_mut().enumerate() {
        let left = subject.limit.saturating_sub(begin.elapsed());
        let answer = if left.is_zero() { Err("no answer in time".into()) } else { client.set_limit(left).and_then(|()| client.answer(&request)) };
        let answer = answer
            .map_err(|error| format!("of {connections} at once {answered} were answered within {}: {error}", format_ns(begin.elapsed().as_nanos() as u64)))?;
        if let Some(difference) = answer::differs(&subject.workload.answer, sample, &answer) {
            return Err(format!("of {connections} at once: {difference}"));
        }
    }
    // The answers were read in the order of the requests, so that this is when the last one was there.
    let took_ns = begin.elapsed().as_nanos() as u64;
    // Slow machines need time to answer so many; blocking servers need hundreds of waits.
    if took_ns <= wait.max_ns() * 12 {
        return Ok(());
    }
    let waits = took_ns as f64 / wait.mean_ns as f64;
    Err(format!(
        "{connections} at once were answered within {} ({waits:.0} waits): it serves about {:.0} at a time, so that waiting blocks others",
        format_ns(took_ns),
        f64::from(connections) / waits
    ))
}

fn ask_many(subject: &Subject<'_>, connections: u32, requests: u32) -> Result<LoadResult, String> {
    let connecting = Connecting { address: subject.address, cores: Vec::new(), threads: 1, seed: 1 };
    let templates = load::templates(subject.workload, subject.samples, &BodyCheck::Any, true, subject.address);
    let stop = StopRule { duration_ns: None, requests: Some(u64::from(requests)) };
    let result = load::run_closed(&connecting, templates, connections, stop).map_err(|error| error.to_string())?;
    let (counts, errors) = (result.measured.requests, result.measured.errors_total());
    if counts.good != u64::from(requests) {
        let kinds: Vec<String> = result.measured.errors.iter().map(|(kind, n)| format!("{n} {}", kind.name())).collect();
        return Err(format!(
            "of {requests} requests on {connections} connections {} were answered rightly; {errors} errors: {}",
            counts.good,
            kinds.join(", ")
        ));
    }
    Ok(result)
}
