//! The standing so far of a run under way: a row for each target with a finished trial.
use maud::{Markup, html};
use pippin_model::run::live::{LiveFinished, LiveRun};
use pippin_model::target::TargetId;
use pippin_model::verdict::Verdict;
use pippin_report::html::badge;
use pippin_report::words;
use pippin_stats::series::quantile::median;

/// What is known of a target so far: medians of its finished trials, at the step at which it answered
/// most.
#[derive(Debug, Clone, PartialEq)]
struct Place<'a> {
    target: &'a TargetId,
    step: Option<&'a str>,
    requests_per_s: Option<f64>,
    p50_ns: Option<f64>,
    p99_ns: Option<f64>,
    /// Finished trials at this step.
    trials: usize,
    /// The worst verdict of them.
    verdict: Verdict,
}

impl<'a> Place<'a> {
    /// Of the trials of a target at one step; `None` if there is none.
    fn from_trials(trials: &[&'a LiveFinished]) -> Option<Self> {
        let first = trials.first()?;
        let middle = |figure: &dyn Fn(&LiveFinished) -> Option<f64>| {
            median(&trials.iter().filter_map(|trial| figure(trial)).collect::<Vec<_>>())
        };
        Some(Self {
            target: &first.target,
            step: first.step.as_deref(),
            requests_per_s: middle(&|trial| trial.requests_per_s),
            p50_ns: middle(&|trial| trial.p50_ns.map(|ns| ns as f64)),
            p99_ns: middle(&|trial| trial.p99_ns.map(|ns| ns as f64)),
            trials: trials.len(),
            verdict: trials.iter().map(|trial| trial.verdict).max()?,
        })
    }

    /// The best step of a target.
    fn best(trials: &[&'a LiveFinished]) -> Option<Self> {
        let mut steps: Vec<Option<&str>> = Vec::new();
        for trial in trials {
            if !steps.contains(&trial.step.as_deref()) {
                steps.push(trial.step.as_deref());
            }
        }
        let at = |step: Option<&str>| {
            let own = trials.iter().filter(|trial| trial.step.as_deref() == step).copied();
            Self::from_trials(&own.collect::<Vec<_>>())
        };
        let places = steps.into_iter().filter_map(at);
        places.max_by(|a, b| {
            let rate = |place: &Self| place.requests_per_s.unwrap_or_default();
            (b.verdict.cmp(&a.verdict)).then(rate(a).total_cmp(&rate(b)))
        })
    }
}

/// All targets with a finished trial, the first one leading. INVALID ones come last.
fn places(live: &LiveRun) -> Vec<Place<'_>> {
    let mut targets: Vec<&TargetId> = Vec::new();
    for trial in &live.finished {
        if !targets.contains(&&trial.target) {
            targets.push(&trial.target);
        }
    }
    let own = |target: &TargetId| -> Vec<&LiveFinished> {
        live.finished.iter().filter(|trial| trial.target == *target).collect()
    };
    let mut places: Vec<Place<'_>> =
        targets.into_iter().filter_map(|target| Place::best(&own(target))).collect();
    // What is unknown comes last, whichever way is better.
    let figure = |place: &Place<'_>| match live.by_time {
        true => place.p99_ns.unwrap_or(f64::INFINITY),
        false => -place.requests_per_s.unwrap_or(f64::NEG_INFINITY),
    };
    places.sort_by(|a, b| {
        let is_invalid = |place: &Place<'_>| place.verdict == Verdict::Invalid;
        is_invalid(a).cmp(&is_invalid(b)).then(figure(a).total_cmp(&figure(b)))
    });
    places
}

/// The table; nothing before two targets have a finished trial.
pub fn render(live: &LiveRun) -> Markup {
    let places = places(live);
    let most = places.iter().filter_map(|place| place.requests_per_s).fold(0.0, f64::max);
    let share = |rate: f64| if most > 0.0 { rate / most * 100.0 } else { 0.0 };
    html! {
        @if places.len() > 1 {
            h3 { "So far" span.count { (places.len()) } }
            p.hint { "Medians of the finished trials" @if places.iter().any(|place| place.step.is_some()) { ", of each target at its best step" } ". The report judges and ranks." }
            div.scroll tabindex="0" role="region" aria-label="The standing so far, scrolls sideways" {
                table {
                    thead { tr { th scope="col" { "Target" } th.number scope="col" { "Requests/s" } th.bars scope="col" { span.aside { "Bar" } } th.number scope="col" { "p50" } th.number scope="col" { "p99" } th.number scope="col" { "Trials" } th scope="col" { "Verdict" } } }
                    tbody { @for place in &places {
                        tr .invalid[place.verdict == Verdict::Invalid] {
                            th scope="row" { (place.target) @if let Some(step) = place.step { span.sub { (step) } } }
                            td.number { (words::count(place.requests_per_s)) }
                            td.bars { @if let Some(rate) = place.requests_per_s { span.bar aria-hidden="true" { i style=(format!("width:{:.1}%", share(rate))) {} } } }
                            td.number { (words::ns_f(place.p50_ns)) }
                            td.number { (words::ns_f(place.p99_ns)) }
                            td.number { (place.trials) @if live.repetitions > 1 { " of " (live.repetitions) } }
                            td { (badge(place.verdict)) }
                        }
                    } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::tests::live;

    fn trial(target: &str, step: Option<&str>, rate: f64, p99_ns: u64) -> LiveFinished {
        LiveFinished {
            target: target.parse().unwrap(),
            repetition: 0,
            step: step.map(Into::into),
            requests_per_s: Some(rate),
            p50_ns: Some(p99_ns / 2),
            p99_ns: Some(p99_ns),
            errors: Some(0),
            verdict: Verdict::Valid,
            failed_at: None,
            remark: None,
            more_caveats: 0,
        }
    }

    fn order(run: &LiveRun) -> Vec<(String, Option<f64>)> {
        places(run).iter().map(|it| (it.target.to_string(), it.requests_per_s)).collect()
    }

    #[test]
    fn the_fastest_comes_first_by_its_median_and_what_is_invalid_last() {
        let mut run = live();
        let invalid =
            LiveFinished { verdict: Verdict::Invalid, ..trial("c/nginx", None, 9_000.0, 10) };
        run.finished = vec![
            trial("a/a", None, 1_000.0, 500),
            invalid,
            trial("b/b", None, 3_000.0, 900),
            trial("a/a", None, 1_200.0, 500),
        ];
        let named = |name: &str, rate| (name.to_string(), Some(rate));
        assert_eq!(
            order(&run),
            [named("b/b", 3_000.0), named("a/a", 1_100.0), named("c/nginx", 9_000.0)]
        );
        run.by_time = true;
        assert_eq!(order(&run)[0].0, "a/a", "at a given rate, the shorter time leads");
        let shown = render(&run).into_string();
        assert!(shown.contains("2 of 3") && shown.contains("INVALID"), "{shown}");
        run.finished.truncate(1);
        assert_eq!(render(&run).into_string(), "", "one target has no standing");
    }

    #[test]
    fn a_target_of_a_sweep_stands_at_its_best_step() {
        let mut run = live();
        run.finished = vec![
            trial("a/a", Some("1 connection"), 500.0, 100),
            trial("a/a", Some("8 connections"), 900.0, 200),
            trial("a/a", Some("64 connections"), 800.0, 900),
            trial("b/b", Some("1 connection"), 700.0, 100),
        ];
        assert_eq!(places(&run)[0].step, Some("8 connections"));
        assert!(render(&run).into_string().contains("at its best step"));
    }
}
