//! A target over time, with change points.
use maud::{Markup, PreEscaped, html};
use pippin_report::chart::axis::{Axis, short};
use pippin_report::chart::canvas::{Form, Line, lines};
use pippin_report::chart::palette::{AXIS, Stroke, series};
use pippin_report::words;
use pippin_stats::changepoint::{ChangePoint, change_points};
use pippin_stats::quantile::median;
use pippin_store::runs::HistoryPoint;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The figures of one run: the median of its trials.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    id: String,
    started_unix_ns: u64,
    goodput_per_s: f64,
    p99_ns: Option<f64>,
    trials: usize,
    invalid: bool,
}

/// The form that asks for a target.
#[must_use]
pub fn form(target: &str) -> Markup {
    html! {
        form.filter method="get" action="/history" role="search" {
            label { "Target " input type="search" name="target" value=(target) placeholder="go/net-http" required; }
            button type="submit" { "Show" }
        }
    }
}

/// The page of a target; each plan is a history of its own, because only equal loads compare.
#[must_use]
pub fn body(target: &str, points: &[HistoryPoint]) -> Markup {
    let mut plans: Vec<&str> = points.iter().map(|point| point.plan.as_str()).collect();
    plans.sort_unstable();
    plans.dedup();
    html! {
        main id="main" {
            h1 { "History" @if !target.is_empty() { " of " (target) } }
            (form(target))
            @if !target.is_empty() && points.is_empty() { p { "No trial of this target is in the store. Names are written like go/net-http or javascript/express:cluster." } }
            @for plan in plans { (of_plan(plan, points)) }
        }
    }
}

fn of_plan(plan: &str, points: &[HistoryPoint]) -> Markup {
    let runs = runs_of(plan, points);
    let believed: Vec<&Run> = runs.iter().filter(|run| !run.invalid).collect();
    let figures: Vec<f64> = believed.iter().map(|run| run.goodput_per_s).collect();
    // A fixed seed: the same history has the same changes each time it is looked at.
    let changes = change_points(&figures, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    html! {
        section {
            h2 { "Plan " (plan) }
            @if figures.len() > 1 {
                figure {
                    div.chart role="img" aria-label=(format!("Requests per second over {} runs, with {} changes.", figures.len(), changes.len())) {
                        div.wide aria-hidden="true" { (PreEscaped(chart(Form::Wide, &figures, &changes))) }
                        div.narrow aria-hidden="true" { (PreEscaped(chart(Form::Narrow, &figures, &changes))) }
                    }
                    figcaption { "A dot for each run that is not INVALID, in their order; dotted verticals: changes that chance does not explain (E-divisive, permutation test at 2 %)." }
                }
            }
            @if figures.len() < 6 { p.hint { "Changes are looked for from six runs on." } }
            @if !changes.is_empty() {
                ul { @for change in &changes { li { (change_in_words(change, &believed)) } } }
            }
            (table(&runs))
        }
    }
}

fn change_in_words(change: &ChangePoint, runs: &[&Run]) -> String {
    let run = runs.get(change.index).map_or("", |run| run.id.as_str());
    let relative = (change.after / change.before - 1.0) * 100.0;
    let (before, after) = (words::count(Some(change.before)), words::count(Some(change.after)));
    format!("From run {run} on: {before} → {after} requests/s ({relative:+.1} %, p = {:.3}).", change.p_value)
}

/// Medians by run, oldest first; trials of a sweep's many points do not make one figure, so that the highest counts.
fn runs_of(plan: &str, points: &[HistoryPoint]) -> Vec<Run> {
    let mut runs: Vec<(Run, Vec<f64>, Vec<f64>)> = Vec::new();
    for point in points.iter().filter(|point| point.plan == plan) {
        let Some(goodput) = point.goodput_per_s else { continue };
        if runs.last().is_none_or(|(run, _, _)| run.id != point.run) {
            let run = Run { id: point.run.clone(), started_unix_ns: point.started_unix_ns, goodput_per_s: 0.0, p99_ns: None, trials: 0, invalid: false };
            runs.push((run, Vec::new(), Vec::new()));
        }
        if let Some((run, goodputs, p99s)) = runs.last_mut() {
            run.invalid |= point.verdict == "INVALID";
            goodputs.push(goodput);
            p99s.extend(point.p99_ns.map(|ns| ns as f64));
        }
    }
    runs.into_iter()
        .filter_map(|(run, goodputs, p99s)| Some(Run { goodput_per_s: median(&goodputs)?, p99_ns: median(&p99s), trials: goodputs.len(), ..run }))
        .collect()
}

fn chart(form: Form, figures: &[f64], changes: &[ChangePoint]) -> String {
    let most = figures.iter().copied().fold(0.0, f64::max);
    let points = (1..).zip(figures).map(|(i, figure)| (f64::from(i), *figure)).collect();
    let mut drawn = vec![Line { name: None, colour: series(0), stroke: Stroke::Solid, points, marks: true, joined: true }];
    drawn.extend(changes.iter().map(|change| {
        let at = change.index as f64 + 0.5;
        Line { name: None, colour: AXIS, stroke: Stroke::Dotted, points: vec![(at, 0.0), (at, most)], marks: false, joined: true }
    }));
    let x = Axis::linear("run", 0.0, figures.len() as f64, form.ticks(), |v| if v.fract() == 0.0 { short(v) } else { String::new() });
    lines(form, &x, &Axis::linear("requests/s", 0.0, most, 5, short), &drawn)
}

fn table(runs: &[Run]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Runs, scrolls sideways" {
            table.sortable {
                thead { tr { th scope="col" { "Run" } th scope="col" { "Started" } th.number scope="col" { "Requests/s" } th.number scope="col" { "p99" } th.number scope="col" { "Trials" } } }
                tbody {
                    @for run in runs.iter().rev() {
                        tr .invalid[run.invalid] {
                            th scope="row" { a href=(format!("/runs/{}", run.id)) { (run.id) } }
                            td data-value=(run.started_unix_ns / 1_000_000) { (words::time(run.started_unix_ns)) }
                            td.number data-value=(run.goodput_per_s) { (words::count(Some(run.goodput_per_s))) }
                            td.number data-value=[run.p99_ns] { (words::ns_f(run.p99_ns)) }
                            td.number { (run.trials) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(run: &str, plan: &str, verdict: &str, goodput: Option<f64>) -> HistoryPoint {
        HistoryPoint { run: run.into(), started_unix_ns: 0, plan: plan.into(), verdict: verdict.into(), goodput_per_s: goodput, p99_ns: Some(5) }
    }

    #[test]
    fn a_run_is_the_median_of_its_trials_and_one_invalid_trial_marks_it() {
        let points = [
            point("1", "hello", "VALID", Some(10.0)),
            point("1", "hello", "VALID", Some(30.0)),
            point("1", "hello", "SUSPECT", Some(20.0)),
            point("2", "hello", "INVALID", Some(99.0)),
            point("3", "hello", "INVALID", None),
            point("4", "users", "VALID", Some(5.0)),
        ];
        let runs = runs_of("hello", &points);
        let told: Vec<_> = runs.iter().map(|run| (run.id.as_str(), run.goodput_per_s, run.trials, run.invalid)).collect();
        assert_eq!(told, [("1", 20.0, 3, false), ("2", 99.0, 1, true)]);
    }

    #[test]
    fn a_step_in_the_history_is_found_and_named() {
        let points: Vec<HistoryPoint> =
            (0..16).map(|i| point(&format!("run-{i}"), "hello", "VALID", Some(if i < 8 { 1_000.0 } else { 900.0 } + f64::from(i % 3)))).collect();
        let page = body("go/net-http", &points).into_string();
        assert!(page.contains("From run run-8 on: 1,001 → 901 requests/s (-10.0 %"), "{page}");
    }
}
