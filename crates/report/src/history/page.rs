//! Charts, changes in words, and the table of runs.
use maud::{Markup, html};
use pippin_model::target::commit::Commit;
use pippin_model::text::units::counted;

use super::{ABOUT_LIVES, Change, Column, Figure, History, Run, chart};
use crate::html::facts::notes_of;
use crate::html::{document, figures, rules};
use crate::words;

/// The newest runs of each history of a target as a self-contained page. `notes` are what the
/// register says of the target ([`support_notes`](super::support_notes)).
#[must_use]
pub fn page(target: &str, histories: &[History], notes: &[String]) -> String {
    let newest: Vec<History> = histories.iter().filter_map(|history| history.page(1)).collect();
    let body = html! {
        main id="main" { h1 { "History of " (target) } (support(target, notes)) (plans(&newest, |run| html! { (run) })) }
        footer { p { "Made by Pippin. This page is complete and loads nothing from elsewhere." } }
    };
    document(&format!("History of {target} · Pippin"), &rules(2), &body).into_string()
}

/// That the target is out of support, or its versions are old.
#[must_use]
pub fn support(target: &str, notes: &[String]) -> Markup {
    let notes: Vec<_> = notes.iter().map(|note| (target, note)).collect();
    html! { @if !notes.is_empty() { section id="support" { h2 { "Out of support, or older than a year" } (notes_of(&notes, "newest run")) } } }
}

/// A section for each history. `link` turns a run's name into a link to its page, if there is one.
#[must_use]
pub fn plans(histories: &[History], link: impl Fn(&str) -> Markup) -> Markup {
    html! {
        @if histories.len() > 1 {
            nav aria-label="Plans" { ul { @for (place, history) in histories.iter().enumerate() { li { a href=(format!("#plan-{place}")) { (history.plan) @if history.quick { " (quick)" } } } } } }
        }
        @for (place, history) in histories.iter().enumerate() { (section(place, history, &link)) }
    }
}

/// A table with more rows is folded, so that the charts of all plans are near each other, and print
/// on a few pages.
const MOST_UNFOLDED: usize = 12;

fn section(place: usize, history: &History, link: &impl Fn(&str) -> Markup) -> Markup {
    let changes = Figure::ALL.map(|figure| history.changes(figure));
    html! {
        section id=(format!("plan-{place}")) {
            h2 { "Plan " (history.plan) @if history.quick { " " span.tag { "quick form" } } @if let Some(part) = history.part { " " span.tag { "load or host " (part) } } }
            @if history.runs.len() < history.all { p.hint { (which(history)) " Changes are looked for among these." } }
            div.figures.pairs { @for (figure, changes) in Figure::ALL.into_iter().zip(&changes) { @if let Some(chart) = chart::chart(history, figure, changes) { (figures::figure(&chart)) } } }
            @if history.is_long_enough() {
                h3 { "Changes" }
                @if changes.iter().all(Vec::is_empty) { p { "No statistically significant change." } }
                @else { ul { @for change in changes.iter().flatten() { li { (change.words()) (commits(change)) } } } }
            } @else { p.hint { "Changes are looked for from six runs on that are not INVALID." } }
            details open[history.runs.len() <= MOST_UNFOLDED] {
                summary { (counted(history.runs.len() as u64, "run")) }
                (table(history, link))
            }
            (lives(history))
        }
    }
}

/// Runs of which a page shows how the target started: with all of them, a page of eight plans weighs more
/// than a megabyte.
const MOST_LIVES: usize = 10;

/// How the target started, warmed up and ended in the newest runs, where any of them knows it.
fn lives(history: &History) -> Markup {
    let newest: Vec<&Run> = history.runs.iter().rev().take(MOST_LIVES).collect();
    let columns = Column::known(&newest);
    html! {
        @if !columns.is_empty() {
            details open[history.runs.len() <= MOST_UNFOLDED] {
                summary { "Starts, memory and ends" }
                p.hint {
                    @if newest.len() < history.runs.len() {
                        "The newest " (newest.len()) " runs; `pippin history --json` has all. "
                    }
                    (ABOUT_LIVES) " Changes are not looked for here."
                }
                div.scroll tabindex="0" role="region" aria-label="Starts, memory and ends, scrolls sideways" {
                    table.sortable {
                        thead { tr { th scope="col" { "Run" } @for column in &columns { th.number scope="col" { (column.title()) } } } }
                        tbody {
                            @for run in newest {
                                tr .invalid[run.invalid] {
                                    th scope="row" { (run.id) }
                                    @for column in &columns { td.number data-value=[column.value(run)] { (column.words(run)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Which part of a history is on its page.
fn which(history: &History) -> String {
    let History { older, all, runs, .. } = history;
    let last = older + runs.len();
    if last == *all {
        format!("The newest {} of {all} runs.", runs.len())
    } else {
        format!("Runs {} to {last} of {all}, counted from the oldest.", older + 1)
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

/// A figure of a run with its interval.
fn cell(run: &Run, figure: Figure) -> Markup {
    let value = figure.read(run);
    // The column names the unit of a rate.
    let written = |value: f64| match figure {
        Figure::Goodput => words::count(Some(value)),
        other => other.words(value),
    };
    html! {
        td.number data-value=[value.map(f64::round)] {
            (value.map_or_else(|| words::UNKNOWN.into(), written))
            @if let Some((low, high)) = figure.within(run) { span.sub { (written(low)) " … " (written(high)) } }
        }
    }
}

fn table(history: &History, link: &impl Fn(&str) -> Markup) -> Markup {
    let has_commits = history.runs.iter().any(|run| run.commit.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Runs, scrolls sideways" {
            table.sortable {
                thead { tr { th scope="col" { "Run" } @for name in ["Requests/s", "p99", "CPU per request", "Memory"] { th.number scope="col" { (name) } } th.number scope="col" { "Trials" } @if has_commits { th scope="col" { "Commit" } } th scope="col" { "Verdict" } } }
                tbody {
                    @for run in history.runs.iter().rev() {
                        tr .invalid[run.invalid] {
                            th scope="row" { (link(&run.id)) span.sub { (words::second(run.started_unix_ns)) } }
                            @for figure in Figure::ALL { (cell(run, figure)) }
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
