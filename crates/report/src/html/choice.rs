//! Filters and groups for the rows of a large ranked table. The script shows them; without scripts
//! the page shows the whole table.
use maud::{Markup, html};
use pippin_model::target::register::ServerKind;
use std::collections::BTreeSet;

use crate::view::View;
use crate::view::row::Row;

/// From this many targets on, the page offers filters.
const MANY: usize = 9;

/// The kind of a target that is not in the register.
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

/// The kind of a target in the register.
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
