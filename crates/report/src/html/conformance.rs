//! How targets answered at the edges of HTTP/1.1: a table of all probes, folded.
use maud::{Markup, html};
use pippin_model::target::conformance::Conformance;

use crate::view::View;
use crate::view::conformance::TargetConformance;

pub fn section(view: &View) -> Markup {
    let Some(first) = view.conformance.first() else { return html! {} };
    html! {
        section id="conformance" {
            h2 { "Conformance" }
            p {
                "How each target answers at the edges of HTTP/1.1. This has no part in the verdicts: "
                "no client of the workload sends such requests."
            }
            ul { @for one in &view.conformance { li { strong { (one.target) } ": " (one.summary) } } }
            details {
                summary { "All " (first.probes.len()) " questions and answers" }
                div.scroll {
                    table {
                        thead { tr {
                            th scope="col" { "asked" } th scope="col" { "by" }
                            @for one in &view.conformance { th scope="col" { (one.target) } }
                        } }
                        tbody { @for probe in &first.probes { (row(probe, &view.conformance)) } }
                    }
                }
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
