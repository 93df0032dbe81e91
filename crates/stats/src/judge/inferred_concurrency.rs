//! NOTE: how many requests the target serves at a time, if this limits it and the processor does
//! not.
use pippin_model::host::usage::Role;
use pippin_model::text::units::{counted, format_count, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::{cpu_bound, given_cores, is_waiting, services_bound};
use crate::bottleneck::concurrency::{Load, QUEUE, SHORT_QUEUE, inferred};
use crate::judge::answer::found;
use crate::judge::evidence::{Evidence, caveat, whole};
use crate::judge::{accepts_slowly, rate_not_achieved};
use crate::series::steady::{arriving_per_s, slowed};

/// The name of the upstream's figure for the most requests that waited in it at one time.
const UPSTREAM_PEAK: &str = "upstream_peak_waiting";

/// What to do about it. A limit of the rate looks the same from outside.
pub(crate) const ADVICE: &str = "look for what lets only so many pass at a time: threads, workers, database connections, a lock; or for a limit of the rate";

/// A request that takes so long alone, in seconds, and hardly uses a processor, is longer under load
/// only if it queues.
const LONG_S: f64 = 0.001;
/// In a queue nearly all wait: at this quantile answers are longer than the longest alone. A mean
/// that some slow requests make says nothing of a queue.
const WAITING: f64 = 0.75;
/// Fewest single requests whose longest says what the slowest take alone.
pub(crate) const FEWEST_ALONE: u64 = 10;
/// Processors up to which a target hardly uses them: less than half of one thread.
const LITTLE: f64 = 0.5;

/// Whether answers wait in a queue although the target has processors to spare: then it serves a
/// limited number at a time. In closed loops, and at rates that it does not keep.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let (load, limit) = limit(evidence)?;
    let mut seen = format!(
        "serves about {} at a time: {} requests/s x {} make {limit:.1} in service, while {} users wait {}",
        at_a_time(limit),
        format_count(load.throughput_per_s),
        format_ns((load.unqueued_s * 1e9) as u64),
        whole(load.connections),
        format_ns((load.mean_service_s * 1e9) as u64)
    );
    if let Some(peak) = evidence.record.services.get(UPSTREAM_PEAK) {
        seen.push_str(&format!("; the upstream saw at most {peak:.0} at once"));
    }
    Some(caveat("inferred_concurrency", Severity::Note, seen, ADVICE))
}

/// The limit, with the load from which it follows.
pub(crate) fn limit(evidence: &Evidence) -> Option<(Load, f64)> {
    let is_loaded = evidence.is_saturating() || falls_behind(evidence);
    // How many wait is not the same all the time.
    let comes_and_goes = evidence.profile().schedule.user_stages().is_some();
    if !is_loaded || comes_and_goes || cpu_bound(evidence).is_some() || services_bound(evidence) {
        return None;
    }
    // Connections that wait to be accepted are said by `accepts_slowly`.
    if accepts_slowly::find(evidence).is_some() {
        return None;
    }
    let service = &evidence.measured()?.spans.service_time;
    let load = Load {
        connections: evidence.connections()?,
        throughput_per_s: arriving_per_s(evidence.load()?)
            .or_else(|| evidence.throughput_per_s())?,
        mean_service_s: service.mean_ns()? / 1e9,
        unqueued_s: evidence.single_ns()? / 1e9,
    };
    // Without CPU figures, only a known wait can tell a limit from a busy processor.
    let waits = is_waiting(evidence, load.throughput_per_s, load.unqueued_s)
        .unwrap_or(evidence.context.expected_delay.is_some());
    // Without CPU figures, nothing is known of bursts.
    if exceeds_bursts(evidence) == Some(false) {
        return None;
    }
    let queue = least_queue(evidence);
    let do_all_wait = service.quantile_ns(WAITING)? as f64 >= queue * longest_alone_ns(evidence)?;
    inferred(&load, queue).filter(|_| waits && do_all_wait).map(|served| (load, served))
}

/// The longest time of a request that is alone, or the usual one if the longest is unknown.
fn longest_alone_ns(evidence: &Evidence) -> Option<f64> {
    let single = evidence.single().filter(|single| single.requests >= FEWEST_ALONE);
    single.map(|single| single.longest_ns as f64).or_else(|| evidence.single_ns())
}

/// Whether one rate was offered that the target does not keep.
fn falls_behind(evidence: &Evidence) -> bool {
    evidence.offered_per_s().is_some()
        && evidence.profile().shape().is_none()
        && found(rate_not_achieved::judge(evidence)).is_some()
}

/// How many times as long as alone requests must take to count as queued.
pub(crate) fn least_queue(evidence: &Evidence) -> f64 {
    let is_long = evidence.single_ns().is_some_and(|ns| ns / 1e9 >= LONG_S);
    let is_idle = evidence.cores(Role::Target).is_some_and(|cores| cores <= LITTLE);
    let is_steady = evidence.load().is_some_and(|load| slowed(load, STEADY).is_none());
    let is_short = is_long && is_idle && is_steady && exceeds_bursts(evidence) == Some(true);
    if is_short { SHORT_QUEUE } else { QUEUE }
}

/// A target that answered so many times as much before may take longer now without any queue.
const STEADY: f64 = 1.1;
/// A request waits at the most for so many times the processor time of all users: they are the burst
/// with which it came, and half of one that is not worked off.
const BURSTS: f64 = 1.5;

/// Whether the slowest quarter of the requests waits longer than bursts explain. Users of a closed loop who
/// are answered together send together, and then they wait for each other before the processors,
/// however idle these are at other times. `None` without CPU use or single requests.
pub(crate) fn exceeds_bursts(evidence: &Evidence) -> Option<bool> {
    if !evidence.is_saturating() {
        return Some(true);
    }
    let slow_ns = evidence.measured()?.spans.service_time.quantile_ns(WAITING)? as f64;
    let cpu_ns = 1e9 * evidence.cores(Role::Target)? / evidence.throughput_per_s()?;
    let burst_ns = evidence.users()? * cpu_ns / at_once(evidence)?;
    Some(slow_ns - evidence.single_ns()? > BURSTS * burst_ns)
}

/// On how many processors the target works at one time: at least as many as its busiest thread has a part
/// of its work.
fn at_once(evidence: &Evidence) -> Option<f64> {
    let target = evidence.usage()?.roles.get(&Role::Target)?;
    let busiest = target.busiest_threads.as_ref().and_then(|threads| threads.first().copied());
    let threads = busiest.filter(|busiest| *busiest > 0.0).zip(target.cores);
    let threads = threads.map_or(1.0, |(busiest, cores)| cores / busiest);
    Some(threads.min(given_cores(evidence)?).max(1.0))
}

/// `1 request`, `5 requests`.
pub(crate) fn at_a_time(limit: f64) -> String {
    counted(limit.round() as u64, "request")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Context;
    use crate::judge::test::judged_in;
    use pippin_model::example::ExampleTrial;
    use pippin_model::text::units::Spread;

    fn behind_upstream<'a>() -> Context<'a> {
        Context { expected_delay: Some(Spread::exactly(500_000_000)), ..Context::default() }
    }

    #[test]
    fn the_published_rails_serves_five() {
        // 9.79 requests/s over 60 s are 587, but the last 100 are still in progress when the
        // measured part ends.
        let rails = ExampleTrial::hello()
            .connections(100)
            .seconds(60)
            .completed(487)
            .response_ms(10_200.0)
            .target_cores(0.1, 1);
        let rails = rails.windows(|second| if second % 5 == 0 { 9.0 } else { 10.0 }).build();
        let found = judged_in(judge, &rails, &behind_upstream()).unwrap();
        assert!(
            found
                .evidence
                .starts_with("serves about 5 requests at a time: 9.80 requests/s x 500 ms"),
            "{}",
            found.evidence
        );
        assert!(!found.evidence.contains("the upstream saw"), "{}", found.evidence);
        let mut counted = rails;
        counted.services.insert(UPSTREAM_PEAK.into(), 5.0);
        let seen = judged_in(judge, &counted, &behind_upstream()).unwrap().evidence;
        assert!(seen.ends_with("; the upstream saw at most 5 at once"), "{seen}");
    }

    /// A JDK's `HttpServer` with a pool of 4 threads that sleep for 20 ms, as a load of 50 connections
    /// saw it: a full pool, and a processor that is idle.
    #[test]
    fn a_full_pool_of_a_jdk_is_four_at_a_time() {
        use pippin_model::trial::Single;
        let mut pool = ExampleTrial::hello()
            .connections(50)
            .seconds(5)
            .completed(899)
            .response_ms(276.0)
            .target_cores(0.1, 1)
            .build();
        let (median_ns, longest_ns) = (21_000_000, 23_000_000);
        pool.single = Some(Single { requests: 20, median_ns, longest_ns });
        let found = judged_in(judge, &pool, &Context::default()).unwrap();
        let words = "serves about 4 requests at a time";
        assert!(found.evidence.starts_with(words), "{}", found.evidence);
        assert!(found.advice.contains("threads, workers"), "{}", found.advice);
    }

    #[test]
    fn one_that_lets_all_wait_at_once_and_one_at_its_processor_s_limit_do_not() {
        let free = ExampleTrial::hello()
            .connections(100)
            .completed(5_900)
            .response_ms(507.0)
            .target_cores(0.1, 1)
            .build();
        assert_eq!(judged_in(judge, &free, &behind_upstream()), None);
        let busy = ExampleTrial::hello()
            .connections(100)
            .completed(300_000)
            .response_ms(10.0)
            .target_cores(0.99, 1)
            .build();
        assert_eq!(judged_in(judge, &busy, &Context::default()), None);
    }
}
