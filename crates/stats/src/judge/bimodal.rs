//! SUSPECT: the service times have two modes, so no single figure describes them. Or they have the
//! mode at 40 ms that delayed acknowledgements cause.
//!
//! NOTE: they have two modes because of the generator's own batches. In a closed loop, answers that
//! come together are followed by requests that are sent together. A server with idle time answers
//! the first of them at once, and the others wait for each other.
use pippin_model::plan::profile::Steps;
use pippin_model::result::Spans;
use pippin_model::result::histogram::Histogram;
use pippin_model::text::units::format_ns;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::slow_connections;
use crate::series::modes::{delayed_ack_share, modes};

/// Bodies up to this size, in bytes on average, fit into the first window of a connection (RFC 6928:
/// ten segments), so that a body after its head did not wait for the network.
const SHORT_BODY: f64 = 14_000.0;
/// The fraction of the fast answers that may be those of requests which were not the first of a batch.
const NOT_FIRST: f64 = 0.1;

/// Whether the service time has two or more modes. Loads beyond the capacity have them by design:
/// each of their rates has times of its own. So have loads with several kinds of requests, of which
/// each step of a scenario is judged by itself. Where two kinds of connections or dropped
/// connections explain the modes, that is said.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    if matches!(evidence.profile().steps, Steps::Overload { .. })
        || evidence.drops_connections()
        || slow_connections::find(evidence).is_some()
    {
        return None;
    }
    let measured = evidence.measured()?;
    if measured.steps.is_empty() && evidence.has_kinds_of_requests() {
        return None;
    }
    if measured.steps.len() > 1 {
        let steps = measured.steps.iter();
        return steps
            .filter_map(|step| {
                two_modes(evidence, &step.service_time, &format!("of `{}` ", step.name))
            })
            .next();
    }
    if let Some(kinds) = slow_connections::of_batches(evidence) {
        let seen = format!(
            "requests are sent in batches and served in their order: {}, because they stand later in their batches",
            kinds.words()
        );
        return Some(batches(seen));
    }
    two_modes(evidence, &measured.spans.service_time, "")
        .map(|found| of_batches(&measured.spans).unwrap_or(found))
}

/// The modes are the generator's, if the place in its batches explains them: nearly all fast answers are
/// those of first requests, and all others have one mode. First requests may be slow too: whose answer
/// was fast sends again while the others still wait, alone and so as the first of its batch. A server
/// whose own answers are of two kinds shows both kinds in both groups.
fn of_batches(spans: &Spans) -> Option<Caveat> {
    let (all, others) = (&spans.service_time, spans.service_time.without(&spans.first_in_batch));
    let [fast, slow] = &modes(all)[..] else { return None };
    if modes(&others).len() != 1 {
        return None;
    }
    let border_ns = (fast.at_ns as f64 * slow.at_ns as f64).sqrt() as u64;
    let faster = |times: &Histogram| {
        times.fraction_at_or_below(border_ns).map(|share| share * times.count() as f64)
    };
    if faster(&others)? > NOT_FIRST * faster(all)? {
        return None;
    }
    let seen = format!(
        "service times have two modes because requests are sent in batches: {} of the requests, the first of their batches, take around {}, and the others around {}",
        percent(fast.share),
        format_ns(fast.at_ns),
        format_ns(slow.at_ns)
    );
    Some(batches(seen))
}

fn batches(seen: String) -> Caveat {
    let advice = "this is no fault of the server: users of a closed loop who are answered together send together. The mean and the throughput do not depend on it; use --rate for times of independent users";
    caveat("batches", Severity::Note, seen, advice)
}

fn two_modes(evidence: &Evidence, times: &Histogram, whose: &str) -> Option<Caveat> {
    let found = modes(times);
    // They ascend.
    let [fastest, .., slowest] = &found[..] else { return None };
    let times = slowest.at_ns as f64 / fastest.at_ns.max(1) as f64;
    if evidence.stretches_explain(times, slowest.share) {
        return None;
    }
    let parts: Vec<String> = found
        .iter()
        .map(|mode| format!("{} around {}", percent(mode.share), format_ns(mode.at_ns)))
        .collect();
    let advice = "two kinds of answers are mixed (unequally loaded workers, a pool, garbage collection, a cache): read the quantiles, not the mean";
    Some(caveat(
        "bimodal",
        Severity::Suspect,
        format!("service times {whose}in {} modes: {}", found.len(), parts.join(", ")),
        advice,
    ))
}

/// Whether many bodies follow their head after 40 ms. A queue of 40 ms would delay the head. Where
/// all of them do, they must be so short that they did not wait for the network.
pub fn judge_delayed_ack(evidence: &Evidence) -> Option<Caveat> {
    let measured = evidence.measured()?;
    let (share, others_at_once) = delayed_ack_share(&measured.spans.body)?;
    let mean_bytes = measured.bytes.body as f64 / measured.answered.completed.max(1) as f64;
    if !others_at_once && mean_bytes > SHORT_BODY {
        return None;
    }
    let advice = "set TCP_NODELAY, or write head and body at once: a server that writes its answer in pieces waits for an acknowledgement, which TCP delays by 40 ms; a handler that waits for 40 ms looks the same";
    let seen = format!(
        "{} of the bodies came 38 to 47 ms after their head{}",
        percent(share),
        if others_at_once { ", others at once" } else { "" }
    );
    Some(caveat("delayed_ack", Severity::Suspect, seen, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::run as example;
    use pippin_model::load::{LoadSpec, Request};
    use pippin_model::result::StepMeasured;
    use pippin_model::trial::TrialRecord;

    fn with(parts: &[(f64, u64)]) -> TrialRecord {
        let mut service_time = Histogram::new();
        for (ms, count) in parts {
            for i in 0..*count {
                // Uniform within 2 % of it.
                service_time.record((ms * 1e6 * (0.98 + 0.04 * i as f64 / *count as f64)) as u64);
            }
        }
        let mut record = ExampleTrial::hello().build();
        record.load.as_mut().unwrap().measured.spans.service_time = service_time;
        record
    }

    #[test]
    fn two_humps_are_seen_and_a_tail_is_not() {
        let found = judged(judge, &with(&[(1.0, 6_000), (9.0, 4_000)])).unwrap();
        assert!(
            found.evidence.contains("60.0 % around") && found.evidence.contains("40.0 % around"),
            "{}",
            found.evidence
        );
        assert_eq!(judged(judge, &with(&[(1.0, 9_200), (9.0, 800)])), None);
        assert_eq!(judged(judge, &with(&[(1.0, 6_000), (1.5, 4_000)])), None);
    }

    #[test]
    fn several_rates_have_several_times() {
        let mut overload = with(&[(1.0, 6_000), (9.0, 4_000)]);
        assert!(judged(judge, &overload).is_some());
        overload.spec.profile = example::overload().trials.remove(0).spec.profile;
        assert_eq!(judged(judge, &overload), None);
    }

    /// Requests of which the first of each batch take as long as `first` says.
    fn in_batches(first: &[(f64, u64)], others: &[(f64, u64)]) -> TrialRecord {
        let mut record = with(&[first, others].concat());
        let first = with(first).load.unwrap().measured.spans.service_time;
        record.load.as_mut().unwrap().measured.spans.first_in_batch = first;
        record
    }

    #[test]
    fn modes_that_batches_explain_are_no_doubt_about_the_server() {
        let id = |record: &TrialRecord| judged(judge, record).map(|it| (it.id, it.severity));
        let bimodal = Some(("bimodal".to_string(), Severity::Suspect));
        let found = judged(judge, &in_batches(&[(0.017, 1_300)], &[(0.106, 8_700)])).unwrap();
        assert_eq!((found.id.as_str(), found.severity), ("batches", Severity::Note));
        assert!(found.evidence.contains("13.0 % of the requests"), "{}", found.evidence);
        // A server whose answers are of two kinds, wherever they stand in a batch.
        let both = in_batches(&[(0.017, 700), (0.106, 300)], &[(0.017, 6_300), (0.106, 2_700)]);
        assert_eq!(id(&both), bimodal);
        let others = in_batches(&[(0.017, 1_300)], &[(0.017, 4_350), (0.106, 4_350)]);
        assert_eq!(id(&others), bimodal, "more than the first are fast");
        let slow = in_batches(&[(0.106, 1_300)], &[(0.017, 8_700)]);
        assert_eq!(id(&slow), bimodal, "what is first is slow");
        let alone = in_batches(&[(0.017, 1_300), (0.106, 2_000)], &[(0.106, 6_700)]);
        assert_eq!(id(&alone), id(&in_batches(&[(0.017, 1_300)], &[(0.106, 8_700)])));
        let some = in_batches(&[(0.017, 1_300), (0.106, 2_000)], &[(0.017, 200), (0.106, 6_500)]);
        assert_eq!(id(&some), bimodal, "two of 15 fast ones are not the first");
        let few = in_batches(&[(0.017, 2_700)], &[(0.106, 300)]);
        assert_eq!(id(&few), bimodal, "too few others to have a shape");
        assert_eq!(id(&in_batches(&[(0.1, 1_300)], &[(0.106, 8_700)])), None, "one mode");
    }

    fn bodies(parts: &[(f64, u64)]) -> pippin_model::trial::TrialRecord {
        let mut record = with(parts);
        let spans = &mut record.load.as_mut().unwrap().measured.spans;
        (spans.body, spans.service_time) = (spans.service_time.clone(), Histogram::new());
        record
    }

    #[test]
    fn forty_milliseconds_are_seen_and_thirty_are_not() {
        let found = judged(judge_delayed_ack, &bodies(&[(0.001, 9_500), (41.0, 500)])).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let seen = "5.0 % of the bodies came 38 to 47 ms after their head, others at once";
        assert_eq!(found.evidence, seen);
        // Most bodies: only the first ones of each connection are acknowledged at once.
        assert!(judged(judge_delayed_ack, &bodies(&[(0.001, 500), (41.0, 9_500)])).is_some());
        assert_eq!(judged(judge_delayed_ack, &bodies(&[(0.001, 9_500), (30.0, 500)])), None);
        assert_eq!(
            judged(judge_delayed_ack, &bodies(&[(0.001, 9_950), (41.0, 50)])),
            None,
            "less than 1 %"
        );
    }

    #[test]
    fn a_queue_of_forty_milliseconds_is_not_a_delayed_acknowledgement() {
        // A lock with 100 connections: all answers take 42 ms, head and body together.
        let mut queue = with(&[(42.0, 10_000)]);
        queue.load.as_mut().unwrap().measured.spans.body.record_n(0, 10_000);
        assert_eq!(judged(judge_delayed_ack, &queue), None);
    }

    #[test]
    fn every_body_may_be_late_if_it_is_short() {
        let mut all = bodies(&[(43.0, 10_000)]);
        let seen = judged(judge_delayed_ack, &all).unwrap().evidence;
        assert_eq!(seen, "100 % of the bodies came 38 to 47 ms after their head");
        all.load.as_mut().unwrap().measured.bytes.body = 300_000 * 100_000;
        assert_eq!(judged(judge_delayed_ack, &all), None, "100 kB each");
    }

    #[test]
    fn kinds_of_requests_are_expected_to_differ() {
        let mut mixed = with(&[(1.0, 8_000), (100.0, 2_000)]);
        assert!(judged(judge, &mixed).is_some());
        let list = || vec![Request::get("/a", "localhost"), Request::get("/b", "localhost")];
        mixed.load_spec = Some(LoadSpec { requests: list().into(), ..LoadSpec::default() });
        assert_eq!(judged(judge, &mixed), None);
        let step = |name: &str, parts: &[(f64, u64)]| StepMeasured {
            name: name.into(),
            service_time: with(parts).load.unwrap().measured.spans.service_time,
            ..StepMeasured::default()
        };
        let steps = &mut mixed.load.as_mut().unwrap().measured.steps;
        *steps = vec![step("a", &[(1.0, 8_000)]), step("b", &[(100.0, 2_000)])];
        assert_eq!(judged(judge, &mixed), None);
        let steps = &mut mixed.load.as_mut().unwrap().measured.steps;
        steps[1] = step("b", &[(1.0, 1_000), (100.0, 1_000)]);
        let seen = judged(judge, &mixed).unwrap().evidence;
        assert!(seen.starts_with("service times of `b` in 2 modes"), "{seen}");
    }
}
