//! A target over time, with change points.
use maud::{Markup, html};
use pippin_model::run::HistoryPoint;
use pippin_report::history::plans;

/// The form to choose a target.
#[must_use]
pub fn form(target: &str) -> Markup {
    html! {
        form.filter method="get" action="/history" role="search" {
            label { "Target " input type="search" name="target" value=(target) placeholder="go/net-http" required; }
            button type="submit" { "Show" }
        }
    }
}

/// The page of a target.
#[must_use]
pub fn body(target: &str, points: &[HistoryPoint]) -> Markup {
    html! {
        main id="main" {
            h1 { "History" @if !target.is_empty() { " of " (target) } }
            (form(target))
            @if !target.is_empty() && points.is_empty() { p { "No trial of this target is in the store. Names are written like go/net-http or javascript/express:cluster." } }
            (plans(points, |run| html! { a href=(format!("/runs/{run}")) { (run) } }))
        }
    }
}
