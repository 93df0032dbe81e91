//! INVALID: Little's law does not hold, so users, throughput and times do not fit together.
use pippin_model::result::{ErrorKind, Measured};
use pippin_model::schedule::users;
use pippin_model::text::units::{counted, format_count, format_ns};
use pippin_model::verdict::Severity;

use crate::bottleneck::littles_law::{LittlesLaw, SHORTEST_S};
use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, percent};

/// Whether `N = X * (R + Z + held)` is missed by more than 5 % plus what the start and end of the
/// measured part explain, in closed loops and device loads. An open loop has no fixed number of
/// users. Users whose connection could not be opened, or whose request broke off, are in no
/// recorded request. If they are more than 1 %, the caveat `errors` is enough.
pub fn judge(evidence: &Evidence) -> Answer {
    let measured = evidence.needs_measured()?;
    if evidence.offered_per_s().is_some() || unrecorded(measured) > UNRECORDED_LIMIT {
        return Ok(None);
    }
    // Without a request there are no users to count; `no_answers` says so.
    if measured.requests.completed == 0 {
        return Ok(None);
    }
    let law = law(evidence, measured)
        .ok_or_else(|| Unknown::because("users or response times are not known"))?;
    let Some(deviation) = law.violation() else {
        return if law.duration_s < SHORTEST_S {
            Err(Unknown::because("measured for less than 0.25 s, too short for Little's law"))
        } else {
            Ok(None)
        };
    };
    let seen = format!(
        "{}, but {} answers/s x {} account for {} ({}; limit 5 %)",
        counted(law.users.round() as u64, "user"),
        format_count(law.recorded / law.duration_s),
        format_ns(((law.response_time_s + law.think_s + law.held_s) * 1e9) as u64),
        format_count(law.accounted_for()),
        percent(deviation)
    );
    Ok(Some(caveat(
        "littles_law",
        Severity::Invalid,
        seen,
        "users were idle, counted twice or not yet accepted (`ss -ltn` shows the listen queue): see reconnects and errors, and measure again; if it persists, report it",
    )))
}

/// The fraction of attempts that may be missing from the histograms.
const UNRECORDED_LIMIT: f64 = 0.01;

fn unrecorded(measured: &Measured) -> f64 {
    let before_sending: u64 =
        measured.errors.iter().filter(|(kind, _)| kind.is_before_sending()).map(|(_, n)| n).sum();
    let timeouts = measured.errors.get(&ErrorKind::Timeout).copied().unwrap_or(0);
    let broken = measured.requests.failed.saturating_sub(timeouts) + before_sending;
    broken as f64 / (measured.requests.sent + before_sending).max(1) as f64
}

fn law(evidence: &Evidence, measured: &Measured) -> Option<LittlesLaw> {
    let times = &measured.spans.response_time;
    let connections = evidence.senders()?;
    let mut law = LittlesLaw {
        users: connections,
        recorded: times.count() as f64,
        response_time_s: times.mean_ns()? / 1e9,
        response_stdev_s: times.stdev_ns()? / 1e9,
        think_s: evidence.mean_think_ns() / 1e9,
        held_s: evidence.own_lag_ns().unwrap_or(0.0) / 1e9,
        held_stdev_s: measured.spans.own_lag.stdev_ns().unwrap_or(0.0) / 1e9,
        open_s: open_s(evidence, measured),
        duration_s: evidence.duration_s()?,
        stretches: evidence.stretches() * turns_of_users(evidence),
    };
    // A pipelined row is sent again when its last answer has arrived, so between one and all of its
    // requests are under way on average.
    let most = connections * f64::from(evidence.pipeline());
    law.users = law.accounted_for().clamp(connections, most);
    Some(law)
}

/// How often each user begins and ends within a stretch: once, unless users come and go. Who goes
/// finishes its request first, or its walk.
fn turns_of_users(evidence: &Evidence) -> f64 {
    let Some(stages) = evidence.user_stages() else { return 1.0 };
    let longest = |measured: &Measured| measured.walks().map(<[_]>::len).max();
    let steps = evidence.measured().and_then(longest).unwrap_or(1);
    (users::comings(stages) as f64 / users::mean(stages)).max(1.0) * steps as f64
}

/// The seconds that users waited within the measured part for answers that did not come. A request
/// that hangs since the warm-up counts from the begin of the measured part, or of its slice.
fn open_s(evidence: &Evidence, measured: &Measured) -> f64 {
    let length = measured.duration_ns as f64 / evidence.stretches();
    let each = measured.spans.open_age.buckets();
    each.map(|(ns, count)| (ns as f64).min(length) * count as f64).sum::<f64>() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::scenario::walked;
    use pippin_model::plan::profile::Profile;
    use pippin_model::schedule::Schedule;

    #[test]
    fn the_thoughts_of_steps_count_as_often_as_the_steps() {
        // 0.9 ms plus 0.2 ms after every second answer make up the 1 ms that each of 10 users has.
        let trial = || ExampleTrial::hello().response_ms(0.9).build();
        assert_eq!(judged(judge, &walked(trial(), &[Some(200_000), None])), None);
        assert!(judged(judge, &walked(trial(), &[None, None])).is_some());
    }

    /// 10 users come within 10 s and go within 10 s: 5.5 on average, and not 10.
    #[test]
    fn users_that_have_not_come_are_not_missing() {
        let with = |response_ms| {
            let mut record = ExampleTrial::hello().response_ms(response_ms).build();
            let stages = users::parse("10@10s,0@10s").unwrap();
            record.spec.profile = Profile::users(stages, None);
            record.load_spec = None;
            judged(judge, &record)
        };
        // 10,000/s of 5.5 users take 0.55 ms.
        assert_eq!(with(0.55), None);
        assert!(with(0.45).unwrap().evidence.starts_with("6 users, but"));
        assert!(with(1.0).is_some());
    }

    #[test]
    fn times_that_do_not_fit_are_seen() {
        // 10 users at 10,000/s must take 1 ms each.
        let found = judged(judge, &ExampleTrial::hello().response_ms(0.9).build()).unwrap();
        assert!(
            found.severity == Severity::Invalid
                && found.evidence.contains("account for 9.00 (-10.0 %"),
            "{}",
            found.evidence
        );
        assert!(judged(judge, &ExampleTrial::hello().response_ms(1.1).build()).is_some());
    }

    #[test]
    fn users_who_never_get_an_answer_are_the_servers_doing() {
        // One of ten users gets all answers, in 0.1 ms each.
        let mut record = ExampleTrial::hello().response_ms(0.1).build();
        assert!(judged(judge, &record).is_some());
        let spans = &mut record.load.as_mut().unwrap().measured.spans;
        spans.open_age.record_n(32_000_000_000, 9);
        assert_eq!(judged(judge, &record), None);
    }

    /// Over a unix socket the kernel stamps nothing. Even there, on a busy machine, the generator
    /// waits between reading an answer and sending the next request.
    #[test]
    fn what_the_generator_held_counts_without_stamps_too() {
        const ALL: u64 = 300_000;
        let users_of = |response_ms, own_lag_ms, unstamped| {
            let trial = ExampleTrial::hello().response_ms(response_ms).own_lag_ms(own_lag_ms);
            judged(judge, &trial.unstamped(unstamped).build())
        };
        assert_eq!(users_of(0.9, 0.1, 0), None);
        assert_eq!(users_of(0.9, 0.1, ALL), None);
        assert!(users_of(0.9, 0.0, ALL).is_some());
        assert!(users_of(1.0, 0.2, ALL).is_some(), "counted twice");
    }

    /// 0.4 s and two thoughts of 0.9 s among three answers are the second that each device has.
    #[test]
    fn a_device_does_not_think_after_its_last_answer() {
        let mut trial = ExampleTrial::devices(100).response_ms(400.0).build();
        assert!(judged(judge, &trial).is_some(), "with 100 answers each");
        let Schedule::Devices { requests_per_device, .. } = &mut trial.spec.profile.schedule else {
            panic!("devices")
        };
        *requests_per_device = 3;
        assert_eq!(judged(judge, &trial), None);
    }

    #[test]
    fn times_that_nearly_fit_and_open_loops_are_silent() {
        assert_eq!(judged(judge, &ExampleTrial::hello().response_ms(0.96).build()), None);
        assert_eq!(judged(judge, &ExampleTrial::open(10_000.0).response_ms(0.3).build()), None);
        assert_eq!(judged(judge, &ExampleTrial::devices(100).build()), None, "with think time");
        let broken = ExampleTrial::hello()
            .response_ms(0.9)
            .error(ErrorKind::CloseBeforeAnswer, 30_000)
            .build();
        assert_eq!(
            judged(judge, &broken),
            None,
            "30,000 users were in requests whose time is not known"
        );
        for ms in [1.0, 2.5, 4.0] {
            let pipelined = ExampleTrial::hello().pipeline(4).response_ms(ms).build();
            assert_eq!(judged(judge, &pipelined), None, "{ms} ms");
        }
        for ms in [0.9, 4.4] {
            let pipelined = ExampleTrial::hello().pipeline(4).response_ms(ms).build();
            assert!(judged(judge, &pipelined).is_some(), "{ms} ms");
        }
    }
}
