//! Whether a figure is known well enough to be read as it stands.
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::{Caveat, Severity};

use crate::interval::ratio::Ratio;
use crate::judge::option_source::OptionSource;
use crate::summary::Estimate;

/// How far the 95 % interval of a figure may reach to either side, as a part of it.
pub const LIMIT: f64 = 0.10;
/// The name of the caveat.
pub const ID: &str = "unsure";

/// How far the interval of a figure reaches, as a part of it; `None` if it is not known.
#[must_use]
pub fn reach(figure: &Estimate) -> Option<f64> {
    let interval = figure.interval?;
    let most = (interval.high - figure.median).max(figure.median - interval.low);
    (figure.median > 0.0).then(|| most / figure.median)
}

/// Whether the interval of a figure reaches beyond +-10 %, or is not known.
#[must_use]
pub fn is_unsure(figure: &Estimate) -> bool {
    reach(figure).is_none_or(|reach| reach > LIMIT)
}

/// How far the interval of a ratio reaches, as a factor above 1, less 1.
#[must_use]
pub fn reach_of_ratio(ratio: &Ratio) -> f64 {
    let (value, interval) = (ratio.value, ratio.interval);
    (interval.high / value).max(value / interval.low) - 1.0
}

/// Whether a load has a figure whose interval shows how well it is known. A search and an overload
/// have rules of their own, and the seconds of a load that changes by plan differ by plan.
#[must_use]
pub fn is_judged(record: &TrialRecord) -> bool {
    let profile = &record.spec.profile;
    let is_tried = !profile.is_rates() && record.spec.step.and_then(Step::tried).is_some();
    let is_searched = profile.is_search() || is_tried;
    !is_searched && !profile.is_overload() && !profile.changes()
}

/// The caveat about the figure by which a target is ranked, `what`.
#[must_use]
pub fn of_figure(figure: &Estimate, what: &str, trials: &[&TrialRecord]) -> Option<Caveat> {
    let unknown = ": too little was measured to say how well it is known";
    of_reach(reach(figure), what, unknown, trials)
}

/// The caveat about a target's ratio to the reference, `what`; `None` for an unknown ratio means
/// that it is not known at all.
#[must_use]
pub fn of_ratio(reach: Option<f64>, what: &str, trials: &[&TrialRecord]) -> Option<Caveat> {
    of_reach(reach, what, "", trials)
}

/// The doubt about a figure whose interval reaches so far. `unknown` says why there is none.
fn of_reach(
    reach: Option<f64>,
    what: &str,
    unknown: &str,
    trials: &[&TrialRecord],
) -> Option<Caveat> {
    let seen = match reach {
        Some(reach) if reach <= LIMIT => return None,
        Some(reach) => format!("the 95 % interval of {what} reaches {}", limited(reach)),
        None => format!("there is no interval of {what}{unknown}"),
    };
    Some(caveat(seen, reach.is_some(), trials))
}

/// `up to 19 % from the figure (limit 10 %)`. Beyond a factor of ten, the number says nothing.
fn limited(reach: f64) -> String {
    if reach > 10.0 {
        "beyond a factor of 10 (limit 10 %)".into()
    } else {
        format!("up to {:.0} % from the figure (limit 10 %)", reach * 100.0)
    }
}

fn caveat(evidence: String, has_interval: bool, trials: &[&TrialRecord]) -> Caveat {
    let how = trials.first().map_or("longer or more often", |first| {
        OptionSource::from_spec(&first.spec).words(
            "longer (-d 30s) or more often (--repeat 5)",
            "longer or more often (repetitions, duration)",
        )
    });
    let read = if has_interval { "; read the interval, not the figure" } else { "" };
    let advice = format!("measure {how}, on a quieter machine{read}");
    Caveat { id: ID.into(), severity: Severity::Suspect, evidence, advice }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;
    use crate::interval::bootstrap::Basis;

    fn figure(reach: Option<f64>) -> Estimate {
        let interval = reach.map(|reach| Interval {
            low: 100.0 * (1.0 - reach),
            high: 100.0 * (1.0 + reach / 2.0),
            basis: Basis::Windows,
        });
        Estimate { median: 100.0, best: 100.0, worst: 100.0, interval }
    }

    #[test]
    fn beyond_ten_percent_and_unknown_are_unsure() {
        assert!(!is_unsure(&figure(Some(0.099))));
        assert!(is_unsure(&figure(Some(0.101))) && is_unsure(&figure(None)));
        let found = of_figure(&figure(Some(0.19)), "requests/s", &[]).unwrap();
        assert_eq!(
            found.evidence,
            "the 95 % interval of requests/s reaches up to 19 % from the figure (limit 10 %)"
        );
        assert_eq!(of_figure(&figure(Some(0.05)), "requests/s", &[]), None);
    }

    #[test]
    fn a_ratio_reaches_as_a_factor() {
        let interval = Interval { low: 0.4, high: 0.6, basis: Basis::Trials };
        let reach = reach_of_ratio(&Ratio { value: 0.5, interval });
        assert!((reach - 0.25).abs() < 1e-9, "{reach}");
    }
}
