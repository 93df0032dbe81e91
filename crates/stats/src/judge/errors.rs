//! INVALID: more errors than the plan allows. NOTE in a capacity search, which looks for them.
use pippin_model::verdict::Severity;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat, percent, whole};

/// Whether the fraction of errors is above what the plan allows (0.1 % by default).
pub fn judge(evidence: &Evidence) -> Answer {
    let measured = evidence.needs_measured()?;
    // Nothing was tried: `no_answers` says so.
    let Some(fraction) = measured.error_fraction() else { return Ok(None) };
    if fraction <= evidence.context.errors_allowed {
        return Ok(None);
    }
    let kinds: Vec<String> = measured
        .errors
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(kind, n)| format!("{} {}", whole(*n as f64), kind.name()))
        .collect();
    let seen = format!(
        "{} of the requests failed (limit {}): {}",
        percent(fraction),
        percent(evidence.context.errors_allowed),
        kinds.join(", ")
    );
    let severity = if evidence.goes_beyond() { Severity::Note } else { Severity::Invalid };
    let advice = evidence.option_source().words(
        "lower the load or fix what fails",
        "lower the load or fix what fails; `errors_allowed` in the plan sets how many are acceptable",
    );
    Ok(Some(caveat("errors", severity, seen, advice)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Context;
    use crate::judge::test::{judged, judged_in};
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::ErrorKind;

    #[test]
    fn above_the_limit_is_invalid_and_at_it_is_not() {
        let over = ExampleTrial::hello().error(ErrorKind::Timeout, 301).build();
        let found = judged(judge, &over).unwrap();
        assert!(
            found.severity == Severity::Invalid && found.evidence.ends_with("301 timeout"),
            "{}",
            found.evidence
        );
        assert_eq!(
            judged(judge, &ExampleTrial::hello().error(ErrorKind::Timeout, 300).build()),
            None
        );
    }

    #[test]
    fn the_plan_decides_and_a_search_goes_beyond() {
        let over = ExampleTrial::hello().error(ErrorKind::Timeout, 3_000).build();
        assert_eq!(
            judged_in(judge, &over, &Context { errors_allowed: 0.02, ..Context::default() }),
            None
        );
        let step = ExampleTrial::search_step(10_000.0).error(ErrorKind::WrongStatus, 3_000).build();
        assert_eq!(judged(judge, &step).unwrap().severity, Severity::Note);
    }
}
