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

/// Whether a run can be trusted, in words. A plain yes looks like one.
pub fn trust(words: &str) -> Markup {
    let is_good = words.contains("trust it? Yes");
    html! { p.notice.trust.good[is_good] role="status" { (words) } }
}

/// The number of a page in the address, from 1.
///
/// # Errors
/// If it is not a number from 1 on.
pub fn number(text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Ok(1);
    }
    let number = text.parse().ok().filter(|page| (1..=1_000_000).contains(page));
    number.ok_or_else(|| format!("page: `{text}` is not a page number; the first is 1"))
}

/// The buttons to newer and older pages; empty if there is only one. They belong to the form
/// `filter`, so that what it asks for stays in the address.
#[must_use]
pub fn pages(page: u64, last: u64) -> Markup {
    html! {
        @if last > 1 {
            p.pages {
                @if page > 1 { button form="filter" name="page" value=((page - 1).min(last)) { "Newer" } " " }
                @if page < last { button form="filter" name="page" value=(page + 1) { "Older" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_numbered_from_1_and_lead_to_their_neighbours() {
        assert_eq!((number(""), number("7")), (Ok(1), Ok(7)));
        for wrong in ["0", "-1", "two", "1000001"] {
            assert!(number(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
        let buttons = |page, last| pages(page, last).into_string();
        let value = |number: u64| format!("value=\"{number}\"");
        assert_eq!(buttons(1, 1), "");
        let (first, middle, beyond) = (buttons(1, 3), buttons(2, 3), buttons(9, 3));
        assert!(first.contains(&value(2)) && !first.contains("Newer"), "{first}");
        assert!(middle.contains(&value(1)) && middle.contains(&value(3)), "{middle}");
        assert!(beyond.contains(&value(3)) && !beyond.contains("Older"), "{beyond}");
    }
}
