//! What a run answers first: who leads, what a load answers, or why there is no result.
use pippin_model::figure::RankedBy;
use pippin_model::plan::profile::Searched;

use super::View;
use super::row::Row;
use super::sweep::Sweep;
use super::{answer, missing};
use crate::ranked;

/// Why targets have no result: so many causes are named here, and all of them elsewhere.
const MOST_CAUSES: usize = 3;

/// The answer in a few words, and in a few lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    /// What the head is: `Fastest`.
    pub label: &'static str,
    /// The answer in a few words.
    pub head: String,
    /// What belongs to it, a line each.
    pub more: Vec<String>,
}

impl Lead {
    /// The answer of this run.
    #[must_use]
    pub fn from_view(view: &View) -> Self {
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
                let causes = missing::from_view(view).into_iter().take(MOST_CAUSES).map(|one| {
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
