//! INVALID: the offered rate was not achieved. NOTE in a capacity search and at several rates, which
//! look for this; SUSPECT if the target does not keep up with the first of several.
use pippin_model::plan::profile::Arrivals;
use pippin_model::schedule::stages;
use pippin_model::text::units::{counted, format_count};
use pippin_model::verdict::Severity;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, percent, whole};
use crate::judge::option_source::OptionSource;
use crate::scalability::ladder;
use crate::series::steady::measured_windows;

/// The fraction of due requests that may stay unsent, and by which the schedule may fall short of
/// the rate.
const UNSENT_LIMIT: f64 = 0.01;
/// The fraction of due requests that may pile up unanswered, beyond those that are always in
/// progress.
const BACKLOG_LIMIT: f64 = 0.05;

/// Whether fewer requests were due, sent or answered than the rate requires.
pub fn judge(evidence: &Evidence) -> Answer {
    evidence.needs_measured()?;
    let Some(offered) = evidence.offered_per_s() else { return Ok(None) };
    if evidence.duration_s().is_none() {
        return Err(Unknown::because("the length of the measured part is not known"));
    }
    let missed = schedule_missed(evidence, offered)
        .or_else(|| unsent(evidence, offered))
        .or_else(|| backlog(evidence, offered));
    let Some(seen) = missed else { return Ok(None) };
    let seen = format!("{seen}{}", since(evidence).unwrap_or_default());
    Ok(Some(caveat(
        "rate_not_achieved",
        severity(evidence),
        seen,
        advice(evidence.option_source()),
    )))
}

fn severity(evidence: &Evidence) -> Severity {
    let is_rates = evidence.profile().is_rates();
    match evidence.goes_beyond() {
        true => Severity::Note,
        false if is_rates && ladder::leaves(evidence.record).is_some() => Severity::Suspect,
        // The share is a figure of the step.
        false if is_rates => Severity::Note,
        false => Severity::Invalid,
    }
}

fn advice(asked: OptionSource) -> String {
    let how = asked.words(
        "lower the rate (-R), or allow more connections (-c)",
        "lower the rate, or allow more connections",
    );
    let search = match asked {
        OptionSource::Load => "; --objective finds the highest rate that holds",
        OptionSource::Plan => "; kind = \"capacity\" finds the highest rate that holds",
        OptionSource::Compare => "",
    };
    format!("{how}: at this rate the times describe a growing queue{search}")
}

/// If the rate changes: when answers began to fall behind, and at which rate.
fn since(evidence: &Evidence) -> Option<String> {
    // Answers of walks that began say nothing about walks that did not.
    let stages = evidence.shape().filter(|_| evidence.profile().walk_steps.is_none())?;
    let mut missing = 0.0;
    for window in measured_windows(evidence.load()?) {
        let from_ns = window.from_ns.max(0) as u64;
        let to_ns = from_ns + window.duration_ns;
        let due = stages::due_between(stages, from_ns, to_ns);
        missing += due - window.completed as f64;
        // Answers may come one window later. If more are missing, they have piled up.
        if due > 0.0 && missing > due {
            return Some(format!(
                "; a second's worth of requests was without an answer after {:.0} s, at {} requests/s",
                to_ns as f64 / 1e9,
                format_count(stages::rate_at(stages, to_ns))
            ));
        }
    }
    None
}

fn schedule_missed(evidence: &Evidence, offered: f64) -> Option<String> {
    let scheduled = scheduled(evidence)?;
    let due = offered * evidence.duration_s()?;
    let chance = match evidence.profile().schedule.arrivals() {
        // Five standard deviations of a Poisson count.
        Some(Arrivals::Poisson) => 5.0 * due.sqrt(),
        _ => 2.0 * evidence.stretches(),
    };
    let unit = evidence.profile().arrivals();
    (scheduled < due * (1.0 - UNSENT_LIMIT) - chance).then(|| {
        format!(
            "only {} {unit} were due in the measured part, where {} {unit}/s make {}",
            whole(scheduled),
            format_count(offered),
            whole(due)
        )
    })
}

/// Arrivals that were due in the measured part: requests, or walks. The first request of a walk may
/// still be under way at the end.
fn scheduled(evidence: &Evidence) -> Option<f64> {
    let measured = evidence.measured()?;
    let requests = measured.requests;
    let begun = measured.walks().filter_map(|steps| steps.first());
    let begun = begun.map(|first| first.completed + first.failed).reduce(|all, one| all + one);
    let scheduled = match (evidence.profile().walk_steps, begun) {
        (Some(_), Some(begun)) => begun + requests.censored + requests.unsent,
        _ => requests.scheduled,
    };
    Some(scheduled as f64)
}

fn unsent(evidence: &Evidence, offered: f64) -> Option<String> {
    let requests = evidence.measured()?.requests;
    let scheduled = scheduled(evidence)?;
    let fraction = requests.unsent as f64 / scheduled.max(1.0);
    let sent = (scheduled - requests.unsent as f64) / evidence.duration_s()?;
    let unit = evidence.profile().arrivals();
    (fraction > UNSENT_LIMIT).then(|| {
        format!(
            "sent {} of {} {unit}/s offered; {} of the {unit} were never sent (limit 1 %)",
            format_count(sent),
            format_count(offered),
            percent(fraction)
        )
    })
}

fn backlog(evidence: &Evidence, offered: f64) -> Option<String> {
    let measured = evidence.measured()?;
    let requests = measured.requests;
    let each = evidence.profile().walk_steps.unwrap_or(1.0);
    let at_the_end = offered.max(evidence.offered_at_the_end_per_s()?);
    let at_each_end = 2.0 * at_the_end * each * measured.spans.response_time.min_ns()? as f64 / 1e9;
    let under_way_anyway = at_each_end * evidence.stretches();
    let piled_up = requests.censored as f64;
    (piled_up > BACKLOG_LIMIT * requests.scheduled as f64 + under_way_anyway).then(|| {
        format!(
            "answered {} of {} requests/s offered; still unanswered at the end: {}",
            format_count(measured.throughput_per_s().unwrap_or(0.0)),
            format_count(offered * each),
            counted(requests.censored, "request")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::plan::profile::{Profile, Stage};
    use pippin_model::result::StepMeasured;

    #[test]
    fn unsent_requests_and_a_backlog_are_seen() {
        let unsent = ExampleTrial::open(10_000.0).unsent(6_000).build();
        assert!(
            judged(judge, &unsent)
                .unwrap()
                .evidence
                .contains("2.0 % of the requests were never sent")
        );
        let backlog = ExampleTrial::open(10_000.0).censored(20_000).build();
        assert!(
            judged(judge, &backlog)
                .unwrap()
                .evidence
                .ends_with("still unanswered at the end: 20,000 requests")
        );
        let missed = ExampleTrial::open(10_000.0).completed(290_000).build();
        assert!(
            judged(judge, &missed).unwrap().evidence.contains("only 290,000 requests were due")
        );
    }

    #[test]
    fn a_few_unsent_and_those_under_way_are_not() {
        assert_eq!(judged(judge, &ExampleTrial::open(10_000.0).unsent(2_900).build()), None);
        assert_eq!(judged(judge, &ExampleTrial::open(10_000.0).censored(40).build()), None);
        assert_eq!(judged(judge, &ExampleTrial::hello().censored(10).build()), None);
        // An upstream of 2 s: 20,000 are in progress at any instant.
        assert_eq!(
            judged(
                judge,
                &ExampleTrial::open(10_000.0).response_ms(2_000.0).censored(20_000).build()
            ),
            None
        );
    }

    /// 10,000 walks/s of 2 steps for 30 s: if 1 % of all requests is unsent, that is 2 % of the
    /// walks.
    #[test]
    fn walks_that_never_began_are_told_as_walks() {
        let walks = |unsent: u64| {
            let mut record = ExampleTrial::open(10_000.0).unsent(unsent).build();
            record.spec.profile.walk_steps = Some(2.0);
            let measured = &mut record.load.as_mut().unwrap().measured;
            let step = |name: &str| StepMeasured {
                name: name.into(),
                completed: 300_000 - unsent,
                ..StepMeasured::default()
            };
            measured.steps = vec![step("a"), step("b")];
            measured.requests.scheduled += 300_000 - unsent;
            judged(judge, &record)
        };
        assert_eq!(walks(2_900), None);
        let evidence = walks(6_000).unwrap().evidence;
        assert!(
            evidence.contains("sent 9,800 of 10,000 walks/s offered; 2.0 % of the walks"),
            "{evidence}"
        );
    }

    /// The rate rises from 100 to 300 requests/s in 10 s, and the target answers at most so many.
    #[test]
    fn of_a_rate_that_changes_it_is_said_from_when_on() {
        let rising = |most_per_s: f64| {
            let stage = Stage { duration_ns: 10_000_000_000, from_per_s: 100.0, to_per_s: 300.0 };
            let profile = Profile::staged(vec![stage], Arrivals::Constant, 10);
            let answered = move |second: u32| (110.0 + 20.0 * f64::from(second)).min(most_per_s);
            let completed = (0..10).map(answered).sum::<f64>() as u64;
            let trial = ExampleTrial::from_profile(&profile, None).completed(completed);
            judged(judge, &trial.unsent(2_000 - completed).windows(answered).build())
        };
        let seen = rising(150.0).unwrap().evidence;
        assert_eq!(
            seen,
            "sent 144 of 200 requests/s offered; 28.0 % of the requests were never sent (limit 1 %); a second's worth of requests was without an answer after 8 s, at 260 requests/s"
        );
        assert_eq!(rising(300.0), None);
        let constant = judged(judge, &ExampleTrial::open(10_000.0).unsent(6_000).build()).unwrap();
        assert!(!constant.evidence.contains("a second's worth"), "{}", constant.evidence);
    }

    #[test]
    fn in_a_search_it_is_the_finding() {
        let step = ExampleTrial::search_step(10_000.0).unsent(60_000).build();
        assert_eq!(judged(judge, &step).unwrap().severity, Severity::Note);
    }
}
