//! The result in a few sentences: which target leads, the CPU time of a request, which results do
//! not count, and how small a difference could be seen here.
mod beyond;

use pippin_model::figure::{Figure, RankedBy};
use pippin_model::plan::profile::Searched;
use pippin_model::target::TargetId;
use pippin_model::text::units::counted;
use pippin_model::verdict::Verdict;
use pippin_stats::interval::bootstrap::Basis;
use pippin_stats::interval::ratio::Ratio;
use pippin_stats::rank::standing::Field;

use super::row::Row;
use super::run::RunFacts;
use super::sweep::Sweep;
use crate::words;

/// The conclusion. `rows` are in the order of the table; `asked` is the reference that was asked
/// for.
#[must_use]
pub fn from_rows(run: &RunFacts, rows: &[Row], field: &Field, asked: Option<&TargetId>) -> String {
    if let Some(told) = beyond::from_rows(rows) {
        return told;
    }
    let measured: Vec<&Row> = rows.iter().filter(|row| row.goodput_per_s.is_some()).collect();
    let ranked: Vec<&Row> =
        measured.iter().copied().filter(|row| row.standing.rank.is_some()).collect();
    let mut sentences = vec![first(run, &measured, &ranked, field)];
    sentences.extend(left_out(&measured, &ranked));
    sentences.extend(without_result(rows).filter(|_| !measured.is_empty()));
    sentences.extend(dropped(asked, rows, field));
    sentences.extend(noise(run, &ranked, field));
    sentences.join(" ")
}

/// Which target leads and by how much, or what a request costs where nobody leads.
fn first(run: &RunFacts, measured: &[&Row], ranked: &[&Row], field: &Field) -> String {
    match (measured, ranked) {
        ([], _) => "No target has a result.".into(),
        (_, []) if measured.iter().all(|row| row.verdict == Some(Verdict::Invalid)) => {
            match measured {
                [only] => format!("The result of {} is INVALID{}.", only.target, because(only)),
                all => format!("All {} results are INVALID: nobody is ranked.", all.len()),
            }
        }
        (_, []) => {
            "Nobody is ranked, as a single short trial has no interval: repeat it (--repeat 3)."
                .into()
        }
        (_, [only]) => alone(run, only),
        _ => {
            let (leaders, others): (Vec<&Row>, Vec<&Row>) =
                ranked.iter().partition(|row| row.standing.rank == Some(1));
            let lead = lead(&leaders, &others);
            let gap = others.first().and_then(|next| gap(run, &leaders, next, field));
            // Of several, the gap to the next says more than the costliest of all.
            let is_told = gap.is_none() || ranked.len() == 2;
            let gap = gap.map_or_else(String::new, |gap| format!(", and {gap}"));
            let cpu = cpu(ranked, field).filter(|_| is_told);
            let cpu = cpu.map_or_else(String::new, |cpu| format!("; {cpu}"));
            format!("{lead}{gap}{cpu}.")
        }
    }
}

/// An interval that reaches this many times its figure has no ends worth reading.
const MEANINGLESS: f64 = 10.0;

fn alone(run: &RunFacts, row: &Row) -> String {
    let figure = |value: f64| match run.ranked_by {
        RankedBy::Goodput => words::count(Some(value)),
        RankedBy::ResponseP99 => words::ns_f(Some(value)),
    };
    let Some(ranked) = row.ranked else { return format!("{} has a result.", row.target) };
    let within = ranked
        .interval
        .map(|found| {
            if found.high > MEANINGLESS * ranked.median {
                " (the interval is too wide to say more)".into()
            } else {
                format!(" ({} to {})", figure(found.low), figure(found.high))
            }
        })
        .unwrap_or_default();
    let verdict = match row.verdict {
        Some(Verdict::Suspect) => format!("; it is SUSPECT{}", because(row)),
        _ => String::new(),
    };
    let searched = row.at_search().map_or(Searched::Requests, Sweep::searched);
    match run.ranked_by {
        _ if searched != Searched::Requests => {
            let amount = searched.amount(ranked.median);
            format!("{} keeps the objective up to {amount}{within}{verdict}.", row.target)
        }
        RankedBy::Goodput => {
            format!("{} answers {} requests/s{within}{verdict}.", row.target, figure(ranked.median))
        }
        RankedBy::ResponseP99 => {
            format!("{} has a p99 of {}{within}{verdict}.", row.target, figure(ranked.median))
        }
    }
}

fn lead(leaders: &[&Row], others: &[&Row]) -> String {
    match leaders {
        [a, b] if others.is_empty() => {
            format!("{} and {} cannot be told apart", a.target, b.target)
        }
        all if others.is_empty() => format!("None of the {} targets can be told apart", all.len()),
        [one] => format!("{} leads", one.target),
        some => format!("{} lead and cannot be told apart", names(some)),
    }
}

/// How far the next target is behind the leaders; `None` if none of them is the reference.
fn gap(run: &RunFacts, leaders: &[&Row], next: &Row, field: &Field) -> Option<String> {
    let reference = field.reference.as_ref()?;
    leaders.iter().find(|leader| leader.target == *reference)?;
    let ratio = next.standing.to_reference?.ratio(run.ranked_by.figure())?;
    let is_one = leaders.len() == 1;
    let behind = match (run.ranked_by, is_one) {
        (RankedBy::Goodput, true) => format!("is {} slower", words::times(&ratio.inverse())),
        (RankedBy::Goodput, false) => {
            format!("is {} slower than {reference}", words::times(&ratio.inverse()))
        }
        (RankedBy::ResponseP99, true) => format!("has {} its p99", words::times(&ratio)),
        (RankedBy::ResponseP99, false) => {
            format!("has {} the p99 of {reference}", words::times(&ratio))
        }
    };
    Some(format!("{}, the next, {behind}", next.target))
}

/// The largest certain difference from the reference in CPU time of a request.
fn cpu(ranked: &[&Row], field: &Field) -> Option<String> {
    let reference = field.reference.as_ref()?;
    let found: Vec<(&TargetId, Ratio)> = ranked
        .iter()
        .filter_map(|row| Some((&row.target, row.standing.to_reference?.ratio(Figure::Cpu)?)))
        .collect();
    let far = |ratio: &Ratio| ratio.value.ln().abs();
    let farthest = found
        .iter()
        .filter(|(target, _)| field.cpu_apart.contains(target))
        .max_by(|(_, a), (_, b)| far(a).total_cmp(&far(b)));
    match (farthest, found.is_empty()) {
        (Some((target, ratio)), _) => Some(format!(
            "{target} needs {} the CPU per request of {reference}",
            words::times(ratio)
        )),
        (None, false) => Some("their CPU per request cannot be told apart".into()),
        (None, true) => None,
    }
}

/// The INVALID results beside the ranked ones; `None` if there are none of either kind.
fn left_out(measured: &[&Row], ranked: &[&Row]) -> Option<String> {
    if ranked.is_empty() {
        return None;
    }
    let invalid: Vec<&Row> =
        measured.iter().copied().filter(|row| row.verdict == Some(Verdict::Invalid)).collect();
    match invalid.as_slice() {
        [] => None,
        [one] => Some(format!("{} is INVALID{} and not ranked.", one.target, because(one))),
        some => Some(format!("{} are INVALID and not ranked.", names(some))),
    }
}

/// The targets without any result. Those that this machine cannot run are listed apart.
fn without_result(rows: &[Row]) -> Option<String> {
    let is_missing = |row: &&Row| row.goodput_per_s.is_none() && !row.unavailable;
    let missing: Vec<&Row> = rows.iter().filter(is_missing).collect();
    match missing.as_slice() {
        [] => None,
        [one] => Some(format!("{} has no result{}.", one.target, failure(one))),
        some => Some(format!("{} have no result.", names(some))),
    }
}

/// At which stage a target failed, in brackets.
fn failure(row: &Row) -> String {
    let stage = row.failure.as_ref().map(|failure| failure.stage.name());
    stage.map_or_else(String::new, |stage| format!(" (failed at the stage \"{stage}\")"))
}

/// Why there are no ratios to the reference that was asked for.
fn dropped(asked: Option<&TargetId>, rows: &[Row], field: &Field) -> Option<String> {
    let asked = asked.filter(|asked| field.reference.as_ref() != Some(asked))?;
    let row = rows.iter().find(|row| row.target == *asked);
    let why = match row {
        Some(row) if row.verdict == Some(Verdict::Invalid) => "it is INVALID",
        Some(row) if row.goodput_per_s.is_some() => "it has no rank",
        _ => "it has no result",
    };
    Some(format!("Nothing is compared with the reference {asked}, because {why}."))
}

/// How calm the host was, and which differences are noise here.
fn noise(run: &RunFacts, ranked: &[&Row], field: &Field) -> Option<String> {
    let calm = run.slices.as_ref().map(|slices| {
        let verb = if slices.calm == 1 { "was" } else { "were" };
        format!("{} of {} {verb} calm", slices.calm, counted(slices.made, "slice"))
    });
    let noise = field
        .noise
        .map(|noise| format!("differences below {} are noise here", words::percent(noise)));
    let told: Vec<String> = [calm, noise, starts(run, ranked)].into_iter().flatten().collect();
    let mut text = told.join("; ");
    if text.is_empty() {
        return None;
    }
    // The sentence begins with a number or a lower-case word.
    let first = text.remove(0).to_uppercase().to_string();
    Some(format!("{first}{text}."))
}

/// Which ratios say nothing of how starts differ.
fn starts(run: &RunFacts, ranked: &[&Row]) -> Option<String> {
    let rests_on_one = |row: &&&Row| {
        let ratio = row.standing.to_reference.and_then(|to| to.ratio(run.ranked_by.figure()));
        ratio.is_some_and(|ratio| ratio.interval.basis == Basis::Windows)
    };
    let once: Vec<&Row> = ranked.iter().filter(rests_on_one).copied().collect();
    if once.iter().all(|row| row.trials <= 1) {
        let each = "how starts differ is not known, as there was only one of each";
        return (!once.is_empty()).then(|| each.into());
    }
    Some(format!(
        "the ratio of {} rests on one start, in which it was measured in turn with the others",
        names(&once)
    ))
}

/// The main doubt of a row in brackets.
fn because(row: &Row) -> String {
    row.main_doubt().map_or_else(String::new, |doubt| format!(" ({doubt})"))
}

/// `a, b and c`. For more than three, the first two and the number of others.
fn names(rows: &[&Row]) -> String {
    let name = |row: &&Row| row.target.to_string();
    match rows {
        [] => String::new(),
        [one] => name(one),
        [first @ .., last] if rows.len() <= 3 => {
            format!("{} and {}", first.iter().map(name).collect::<Vec<_>>().join(", "), name(last))
        }
        [a, b, rest @ ..] => format!("{}, {} and {} others", name(a), name(b), rest.len()),
    }
}
