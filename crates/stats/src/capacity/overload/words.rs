//! What one target does beyond its capacity, or several that do the same, in sentences without
//! their names.
use pippin_model::text::units::{format_count, format_length, format_ns};

use super::{Behaviour, Level, Overload, Recovery, multiple_in_words};

/// What all of them do: `sheds: at 3 times its capacity ...`; `None` if that is not certain, or not
/// the same.
#[must_use]
pub fn behaviour(seen: &[&Overload]) -> Option<String> {
    let shared = seen.first()?.behaviour?;
    if seen.iter().any(|one| one.behaviour != Some(shared)) {
        return None;
    }
    let tops: Vec<&Level> = seen.iter().map(|one| one.levels.last()).collect::<Option<_>>()?;
    let (s, it, its) = if seen.len() == 1 { ("s", "it", "its") } else { ("", "they", "their") };
    let at = format!("at {} times {its} capacity", multiple_in_words(tops.first()?.multiple));
    let shares = seen.iter().zip(&tops).map(|(one, top)| top.goodput_per_s / one.best_per_s());
    let shares = range(shares, |share| format!("{:.0}", 100.0 * share));
    let rate = format!("{shares} % of {its} best rate of right answers");
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".into(), format_ns);
    Some(match shared {
        Behaviour::Sheds => {
            format!("shed{s}: {at} {it} still give{s} {rate}, and refuse{s} the others")
        }
        Behaviour::Queues => format!(
            "queue{s}: {at} {it} still give{s} {rate}, and the others wait (median {}, at half of the capacity {})",
            range(tops.iter().map(|top| top.response_p50_ns), time),
            range(seen.iter().map(|one| one.levels.first()?.response_p50_ns), time)
        ),
        Behaviour::Collapses => format!("collapse{s}: {at} {it} give{s} {rate}"),
        Behaviour::KeepsUp => format!(
            "keep{s} up: {at} {it} answer{s} all that is offered, so {its} capacity is higher than {} requests/s",
            range(seen.iter().map(|one| one.capacity_per_s), format_count)
        ),
    })
}

/// How long it took until answers were as before. They were so for all of these targets, or for
/// none ([`Overload::is_like`]).
#[must_use]
pub fn recovery(seen: &[&Overload]) -> String {
    let its = if seen.len() == 1 { "its" } else { "their" };
    let ns = |one: &&Overload| match one.recovery {
        Recovery::Within { ns } | Recovery::NotWithin { ns } => ns,
    };
    let length = range(seen.iter().map(ns), format_length);
    let found = match seen.first().map(|one| one.recovery) {
        Some(Recovery::NotWithin { .. }) => "not as before after",
        _ => "as before within",
    };
    format!("back at half of {its} capacity, {its} answers were {found} {length}")
}

/// The least and the greatest value in words.
fn range<T: PartialOrd + Copy>(
    values: impl Iterator<Item = T> + Clone,
    words: impl Fn(T) -> String,
) -> String {
    let least = values.clone().reduce(|a, b| if b < a { b } else { a });
    let greatest = values.reduce(|a, b| if b > a { b } else { a });
    let (Some(least), Some(greatest)) = (least, greatest) else { return String::new() };
    let (least, greatest) = (words(least), words(greatest));
    if least == greatest { least } else { format!("{least} to {greatest}") }
}
