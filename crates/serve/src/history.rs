//! A target over time, with change points.
use maud::{Markup, html};
use pippin_model::run::HistoryPoint;
use pippin_report::history::{self, History, plans, support};

use crate::page::pages;

/// The form to choose a target.
#[must_use]
pub fn form(target: &str) -> Markup {
    html! {
        form.filter id="filter" method="get" action="/history" role="search" {
            label { "Target " input type="search" name="target" value=(target) placeholder="go/net-http" required; }
            button type="submit" { "Show" }
        }
    }
}

/// A page of each history of a target; the newest runs are on page 1. `notes` are what the register
/// says of it.
#[must_use]
pub fn body(target: &str, points: &[HistoryPoint], notes: &[String], page: u64) -> Markup {
    let whole = history::of(points);
    let last = whole.iter().map(History::pages).max().unwrap_or(1) as u64;
    let number = usize::try_from(page).unwrap_or(usize::MAX);
    let shown: Vec<History> = whole.iter().filter_map(|history| history.page(number)).collect();
    html! {
        main id="main" {
            h1 { "History" @if !target.is_empty() { " of " (target) } }
            (form(target))
            @if !target.is_empty() && points.is_empty() { p { "No trial of this target is in the store. Names are written like go/net-http or javascript/express:cluster." } }
            @else if !target.is_empty() && shown.is_empty() { p { "There are no runs that old. Page " (last) " has the oldest." } }
            @if last > 1 { p.hint { "Page " (page) " of " (last) ". Each page begins half a page later than the one before it, so that a change at its edge is in the middle of another." } (pages(page, last)) }
            (support(target, notes))
            (plans(&shown, |run| html! { a href=(format!("/runs/{run}")) { (run) } }))
            (pages(page, last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::page;
    use pippin_model::target::commit::Commit;

    const HOUR_NS: u64 = 3_600_000_000_000;

    /// A trial of a run: 3 % of noise, 8 % less in every second stretch of 35 runs, and every ninth
    /// run INVALID.
    fn trial(plan: u64, run: u64) -> HistoryPoint {
        let noise = (run as f64 * 0.618_033_988_749_895).fract() - 0.5;
        let speed = (1.0 + 0.06 * noise) * if (run / 35) % 2 == 1 { 0.92 } else { 1.0 };
        let repository = Some("https://example.org/shop/server".to_string());
        HistoryPoint {
            run: format!("2026-11-21T10-30-00-measured-by-night-{plan}-{run:05}"),
            started_unix_ns: 1_795_293_300_000_000_000 + (8 * run + plan) * HOUR_NS,
            plan: format!("hello-{plan}"),
            quick: false,
            comparable: "same".into(),
            verdict: if run.is_multiple_of(9) { "INVALID" } else { "VALID" }.into(),
            goodput_per_s: Some(61_234.567_8 * speed),
            p99_ns: Some((1_234_567.8 / speed) as u64),
            commit: Some(Commit { id: format!("{run:040x}"), changed: false, repository }),
        }
    }

    #[test]
    fn a_page_of_eight_plans_with_many_runs_stays_below_a_megabyte_and_lacks_no_run() {
        let points: Vec<HistoryPoint> =
            (0..150).flat_map(|run| (0..8).map(move |plan| trial(plan, run))).collect();
        let body = body("go/net-http", &points, &[], 1);
        let page = page("History", &pippin_report::html::rules(2), &body).0;
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
        assert_eq!(
            page.matches("<svg").count(),
            8 * 2 * 3,
            "two charts of each plan in three sizes"
        );
        for point in &points[8 * 50..] {
            assert_eq!(page.matches(&format!(">{}</a>", point.run)).count(), 1, "{}", point.run);
        }
    }
}
