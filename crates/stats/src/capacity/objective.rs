//! Whether a step of a capacity search kept its objective.
use pippin_model::plan::objective::{Bound, Objective};
use pippin_model::result::Measured;
use pippin_model::text::units::{format_ns, format_whole};

use crate::rank::due::share_within;

/// The fraction of due requests that may stay unsent; the same as for the caveat
/// `rate_not_achieved`.
const UNSENT_LIMIT: f64 = 0.01;

/// The limits that were missed; empty if every limit held and the rate was sent.
///
/// Requests that were never sent or broke off missed every limit on the response time. So did those
/// unanswered at the end, except as many as can have been due within the limit before the end
/// ([`share_within`]). An answer that is not right is never within a limit.
#[must_use]
pub fn misses(objective: &Objective, measured: &Measured) -> Vec<String> {
    let mut missed: Vec<String> =
        objective.0.iter().filter_map(|bound| miss(bound, measured)).collect();
    let requests = measured.requests;
    let unsent = requests.unsent as f64 / requests.scheduled.max(1) as f64;
    if unsent > UNSENT_LIMIT {
        missed.push(format!("{:.1} % of the requests were never sent", unsent * 100.0));
    }
    if requests.completed == 0 {
        missed.push("nothing was answered".into());
    } else if requests.good == 0 {
        missed.push("no answer was right".into());
    }
    if let Some(wrong) = wrong(measured).filter(|_| !missed.is_empty()) {
        missed.push(wrong);
    }
    missed
}

/// The kinds of answers and requests that do not count, the most frequent first; `None` if all were
/// right.
fn wrong(measured: &Measured) -> Option<String> {
    let codes = measured.status.codes.range(300..).map(|(code, n)| (format!("status {code}"), *n));
    let kinds = measured.errors.iter().map(|(kind, count)| (kind.name().to_string(), *count));
    let mut seen: Vec<(String, u64)> = kinds.chain(codes).filter(|(_, count)| *count > 0).collect();
    seen.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let each: Vec<String> =
        seen.iter().map(|(name, count)| format!("{} {name}", format_whole(*count))).collect();
    (measured.errors_total() > 0).then(|| format!("errors and answers: {}", each.join(", ")))
}

fn miss(bound: &Bound, measured: &Measured) -> Option<String> {
    match bound {
        Bound::Errors { below } => {
            let fraction = measured.error_fraction()?;
            (fraction >= *below).then(|| {
                format!("errors {:.3} % (objective below {:.3} %)", fraction * 100.0, below * 100.0)
            })
        }
        Bound::ResponseTime { quantile, below_ns } => {
            let share = share_within(measured, *below_ns)?;
            (share < *quantile).then(|| {
                format!(
                    "{:.2} % of the requests had a right answer within {} (objective {:.2} %)",
                    share * 100.0,
                    format_ns(*below_ns),
                    quantile * 100.0
                )
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::ErrorKind;

    fn missed(text: &str, record: ExampleTrial) -> Vec<String> {
        misses(&Objective::parse(text).unwrap(), &record.build().load.unwrap().measured)
    }

    #[test]
    fn bounds_hold_and_are_missed() {
        // The builder's times lie between 80 and 120 % of 1 ms.
        let step = || ExampleTrial::search_step(10_000.0);
        assert!(missed("p50 < 1.1ms, p99 < 1.2ms, errors < 0.1%", step()).is_empty());
        assert_eq!(
            missed("p99 < 1.1ms", step()),
            ["75.00 % of the requests had a right answer within 1.10 ms (objective 99.00 %)"]
        );
        assert_eq!(
            missed("errors < 0.1%", step().error(ErrorKind::WrongStatus, 3_000)),
            ["errors 1.000 % (objective below 0.100 %)", "errors and answers: 3,000 wrong_status"]
        );
    }

    #[test]
    fn what_is_not_in_yet_counts_as_late() {
        let step = || ExampleTrial::search_step(10_000.0);
        assert_eq!(missed("p99 < 50ms", step().censored(30_000)).len(), 1);
        assert_eq!(missed("p99 < 100ms, errors < 0.1%", step().hung(9_000)).len(), 1);
        assert!(
            missed("p99 < 50ms", step().censored(400)).is_empty(),
            "40 ms' worth of requests are in progress at any time"
        );
        assert_eq!(
            missed("p50 < 50ms", step().unsent(6_000)),
            ["2.0 % of the requests were never sent"]
        );
        assert_eq!(missed("errors < 1%", step().completed(0)), ["nothing was answered"]);
    }
}
