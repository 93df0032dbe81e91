//! Which rows of the ranked table are shown, and in which groups: for tables of many targets. Its
//! script shows it; without scripts the whole table is there.
use maud::{Markup, html};
use pippin_model::register::ServerKind;
use std::collections::BTreeSet;

use crate::view::View;
use crate::view::row::Row;

/// From so many targets on a reader looks for some of them.
const MANY: usize = 9;

/// The kind of a target that the register does not know.
const UNKNOWN_KIND: &str = "unknown kind";

/// A search, the languages, the kinds and the groups of a table with many rows.
pub fn tools(view: &View) -> Markup {
    let rows: Vec<&Row> = view.measured().collect();
    if rows.len() < MANY {
        return html! {};
    }
    let languages: BTreeSet<&str> = rows.iter().map(|row| row.target.language.as_str()).collect();
    let kinds: BTreeSet<String> = rows.iter().map(|row| kind(row)).collect();
    html! {
        div.filter.rows hidden {
            label { "Find " input type="search" data-rows="text" placeholder="target"; }
            @if languages.len() > 1 { (select("Language", "language", &languages)) }
            @if kinds.len() > 1 { (select("Kind", "kind", &kinds)) }
            label { "Group by " select data-rows="group" {
                option value="" { "nothing" }
                @if languages.len() > 1 { option value="language" { "language" } }
                @if kinds.len() > 1 { option value="kind" { "kind" } }
            } }
            output.hint data-rows="count" {}
        }
    }
}

/// What the register says that a target is.
pub fn kind(row: &Row) -> String {
    row.kind.as_ref().map_or_else(|| UNKNOWN_KIND.into(), ServerKind::to_string)
}

fn select<S: AsRef<str>>(title: &str, name: &str, values: &BTreeSet<S>) -> Markup {
    html! {
        label { (title) " " select data-rows=(name) {
            option value="" { "all" }
            @for value in values { option value=(value.as_ref()) { (value.as_ref()) } }
        } }
    }
}
