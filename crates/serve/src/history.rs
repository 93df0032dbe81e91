//! A target over time, with change points.
use maud::{Markup, html};
use pippin_model::run::HistoryPoint;
use pippin_report::history::{self, History, plans};

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

/// A page of each history of a target; the newest runs are on page 1.
#[must_use]
pub fn body(target: &str, points: &[HistoryPoint], page: u64) -> Markup {
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
            (plans(&shown, |run| html! { a href=(format!("/runs/{run}")) { (run) } }))
            (pages(page, last))
        }
    }
}
