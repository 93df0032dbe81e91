//! SUSPECT: users waited for an answer that never came, longer than any answer took.
use pippin_model::result::Measured;
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, whole};

/// A request without an answer hangs if it is this many times as old as the longest answer.
const TIMES_LONGEST: f64 = 2.0;
/// ... and at least so old, nanoseconds.
const YOUNGEST_NS: f64 = 250e6;

/// Requests that hang.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hanging {
    count: u64,
    oldest_ns: u64,
    longest_answer_ns: Option<u64>,
}

/// Whether requests were open at the end of the load that are far older than the longest answer. No
/// quantile holds them.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let hanging = hanging(evidence.measured()?)?;
    let severity = if evidence.goes_beyond() { Severity::Note } else { Severity::Suspect };
    let advice = "the server leaves requests without an answer (a handler that never ends, a lost wake-up, a connection that nobody serves; `ss -tn` shows which): quantiles hold only what was answered";
    Some(caveat("unanswered", severity, words(evidence, &hanging), advice))
}

/// How many requests were open at the end that are far older than the longest answer.
pub(crate) fn count(measured: &Measured) -> u64 {
    hanging(measured).map_or(0, |hanging| hanging.count)
}

fn hanging(measured: &Measured) -> Option<Hanging> {
    let spans = &measured.spans;
    let longest_answer_ns = spans.response_time.max_ns();
    let limit_ns = YOUNGEST_NS.max(TIMES_LONGEST * longest_answer_ns.unwrap_or(0) as f64);
    let younger = spans.open_age.fraction_at_or_below(limit_ns as u64)?;
    let count = ((1.0 - younger) * spans.open_age.count() as f64).round() as u64;
    (count > 0).then_some(Hanging { count, oldest_ns: spans.open_age.max_ns()?, longest_answer_ns })
}

fn words(evidence: &Evidence, hanging: &Hanging) -> String {
    let Hanging { count, oldest_ns, longest_answer_ns } = *hanging;
    let longest = match longest_answer_ns {
        Some(ns) => format!("the longest answer took {}", format_ns(ns)),
        None => "there was no answer at all".into(),
    };
    let has_begun =
        evidence.measured().is_some_and(|measured| measured.by_connection.with_head_only > 0);
    let never = if has_begun { "whose head came, and that never ended" } else { "that never came" };
    let waited = format!("waited up to {} for an answer {never}", format_ns(oldest_ns));
    let is_one_each =
        evidence.is_closed_loop() && evidence.pipeline() == 1 && evidence.user_stages().is_none();
    let users = evidence.senders().filter(|_| is_one_each && evidence.stretches() == 1.0);
    let Some(users) = users else {
        return format!("{} {waited}; {longest}", counted(count, "request"));
    };
    match lucky(evidence) {
        Some(lucky) => format!(
            "{lucky} of {} users got all answers: {count} {waited}; {longest}",
            whole(users)
        ),
        None => format!("{count} of {} users {waited}; {longest}", whole(users)),
    }
}

/// The users that got all answers, if they are fewer than those that got none.
fn lucky(evidence: &Evidence) -> Option<u64> {
    let by_connection = &evidence.measured()?.by_connection;
    let with: u64 = by_connection.groups.values().map(|group| group.connections).sum();
    (with > 0 && with < by_connection.without_answer).then_some(with)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::ByConnection;
    use pippin_model::trial::TrialRecord;

    /// 64 users, answers of up to 7.7 ms, and `hung` requests of this age at the end.
    fn with(hung: u64, age_ms: u64) -> TrialRecord {
        let mut record = ExampleTrial::hello().connections(64).build();
        let spans = &mut record.load.as_mut().unwrap().measured.spans;
        spans.open_age.record_n(3_000_000, 64 - hung);
        spans.open_age.record_n(age_ms * 1_000_000, hung);
        record
    }

    #[test]
    fn two_of_64_are_seen_whatever_the_quantiles_say() {
        let found = judged(judge, &with(2, 5_000)).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(
            found.evidence.starts_with(
                "2 of 64 users waited up to 5.00 s for an answer that never came; the longest answer took 7."
            ),
            "{}",
            found.evidence
        );
        let open = ExampleTrial::open(100.0).build();
        let mut hung = open.clone();
        hung.load.as_mut().unwrap().measured.spans.open_age.record_n(900_000_000, 3);
        assert_eq!(judged(judge, &open), None);
        assert!(judged(judge, &hung).unwrap().evidence.starts_with("3 requests waited up to"));
    }

    #[test]
    fn what_is_under_way_as_usual_is_not() {
        assert_eq!(judged(judge, &with(0, 0)), None);
        assert_eq!(judged(judge, &with(2, 200)), None, "below a quarter of a second");
        let mut slow = with(2, 5_000);
        slow.load.as_mut().unwrap().measured.spans.response_time.record(4_000_000_000);
        assert_eq!(judged(judge, &slow), None, "answers take as long");
    }

    #[test]
    fn what_never_began_is_told_from_what_never_ended() {
        let mut silent = with(64, 5_000);
        let measured = &mut silent.load.as_mut().unwrap().measured;
        measured.spans.response_time.clear();
        let seen = judged(judge, &silent).unwrap().evidence;
        let never = "64 of 64 users waited up to 5.00 s for an answer that never came";
        assert_eq!(seen, format!("{never}; there was no answer at all"));
        silent.load.as_mut().unwrap().measured.by_connection.with_head_only = 64;
        let seen = judged(judge, &silent).unwrap().evidence;
        assert!(seen.contains("for an answer whose head came, and that never ended;"), "{seen}");
    }

    #[test]
    fn one_user_who_gets_all_answers_is_the_servers_doing() {
        let mut record = with(63, 5_000);
        let by_connection = &mut record.load.as_mut().unwrap().measured.by_connection;
        *by_connection = ByConnection { without_answer: 63, ..ByConnection::default() };
        by_connection.add(300_000, 300_000 * 100_000, 300_000);
        let found = judged(judge, &record).unwrap().evidence;
        assert!(
            found.starts_with("1 of 64 users got all answers: 63 waited up to 5.00 s"),
            "{found}"
        );
    }
}
