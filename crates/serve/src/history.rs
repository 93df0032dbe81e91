//! A target over time, with change points.
use maud::{Markup, html};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use pippin_model::run::HistoryPoint;
use pippin_model::run::digest::TargetDigest;
use pippin_model::run::life::TargetLife;
use pippin_report::history::{self, History, plans, support};
use pippin_report::words;
use pippin_store::listing::ListedTarget;
use std::collections::BTreeMap;

use crate::page::pages;

/// What a query must not hold as it is (RFC 3986, 3.4): also what separates its parts.
const NOT_IN_QUERY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'+')
    .add(b'<')
    .add(b'>')
    .add(b'?');

/// The address of a target's history.
#[must_use]
pub fn address_of(target: &str) -> String {
    format!("/history?target={}", utf8_percent_encode(target, NOT_IN_QUERY))
}

/// The form to choose a target.
#[must_use]
pub fn form(target: &str, names: &[String]) -> Markup {
    html! {
        form.filter id="filter" method="get" action="/history" role="search" {
            label { "Target " input type="search" name="target" value=(target) list="targets" placeholder="go/net-http" required; }
            button type="submit" { "Show" }
            datalist id="targets" { @for name in names { option value=(name) {} } }
        }
    }
}

/// All targets of the store, each with a link to its history.
#[must_use]
pub fn choose(targets: &[ListedTarget]) -> Markup {
    let names: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
    html! {
        main id="main" {
            h1 { "History" }
            (form("", &names))
            @if targets.is_empty() { p { "There is no trial yet. " code { "pippin run hello --quick" } " makes some." } }
            @else {
                div.scroll tabindex="0" role="region" aria-label="Targets, scrolls sideways" {
                    table.sortable {
                        thead { tr { th scope="col" { "Target" } th.number scope="col" { "Runs" } th scope="col" { "Newest run" } } }
                        tbody { @for target in targets { tr {
                            th.wrap scope="row" { a href=(address_of(&target.name)) { (target.name) } }
                            td.number { (target.runs) }
                            td data-value=(target.newest_unix_ns / 1_000_000) { (words::second(target.newest_unix_ns)) }
                        } } }
                    }
                }
            }
        }
    }
}

/// The histories of a target, as much of each as page `number` shows; the newest runs are on page 1.
#[derive(Debug, Clone)]
pub struct Shown {
    /// A page of each history that has one.
    pub histories: Vec<History>,
    number: u64,
    last: u64,
}

impl Shown {
    /// That page of these trials.
    #[must_use]
    pub fn from_points(points: &[HistoryPoint], number: u64) -> Self {
        let whole = history::from_points(points);
        let last = whole.iter().map(History::pages).max().unwrap_or(1) as u64;
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let histories = whole.iter().filter_map(|history| history.page(place)).collect();
        Self { histories, number, last }
    }

    /// The names of its runs.
    pub fn run_ids(&self) -> impl Iterator<Item = &str> {
        self.histories.iter().flat_map(History::run_ids)
    }

    /// With what the digests of these runs say, and with the target's lives.
    #[must_use]
    pub fn with(
        self,
        digests: &BTreeMap<String, TargetDigest>,
        lives: &BTreeMap<String, TargetLife>,
    ) -> Self {
        let histories = self.histories.into_iter().map(|one| one.with(digests, lives)).collect();
        Self { histories, ..self }
    }
}

/// The histories of a target. `notes` are what the register says of it, `names` are all targets.
#[must_use]
pub fn body(target: &str, shown: &Shown, notes: &[String], names: &[String]) -> Markup {
    let Shown { histories, number: page, last } = shown;
    let (page, last) = (*page, *last);
    html! {
        main id="main" {
            h1 { "History of " (target) }
            (form(target, names))
            @if histories.is_empty() && last == 1 && page == 1 { p { "No trial of this target is in the store. Names are written like go/net-http or javascript/express:cluster. " a href="/history" { "All targets" } "." } }
            @else if histories.is_empty() { p { "There are no runs that old. Page " (last) " has the oldest." } }
            @if last > 1 { p.hint { "Page " (page) " of " (last) ". Each page begins half a page later than the one before it, so that a change at its edge is in the middle of another." } (pages(page, last)) }
            (support(target, notes))
            (plans(histories, |run| html! { a href=(format!("/runs/{run}")) { (run) } }))
            (pages(page, last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::page;
    use pippin_model::run::digest::{MoreFigures, WarmUpDigest};
    use pippin_model::run::life::LifeMemory;
    use pippin_model::target::commit::Commit;
    use pippin_model::verdict::Verdict;

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
    fn all_targets_are_listed_and_lead_to_their_histories() {
        let target = |name: &str, runs| ListedTarget {
            name: name.into(),
            runs,
            newest_unix_ns: 1_795_293_339_000_000_000,
        };
        let page = choose(&[target("go/net-http", 7), target("javascript/express:cluster", 1)]);
        let page = page.into_string();
        for part in [
            "href=\"/history?target=javascript/express:cluster\"",
            "<td class=\"number\">7</td>",
            "2026-11-21 20:35:39 UTC",
            "<option value=\"go/net-http\">",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(choose(&[]).into_string().contains("There is no trial yet"));
    }

    #[test]
    fn a_page_of_eight_plans_with_many_runs_stays_below_a_megabyte_and_lacks_no_run() {
        let points: Vec<HistoryPoint> =
            (0..150).flat_map(|run| (0..8).map(move |plan| trial(plan, run))).collect();
        let digest = |run: &HistoryPoint| TargetDigest {
            target: "go/net-http".parse().unwrap(),
            verdict: Some(Verdict::Valid),
            ranks: Some((1, 1)),
            figure: run.goodput_per_s,
            conformance: Vec::new(),
            goodput_per_s: run.goodput_per_s,
            p99_ns: run.p99_ns.map(|ns| ns as f64),
            more: MoreFigures {
                goodput_within: run.goodput_per_s.map(|rate| (0.97 * rate, 1.04 * rate)),
                p99_within: run.p99_ns.map(|ns| (0.9 * ns as f64, 1.2 * ns as f64)),
                cpu_ns: run.goodput_per_s.map(|rate| 1e9 / rate),
                cpu_within: run.goodput_per_s.map(|rate| (0.98e9 / rate, 1.03e9 / rate)),
                memory_bytes: run.goodput_per_s.map(|rate| rate * 250.0),
                warm_up: Some(WarmUpDigest {
                    starts: 5,
                    class: Some("slows_down".into()),
                    steady_after_ns: run.p99_ns.map(|ns| ns * 1_000),
                }),
                ..MoreFigures::default()
            },
        };
        let digests = points.iter().map(|run| (run.run.clone(), digest(run))).collect();
        let bytes = |run: &HistoryPoint| run.goodput_per_s.map(|rate| (rate * 250.0) as u64);
        let life = |run: &HistoryPoint| TargetLife {
            start_ns: run.p99_ns,
            restart_ns: run.p99_ns,
            memory: LifeMemory {
                idle_bytes: bytes(run),
                loaded_bytes: bytes(run),
                rested_bytes: bytes(run),
                ..LifeMemory::default()
            },
            ..TargetLife::new("go/net-http".parse().unwrap())
        };
        let lives = points.iter().map(|run| (run.run.clone(), life(run))).collect();
        let shown = Shown::from_points(&points, 1).with(&digests, &lives);
        let body = body("go/net-http", &shown, &[], &["go/net-http".into()]);
        let page = page("History", &pippin_report::html::rules(2), &body).0;
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
        assert_eq!(
            page.matches("<svg").count(),
            8 * 4 * 3,
            "four charts of each plan in three sizes"
        );
        for point in &points[8 * 90..] {
            let rows = page.matches(&format!(">{}</a>", point.run)).count();
            assert_eq!(rows, 1, "{}", point.run);
        }
    }
}
