//! SUSPECT or NOTE: answers that arrived before the estimated instant of sending.
//!
//! When a request leaves within the call that sends it is an estimate. An answer that is there
//! before shows that it was too late. Its time then begins with the call, which is an upper bound.
//! Where this is frequent, the estimates of other short spans are too late as well, and nothing
//! shows it.
use pippin_model::text::units::format_ns;
use pippin_model::verdict::Severity;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::stamps::share_of_short;

/// Above this share, low quantiles are bounds.
const SOME: f64 = 0.01;
/// Above this share, the median may be wrong too.
const MANY: f64 = 0.1;

/// Whether more than 1 % (NOTE) or 10 % (SUSPECT) of the answers arrived before the estimated
/// departure of their requests, while the median of the service time is below 1 ms.
pub fn judge(evidence: &Evidence) -> Answer {
    let Some((share, median)) = share_of_short(evidence, |stamps| stamps.early, SOME)? else {
        return Ok(None);
    };
    let severity = if share > MANY { Severity::Suspect } else { Severity::Note };
    let seen = format!(
        "{} of the answers arrived before the estimated sending of their requests, with a median service time of {}: their times are counted from the begin of the call that sent them",
        percent(share),
        format_ns(median)
    );
    let advice = "do not rely on the shortest times and the lowest quantiles: give the generator processors of its own, or use fewer connections";
    Ok(Some(caveat("early_answers", severity, seen, advice)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn the_low_end_is_doubted_where_estimates_were_refuted() {
        let early = |ms, answers| {
            judged(judge, &ExampleTrial::hello().response_ms(ms).early_stamps(answers).build())
        };
        let all = ExampleTrial::hello().build().load.unwrap().measured.requests.completed;
        let severity = |found: Option<pippin_model::verdict::Caveat>| found.map(|it| it.severity);
        assert_eq!(severity(early(0.5, all / 5)), Some(Severity::Suspect));
        assert_eq!(severity(early(0.5, all / 20)), Some(Severity::Note));
        assert_eq!(early(0.5, all / 200), None, "a few answers");
        assert_eq!(early(1.3, all / 5), None, "long spans");
        let seen = early(0.5, all / 5).unwrap().evidence;
        assert!(seen.starts_with("20.0 % of the answers arrived before"), "{seen}");
    }
}
