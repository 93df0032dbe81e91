//! What targets do beyond their capacity. Those that do the same share their sentences.
use pippin_model::verdict::Verdict;
use pippin_stats::capacity::overload::Overload;

use super::{because, names};
use crate::view::overload::sentences;
use crate::view::row::Row;

/// A target and what was seen of it.
type Overloaded<'a> = (&'a Row, &'a Overload);

/// The conclusion; `None` for other loads. Targets are not ranked, because each is offered multiples
/// of its own capacity.
pub fn from_rows(rows: &[Row]) -> Option<String> {
    let mut groups: Vec<Vec<Overloaded<'_>>> = Vec::new();
    for row in rows {
        let Some(overload) = &row.overload else { continue };
        let seen = (row, &overload.seen);
        match groups.iter_mut().find(|group| is_alike(group[0], seen)) {
            Some(group) => group.push(seen),
            None => groups.push(vec![seen]),
        }
    }
    let told: Vec<String> = groups.iter().map(|group| tell(group)).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

fn is_alike((a, a_seen): Overloaded<'_>, (b, b_seen): Overloaded<'_>) -> bool {
    !is_invalid(a) && !is_invalid(b) && a_seen.is_like(b_seen)
}

fn is_invalid(row: &Row) -> bool {
    row.verdict == Some(Verdict::Invalid)
}

fn tell(group: &[Overloaded<'_>]) -> String {
    let (rows, seen): (Vec<&Row>, Vec<&Overload>) = group.iter().copied().unzip();
    match rows.as_slice() {
        [row] if is_invalid(row) => {
            format!("The result of {} is INVALID{}.", row.target, because(row))
        }
        _ => sentences(&names(&rows), &seen),
    }
}
