//! What all pages share.
use axum::response::Html;
use maud::{Markup, html};
use pippin_report::html::document_served;

/// A page with the bar of links to all other pages.
pub fn page(title: &str, rules: &str, body: &Markup) -> Html<String> {
    let whole = html! {
        header.bar { a href="/" { "Pippin" } a href="/" { "Runs" } a href="/compare" { "Compare" } a href="/history" { "History" } a href="/leaderboard" { "Leaderboard" } button.theme type="button" hidden { "Theme: automatic" } }
        (body)
    };
    Html(document_served(&format!("{title} · Pippin"), rules, &whole).into_string())
}
