//! Charts, changes in words, and the table of runs.
use maud::{Markup, html};
use pippin_model::commit::Commit;
use pippin_model::run::HistoryPoint;

use super::{Change, Figure, History, chart};
use crate::html::{document, figures, rules};
use crate::words;

/// The history of a target as a self-contained page.
#[must_use]
pub fn page(target: &str, points: &[HistoryPoint]) -> String {
    let body = html! {
        main id="main" { h1 { "History of " (target) } (plans(points, |run| html! { (run) })) }
        footer { p { "Made by Pippin. This page is complete and loads nothing from elsewhere." } }
    };
    document(&format!("History of {target} · Pippin"), &rules(2), &body).into_string()
}

/// A section for each plan. `link` turns a run's name into a link to its page, if there is one.
#[must_use]
pub fn plans(points: &[HistoryPoint], link: impl Fn(&str) -> Markup) -> Markup {
    html! { @for history in super::of(points) { (section(&history, &link)) } }
}

fn section(history: &History, link: &impl Fn(&str) -> Markup) -> Markup {
    let changes: Vec<_> = Figure::ALL.iter().flat_map(|figure| history.changes(*figure)).collect();
    html! {
        section {
            h2 { "Plan " (history.plan) @if history.quick { " " span.tag { "quick form" } } @if let Some(part) = history.part { " " span.tag { "load or host " (part) } } }
            @for figure in Figure::ALL { @if let Some(chart) = chart::of(history, figure) { (figures::figure(&chart)) } }
            @if history.is_long_enough() {
                h3 { "Changes" }
                @if changes.is_empty() { p { "None that chance does not explain." } }
                @else { ul { @for change in &changes { li { (change.words()) (commits(change)) } } } }
            } @else { p.hint { "Changes are looked for from six runs on that are not INVALID." } }
            h3 { "Runs" }
            (table(history, link))
        }
    }
}

/// Where the commits between the two sides of a change can be read.
fn commits(change: &Change) -> Markup {
    let page = change.commits.as_ref().and_then(|(from, to)| from.page_to(to));
    html! { @if let Some(page) = page { " " a href=(page) rel="noreferrer" { "What changed" } } }
}

/// A commit, with a link to its page where there is one.
pub(crate) fn commit(commit: &Commit) -> Markup {
    html! {
        @match commit.page() {
            Some(page) => a href=(page) rel="noreferrer" { code { (commit.short()) } },
            None => code { (commit.short()) },
        }
    }
}

fn table(history: &History, link: &impl Fn(&str) -> Markup) -> Markup {
    let has_commits = history.runs.iter().any(|run| run.commit.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Runs, scrolls sideways" {
            table.sortable {
                thead { tr { th scope="col" { "Run" } th scope="col" { "Started" } th.number scope="col" { "Requests/s" } th.number scope="col" { "p99" } th.number scope="col" { "Trials" } @if has_commits { th scope="col" { "Commit" } } th scope="col" { "Verdict" } } }
                tbody {
                    @for run in history.runs.iter().rev() {
                        tr .invalid[run.invalid] {
                            th scope="row" { (link(&run.id)) }
                            td data-value=(run.started_unix_ns / 1_000_000) { (words::time(run.started_unix_ns)) }
                            td.number data-value=(run.goodput_per_s) { (words::count(Some(run.goodput_per_s))) }
                            td.number data-value=[run.p99_ns] { (words::ns_f(run.p99_ns)) }
                            td.number { (run.trials) }
                            @if has_commits { td { @match &run.commit { Some(of) => (commit(of)), None => (words::UNKNOWN) } } }
                            td { @if run.invalid { span.badge.invalid { "INVALID" } } }
                        }
                    }
                }
            }
        }
    }
}
