//! How targets answered at the edges of HTTP/1.1: a grid of right answers by kind, and a table of all
//! probes, folded.
use maud::{Markup, html};
use pippin_model::target::conformance::{Conformance, Kind, KindCount, by_kind};

use crate::view::View;
use crate::view::conformance::TargetConformance;

/// The section of a page; nothing if no target was asked.
pub fn section(view: &View) -> Markup {
    let Some(first) = view.conformance.first() else { return html! {} };
    html! {
        section id="conformance" {
            h2 { "Conformance" }
            p {
                "How each target answers at the edges of HTTP/1.1. This has no part in the verdicts: "
                "no client of the workload sends such requests."
            }
            div.scroll tabindex="0" role="region" aria-label="Kinds of requests, scrolls sideways" { (grid(&view.conformance)) }
            details {
                summary { "All " (first.probes.len()) " questions, and what was answered" }
                div.scroll tabindex="0" role="region" aria-label="Answers, scrolls sideways" {
                    table {
                        thead { tr {
                            th scope="col" { "asked" } th scope="col" { "by" }
                            @for one in &view.conformance { th scope="col" { (one.target) } }
                        } }
                        @for kind in Kind::ALL { (questions(kind, first, &view.conformance)) }
                    }
                }
            }
        }
    }
}

/// How many answers of each kind were right, for each target.
fn grid(targets: &[TargetConformance]) -> Markup {
    html! {
        table {
            thead { tr {
                th scope="col" { "right answers" }
                @for kind in Kind::ALL { th scope="col" { (kind.name()) } }
                th scope="col" { "wrong" }
            } }
            tbody {
                @for one in targets {
                    tr {
                        th scope="row" { (one.target) }
                        (counts(&by_kind(&one.probes)))
                        td { (one.summary) }
                    }
                }
            }
        }
    }
}

/// The cells of a row of the grid.
pub fn counts(kinds: &[KindCount]) -> Markup {
    html! { @for one in kinds { td data-value=(one.right) { (one.right) " of " (one.asked) } } }
}

/// The questions of a kind: a row for each that somebody answered wrongly, and the names of the
/// others.
fn questions(kind: Kind, first: &TargetConformance, targets: &[TargetConformance]) -> Markup {
    let is_wrong = |probe: &&Conformance| {
        let same = targets.iter().flat_map(|one| &one.probes);
        same.filter(|other| other.probe == probe.probe).any(|other| !other.is_right)
    };
    let asked = || first.probes.iter().filter(|probe| probe.kind == kind);
    let right: Vec<&str> =
        asked().filter(|probe| !is_wrong(probe)).map(|probe| probe.probe.as_str()).collect();
    html! {
        tbody {
            tr { th scope="rowgroup" colspan=(targets.len() + 2) { (kind.name()) } }
            @for probe in asked().filter(is_wrong) { (row(probe, targets)) }
            @if !right.is_empty() {
                tr { td colspan=(targets.len() + 2) { "Answered rightly by all: " (right.join("; ")) } }
            }
        }
    }
}

fn row(probe: &Conformance, targets: &[TargetConformance]) -> Markup {
    let answer =
        |of: &TargetConformance| of.probes.iter().find(|other| other.probe == probe.probe).cloned();
    html! {
        tr {
            th scope="row" { (probe.probe) }
            td { (probe.level.name()) ", " (probe.section) }
            @for one in targets {
                @match answer(one) {
                    Some(answer) if answer.is_right => td { (answer.found) },
                    Some(answer) => td { strong { "✗ " (answer.found) } },
                    None => td { "not asked" },
                }
            }
        }
    }
}
