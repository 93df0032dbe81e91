//! SUSPECT: answers that send the client elsewhere.
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent, whole};

/// The name of its caveat.
pub const ID: &str = "redirects";
/// The status codes that send a client to another place (RFC 9110 section 15.4).
const REDIRECTIONS: [u16; 5] = [301, 302, 303, 307, 308];
/// The share of redirections above which the load measured something else than was asked for.
const LIMIT: f64 = 0.01;

/// What stands between the counts of redirections and the place that the first one leads to.
const PLACE: &str = ", the first to ";

/// Removes the place that redirections lead to from this caveat, where it must not be told.
pub fn without_place(caveat: &mut Caveat) {
    if caveat.id == ID {
        let end = caveat.evidence.find(PLACE).unwrap_or(caveat.evidence.len());
        caveat.evidence.truncate(end);
    }
}

/// Whether more than 1 % of the answers are redirections, although no request expects one. Such
/// answers pass a check that names no status, and cost a server next to nothing.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    judge_record(evidence.record)
}

/// As [`judge`], without a context.
pub(crate) fn judge_record(record: &TrialRecord) -> Option<Caveat> {
    let measured = &record.load.as_ref()?.measured;
    let counts: Vec<(u16, u64)> = REDIRECTIONS
        .into_iter()
        .filter_map(|code| Some((code, *measured.status.codes.get(&code)?)))
        .collect();
    let redirected: u64 = counts.iter().map(|(_, count)| count).sum();
    let share = redirected as f64 / measured.requests.completed.max(1) as f64;
    if share <= LIMIT || are_expected(record) {
        return None;
    }
    let codes: Vec<String> =
        counts.iter().map(|(code, count)| format!("{code}: {}", whole(*count as f64))).collect();
    let place = measured.redirected_to.as_deref().map_or(String::new(), |place| {
        // What follows the path may be a secret, and caveats are kept.
        format!("{PLACE}{}", place.split(['?', '#']).next().unwrap_or_default())
    });
    let seen =
        format!("{} of the answers are redirections ({}){place}", percent(share), codes.join(", "));
    let advice = "load the place that they lead to; if you mean to measure redirections, say so with `--expect-status` (`expect_status` in a file of requests)";
    Some(caveat(ID, Severity::Suspect, seen, advice))
}

/// Whether a request of the load expects a redirection by its status, or the load follows them.
fn are_expected(record: &TrialRecord) -> bool {
    let expects = |status: &u16| (300..400).contains(status);
    record.load_spec.as_ref().is_some_and(|spec| {
        // Those that were followed are right, and all others are errors.
        spec.follow > 0
            || spec.requests.iter().any(|request| request.check.status.iter().any(expects))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::load::{Check, LoadSpec, Request};

    fn answered(codes: &[(u16, u64)]) -> TrialRecord {
        let mut record = ExampleTrial::hello().build();
        let measured = &mut record.load.as_mut().unwrap().measured;
        measured.requests.completed = codes.iter().map(|(_, count)| count).sum();
        measured.status.codes = codes.iter().copied().collect();
        measured.redirected_to = Some("https://a.example/login?token=secret".into());
        record
    }

    #[test]
    fn redirections_that_nobody_expects_are_named_with_their_place_and_without_its_secrets() {
        let found = judged(judge, &answered(&[(200, 500), (302, 400), (307, 100)])).unwrap();
        assert_eq!(
            found.evidence,
            "50.0 % of the answers are redirections (302: 400, 307: 100), the first to https://a.example/login"
        );
        assert_eq!(judged(judge, &answered(&[(200, 990), (301, 10)])), None);
        assert_eq!(judged(judge, &answered(&[(304, 1_000)])), None, "304 leads nowhere");
    }

    #[test]
    fn a_redirection_that_was_asked_for_is_right() {
        let mut record = answered(&[(301, 1_000)]);
        let check = Check { status: vec![301], ..Check::default() };
        let request = Request { check, ..Request::get("/", "a.example") };
        record.load_spec = Some(LoadSpec { requests: vec![request].into(), ..LoadSpec::default() });
        assert_eq!(judged(judge, &record), None);
    }
}
