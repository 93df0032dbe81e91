//! What targets do beyond their capacity. Those that do the same share their sentences.
use pippin_model::caveat::Verdict;
use pippin_model::units::{format_length, format_ns};
use pippin_stats::overload::{Behaviour, Overload, Recovery, multiple_in_words};

use super::{because, names};
use crate::view::overload::OverloadView;
use crate::view::row::Row;

/// A target and what was seen of it.
type Seen<'a> = (&'a Row, &'a OverloadView);

/// The conclusion; `None` for other loads. Targets are not ranked, because each is offered multiples
/// of its own capacity.
pub fn of(rows: &[Row]) -> Option<String> {
    let mut groups: Vec<Vec<Seen<'_>>> = Vec::new();
    for row in rows {
        let Some(overload) = &row.overload else { continue };
        let seen = (row, overload);
        match groups.iter_mut().find(|group| is_alike(group[0], seen)) {
            Some(group) => group.push(seen),
            None => groups.push(vec![seen]),
        }
    }
    let told: Vec<String> = groups.iter().map(|group| tell(group)).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

fn is_alike((a, a_seen): Seen<'_>, (b, b_seen): Seen<'_>) -> bool {
    let is_valid = |row: &Row| row.verdict != Some(Verdict::Invalid);
    let (a_seen, b_seen) = (&a_seen.seen, &b_seen.seen);
    is_valid(a)
        && is_valid(b)
        && a_seen.behaviour.is_some()
        && a_seen.behaviour == b_seen.behaviour
        && has_recovered(a_seen) == has_recovered(b_seen)
}

const fn has_recovered(seen: &Overload) -> bool {
    matches!(seen.recovery, Recovery::Within { .. })
}

fn tell(group: &[Seen<'_>]) -> String {
    if group.len() > 1
        && let Some(told) = together(group)
    {
        return told;
    }
    let alone = group.iter().map(|(row, overload)| match row.verdict {
        Some(Verdict::Invalid) => {
            format!("The result of {} is INVALID{}.", row.target, because(row))
        }
        _ => overload.sentences(&row.target.to_string()),
    });
    alone.collect::<Vec<_>>().join(" ")
}

/// What several targets do alike; `None` if a figure is missing.
fn together(group: &[Seen<'_>]) -> Option<String> {
    let rows: Vec<&Row> = group.iter().map(|(row, _)| *row).collect();
    let seen: Vec<&Overload> = group.iter().map(|(_, overload)| &overload.seen).collect();
    let highest = |one: &Overload| one.levels.last().cloned();
    let at =
        format!("at {} times their capacity", multiple_in_words(highest(seen.first()?)?.multiple));
    let share = |one: &&Overload| Some(100.0 * highest(one)?.goodput_per_s / one.best_per_s());
    let shares = range(seen.iter().map(share), |share| format!("{share:.0}"))?;
    let rate = format!("{shares} % of their best rate of right answers");
    let does = match seen.first()?.behaviour? {
        Behaviour::Sheds => format!("shed: {at} they still give {rate}, and refuse the others"),
        Behaviour::Queues => {
            let late = range(seen.iter().map(|one| highest(one)?.response_p50_ns), format_ns)?;
            let at_ease =
                range(seen.iter().map(|one| one.levels.first()?.response_p50_ns), format_ns)?;
            format!(
                "queue: {at} they still give {rate}, and the others wait (median {late}, at half of the capacity {at_ease})"
            )
        }
        Behaviour::Collapses => format!("collapse: {at} they give {rate}"),
        Behaviour::KeepsUp => format!(
            "keep up: {at} they answer all that is offered, so their capacity is higher than the plan or the search says"
        ),
    };
    let ns = |one: &&Overload| match one.recovery {
        Recovery::Within { ns } | Recovery::NotWithin { ns } => Some(ns),
    };
    let length = range(seen.iter().map(ns), format_length)?;
    let recovered = if has_recovered(seen.first()?) {
        format!("as before within {length}")
    } else {
        format!("not as before after {length}")
    };
    let names = names(&rows);
    Some(format!("{names} {does}. Back at half of their capacity, their answers were {recovered}."))
}

/// The least and the greatest of the values in words; `None` if one is unknown.
fn range<T: PartialOrd + Copy>(
    values: impl Iterator<Item = Option<T>>,
    words: impl Fn(T) -> String,
) -> Option<String> {
    let values: Vec<T> = values.collect::<Option<_>>()?;
    let least = values.iter().copied().reduce(|a, b| if b < a { b } else { a })?;
    let greatest = values.iter().copied().reduce(|a, b| if b > a { b } else { a })?;
    let (least, greatest) = (words(least), words(greatest));
    Some(if least == greatest { least } else { format!("{least} to {greatest}") })
}
