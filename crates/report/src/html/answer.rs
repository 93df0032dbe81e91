//! The first thing on a page: the answer, and whether it can be trusted.
use maud::{Markup, html};
use pippin_model::figure::RankedBy;
use pippin_model::plan::profile::Searched;
use pippin_stats::summary::trust::{Answer, Trust};

use crate::ranked;
use crate::view::View;
use crate::view::row::Row;
use crate::view::sweep::Sweep;
use crate::view::{answer, missing};
use crate::words;

/// Why targets have no result: the block names so many causes, and the section below names all.
const MOST_CAUSES: usize = 3;

/// Both blocks, side by side where there is room.
pub fn section(view: &View) -> Markup {
    let Lead { label, head, more } = Lead::of(view);
    html! {
        section.answer id="answer" aria-label="The answer" {
            div.block {
                p.label { (label) }
                p.head { (head) }
                @for line in more { p.conclusion { (line) } }
            }
            (trust(&view.trust))
        }
    }
}

/// Whether the run can be trusted: the answer, one reason, what still holds, what to do.
fn trust(trust: &Trust) -> Markup {
    let class = match trust.answer {
        Answer::Yes => "block good",
        Answer::Partly => "block warn",
        Answer::No => "block bad",
    };
    html! {
        div class=(class) role="status" {
            p.label { "Can you trust it?" }
            p.head { (trust.answer.word()) }
            p { (super::with_code(&sentence(&trust.because))) }
            @if let Some(holds) = trust.what_holds() { p { (holds) } }
            @if let Some(advice) = &trust.advice { p { b { "Do: " } (super::with_code(&sentence(advice))) } }
        }
    }
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    format!("{}.", words::capital(text))
}

/// The answer in a few words, and in a few lines.
struct Lead {
    label: &'static str,
    head: String,
    more: Vec<String>,
}

impl Lead {
    fn of(view: &View) -> Self {
        let plain = |label, head: String| Self { label, head, more: vec![view.conclusion.clone()] };
        let loaded = answer::parts(view);
        if let Some((head, more)) = loaded.split_first() {
            let more = [more.join(", ")].into_iter().chain(limit(view)).collect();
            return Self { label: "Answered", head: head.clone(), more };
        }
        let measured: Vec<&Row> = view.measured().collect();
        let leaders: Vec<&Row> =
            measured.iter().copied().filter(|row| row.standing.rank == Some(1)).collect();
        match (measured.as_slice(), leaders.as_slice()) {
            ([], _) => {
                let causes = missing::of(view).into_iter().take(MOST_CAUSES).map(|one| {
                    let of = one.targets.join(", ");
                    if one.cause.is_empty() {
                        format!("{of}: {}", one.what)
                    } else {
                        format!("{of}: {}: {}", one.what, one.cause)
                    }
                });
                let head = "No target has a result".into();
                Self { label: "Result", head, more: causes.collect() }
            }
            (_, []) => plain("Result", "Nobody is ranked".into()),
            (_, [one]) => plain(label(view, one), format!("{}, {}", one.target, figure(view, one))),
            (_, [a, b]) => plain(
                label(view, a),
                format!("{} and {} share the first place", a.target, b.target),
            ),
            (_, all) => {
                plain(label(view, all[0]), format!("{} targets share the first place", all.len()))
            }
        }
    }
}

/// What limits the server of a single load.
fn limit(view: &View) -> Option<String> {
    let explanation = view.rows.first()?.explanation.as_ref()?;
    let first = explanation.text.split_inclusive(". ").next()?;
    Some(first.trim().into())
}

/// What the first place means.
fn label(view: &View, leader: &Row) -> &'static str {
    match view.run.ranked_by {
        _ if leader.at_search().is_some() => "Holds the most",
        RankedBy::Goodput => "Fastest",
        RankedBy::ResponseP99 => "Lowest p99 response time",
    }
}

fn figure(view: &View, leader: &Row) -> String {
    let searched = leader.at_search().map_or(Searched::Requests, Sweep::searched);
    let median = ranked::median(view, leader);
    match leader.ranked.filter(|_| searched != Searched::Requests) {
        Some(found) => searched.amount(found.median),
        None if ranked::by_time(view) => median,
        None => format!("{median} requests/s"),
    }
}
