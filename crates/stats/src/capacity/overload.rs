//! What a target does under more load than it can handle. Uses the windows of a load that rises
//! from half of its capacity to three times the capacity, and then returns to half.
pub mod words;

use pippin_model::host::usage::{MemoryOverTime, Role};
use pippin_model::plan::profile::{Stage, Steps};
use pippin_model::result::{LoadResult, Window};
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::mem::discriminant;

use crate::series::quantile::median;
use crate::series::within::Within;

/// After this time, a new rate is no longer affected by the rate before.
const SETTLING_NS: u64 = 1_000_000_000;
/// From this multiple of the capacity on, the behaviour of a target shows.
const BEYOND: f64 = 1.5;
/// A target that sheds or queues well keeps at least this part of its best goodput.
const KEPT: f64 = 0.8;
/// Below this part of its best goodput, a target has collapsed.
const COLLAPSED: f64 = 0.5;
/// Of the requests that cannot be answered rightly: at least the first part is refused by a target
/// that sheds, and at most the second part by one that queues.
const REFUSED: (f64, f64) = (0.8, 0.05);
/// The median answer of a target that queues takes this many times as long as at half of the
/// capacity.
const LONGER: f64 = 5.0;
/// A target that is not overloaded keeps this part of the offered rate.
const AT_EASE: f64 = 0.95;
/// A target has recovered when its p99 is at most this many times, or this much, above the p99
/// before.
const AS_BEFORE: (f64, f64) = (3.0, 20e6);
/// This many windows in a row must be as before.
const STEADY_WINDOWS: usize = 3;

/// The behaviour of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overload {
    /// Its capacity in requests per second, given or found by a short search. The median over the
    /// repetitions.
    pub capacity_per_s: f64,
    /// Each rate of the rising part.
    pub levels: Vec<Level>,
    /// How long it took at half of the capacity until answers were as before. The longest of the
    /// repetitions.
    pub recovery: Recovery,
    /// What it does beyond its capacity; `None` if that is not certain or the repetitions disagree.
    pub behaviour: Option<Behaviour>,
}

/// One rate of the rising part. Figures are medians over the repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The rate as a multiple of the capacity.
    pub multiple: f64,
    /// Requests per second.
    pub offered_per_s: f64,
    /// Complete and right answers per second.
    pub goodput_per_s: f64,
    /// Complete answers per second, whatever their status.
    pub throughput_per_s: f64,
    /// Errors per second.
    pub errors_per_s: f64,
    /// Median of the response time; the median of its seconds.
    pub response_p50_ns: Option<u64>,
    /// 99th percentile of the response time; the median of its seconds.
    pub response_p99_ns: Option<u64>,
    /// The highest memory of the target, in bytes: the proportional set, in which shared pages count once, or else the resident set.
    pub target_memory_bytes: Option<u64>,
}

/// How long a target takes until its answers are as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Recovery {
    /// At most this long.
    Within {
        /// Nanoseconds.
        ns: u64,
    },
    /// Longer than it was observed.
    NotWithin {
        /// Nanoseconds.
        ns: u64,
    },
}

/// What a target does beyond its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// It answers as many rightly as it can, and refuses the rest at once.
    Sheds,
    /// It answers as many rightly as it can, and the rest wait.
    Queues,
    /// It answers fewer rightly than it could.
    Collapses,
    /// It answers all that is offered, so it was not overloaded.
    KeepsUp,
}

impl Overload {
    /// The overload of one target from its trials; `None` if they are no overload, or none has a
    /// result.
    #[must_use]
    pub fn from_trials(trials: &[&TrialRecord]) -> Option<Self> {
        let seen: Vec<Self> = trials.iter().filter_map(|record| of_trial(record)).collect();
        let first = seen.first()?;
        let middle = |figure: &dyn Fn(&Self) -> Option<f64>| {
            median(&seen.iter().filter_map(figure).collect::<Vec<_>>())
        };
        let levels = (0..first.levels.len()).map(|place| {
            let of = |figure: fn(&Level) -> Option<f64>| {
                middle(&|one: &Self| one.levels.get(place).and_then(figure))
            };
            let whole = |figure: fn(&Level) -> Option<u64>| {
                let values = seen.iter().filter_map(|one| one.levels.get(place).and_then(figure));
                median(&values.map(|value| value as f64).collect::<Vec<_>>()).map(|it| it as u64)
            };
            Some(Level {
                multiple: first.levels[place].multiple,
                offered_per_s: of(|level| Some(level.offered_per_s))?,
                goodput_per_s: of(|level| Some(level.goodput_per_s))?,
                throughput_per_s: of(|level| Some(level.throughput_per_s))?,
                errors_per_s: of(|level| Some(level.errors_per_s))?,
                response_p50_ns: whole(|level| level.response_p50_ns),
                response_p99_ns: whole(|level| level.response_p99_ns),
                target_memory_bytes: whole(|level| level.target_memory_bytes),
            })
        });
        Some(Self {
            capacity_per_s: middle(&|one| Some(one.capacity_per_s))?,
            levels: levels.collect::<Option<_>>()?,
            recovery: seen.iter().map(|one| one.recovery).max()?,
            behaviour: first
                .behaviour
                .filter(|own| seen.iter().all(|one| one.behaviour == Some(*own))),
        })
    }

    /// Its behaviour in a sentence; `None` if that is not certain.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        words::behaviour(&[self])
    }

    /// Whether another target surely does the same, and has recovered as well, or not either.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.behaviour.is_some()
            && self.behaviour == other.behaviour
            && discriminant(&self.recovery) == discriminant(&other.recovery)
    }

    /// The highest goodput of all rates.
    #[must_use]
    pub fn best_per_s(&self) -> f64 {
        self.levels.iter().map(|level| level.goodput_per_s).fold(0.0, f64::max)
    }
}

/// `3`, `1.25`.
#[must_use]
pub fn multiple_in_words(multiple: f64) -> String {
    format!("{}", (multiple * 100.0).round() / 100.0)
}

/// The stages of a load, with the capacity; `None` if it is no overload.
#[must_use]
pub fn course(record: &TrialRecord) -> Option<(f64, &[Stage])> {
    let Steps::Overload { .. } = record.spec.profile.steps else { return None };
    let stages = record.load_spec.as_ref()?.schedule.stages()?;
    // The stages begin at half of the capacity.
    Some((stages.first()?.from_per_s / pippin_model::schedule::overload::MULTIPLES[0], stages))
}

fn of_trial(record: &TrialRecord) -> Option<Overload> {
    let (capacity_per_s, stages) = course(record)?;
    let load = record.load.as_ref().filter(|load| !load.interrupted)?;
    let (after, way_up) = stages.split_last()?;
    let mut from_ns = 0;
    let mut levels = Vec::new();
    for stage in way_up {
        let to_ns = from_ns + stage.duration_ns;
        levels.push(level(record, load, (from_ns, to_ns), stage.from_per_s, capacity_per_s)?);
        from_ns = to_ns;
    }
    let recovery = recovery(load, from_ns, after, levels.first()?);
    let behaviour = behaviour(&levels).filter(|_| record.verdict != Verdict::Invalid);
    Some(Overload { capacity_per_s, levels, recovery, behaviour })
}

fn level(
    record: &TrialRecord,
    load: &LoadResult,
    (from_ns, to_ns): (u64, u64),
    offered_per_s: f64,
    capacity_per_s: f64,
) -> Option<Level> {
    let within = Within::from_loads([load], from_ns + SETTLING_NS, to_ns);
    let at = load.measured_from_ns + from_ns..=load.measured_from_ns + to_ns;
    let memory = MemoryOverTime::at_each(&record.samples, Role::Target);
    let memory = record.samples.iter().zip(memory).filter(|(sample, _)| at.contains(&sample.at_ns));
    Some(Level {
        multiple: offered_per_s / capacity_per_s,
        offered_per_s,
        goodput_per_s: within.per_s(|window| window.good)?,
        throughput_per_s: within.per_s(|window| window.completed)?,
        errors_per_s: within.per_s(|window| window.errors)?,
        response_p50_ns: within.median(|window| window.response_p50_ns),
        response_p99_ns: within.median(|window| window.response_p99_ns),
        target_memory_bytes: memory.filter_map(|(_, bytes)| bytes).max(),
    })
}

fn recovery(load: &LoadResult, from_ns: u64, after: &Stage, before: &Level) -> Recovery {
    let usual_ns = before.response_p99_ns.unwrap_or(0) as f64;
    let longest_ns = (usual_ns * AS_BEFORE.0).max(usual_ns + AS_BEFORE.1);
    let windows = Within::from_loads([load], from_ns, from_ns + after.duration_ns).windows;
    let is_as_before = |window: &&Window| {
        let due = after.from_per_s * window.duration_ns as f64 / 1e9;
        window.good as f64 >= AT_EASE * due
            && (window.errors as f64) <= (1.0 - AT_EASE) * due
            && window.response_p99_ns.is_some_and(|ns| ns as f64 <= longest_ns)
    };
    windows.windows(STEADY_WINDOWS).find(|some| some.iter().all(is_as_before)).map_or(
        Recovery::NotWithin { ns: after.duration_ns },
        |some| {
            let end = some[0].from_ns + some[0].duration_ns as i64;
            Recovery::Within { ns: (end as u64).saturating_sub(from_ns) }
        },
    )
}

/// The behaviour that the levels show for certain.
fn behaviour(levels: &[Level]) -> Option<Behaviour> {
    let (first, top) = (levels.first()?, levels.last()?);
    if first.goodput_per_s < AT_EASE * first.offered_per_s {
        // Half of the capacity is too much already, so the capacity was wrong.
        return None;
    }
    if levels.iter().all(|level| level.goodput_per_s >= AT_EASE * level.offered_per_s) {
        return Some(Behaviour::KeepsUp);
    }
    let best = levels.iter().map(|level| level.goodput_per_s).fold(0.0, f64::max);
    let beyond: Vec<&Level> = levels.iter().filter(|level| level.multiple >= BEYOND).collect();
    if beyond.is_empty() || best <= 0.0 {
        return None;
    }
    let all = |holds: &dyn Fn(&Level) -> bool| beyond.iter().all(|level| holds(level));
    if top.goodput_per_s <= COLLAPSED * best {
        return Some(Behaviour::Collapses);
    }
    if !all(&|level| level.goodput_per_s >= KEPT * best) {
        return None;
    }
    let refused = |level: &Level| level.throughput_per_s - level.goodput_per_s;
    let excess = |level: &Level| level.offered_per_s - level.goodput_per_s;
    let waits_longer = top
        .response_p50_ns
        .zip(first.response_p50_ns)
        .is_some_and(|(top, first)| top as f64 >= LONGER * first as f64);
    if all(&|level| excess(level) > 0.0 && refused(level) >= REFUSED.0 * excess(level)) {
        Some(Behaviour::Sheds)
    } else if all(&|level| refused(level) <= REFUSED.1 * excess(level)) && waits_longer {
        Some(Behaviour::Queues)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::overload::{Served, collapses, queues, sheds, trial};
    use pippin_model::schedule::overload::MULTIPLES;

    const S: u64 = 1_000_000_000;

    fn seen(server: fn(f64) -> Served, recovers_after_s: u64) -> Overload {
        let record = trial("go/net-http", server, recovers_after_s);
        Overload::from_trials(&[&record]).unwrap()
    }

    #[test]
    fn what_servers_do_beyond_their_capacity_is_named() {
        let shed = seen(sheds, 0);
        assert_eq!((shed.behaviour, shed.capacity_per_s), (Some(Behaviour::Sheds), 1_000.0));
        assert_eq!(shed.levels.len(), MULTIPLES.len());
        assert_eq!(
            shed.sentence().unwrap(),
            "sheds: at 3 times its capacity it still gives 100 % of its best rate of right answers, and refuses the others"
        );
        let queue = seen(queues, 4);
        assert_eq!(queue.behaviour, Some(Behaviour::Queues));
        assert!(
            queue
                .sentence()
                .unwrap()
                .ends_with("the others wait (median 900 ms, at half of the capacity 2.00 ms)")
        );
        let collapse = seen(collapses, 30);
        assert_eq!(collapse.behaviour, Some(Behaviour::Collapses));
        assert!(
            collapse.sentence().unwrap().contains("it gives 11 % of"),
            "{:?}",
            collapse.sentence()
        );
    }

    #[test]
    fn a_target_that_answers_everything_was_not_overloaded() {
        let keeps_up = |offered: f64| Served { good: offered, other: 0.0, p50_ms: 2.0 };
        assert_eq!(
            seen(keeps_up, 0).sentence().unwrap(),
            "keeps up: at 3 times its capacity it answers all that is offered, so its capacity is higher than 1,000 requests/s"
        );
    }

    #[test]
    fn recovery_is_the_first_second_from_which_answers_are_as_before() {
        assert_eq!(seen(sheds, 0).recovery, Recovery::Within { ns: S });
        assert_eq!(seen(queues, 4).recovery, Recovery::Within { ns: 5 * S });
        assert_eq!(seen(collapses, 30).recovery, Recovery::NotWithin { ns: 10 * S });
    }

    #[test]
    fn what_is_not_certain_has_no_sentence() {
        // Two thirds of its best rate: neither kept nor collapsed.
        let sags = |offered: f64| Served {
            good: if offered > 1_000.0 { 670.0 } else { offered },
            other: 0.0,
            p50_ms: 900.0,
        };
        assert_eq!(seen(sags, 0).sentence(), None);
        // Half of the rest is refused, the other half waits.
        let both =
            |offered: f64| Served { other: (offered - 1_000.0).max(0.0) / 2.0, ..queues(offered) };
        assert_eq!(seen(both, 0).sentence(), None);
        // The capacity was wrong: the target cannot keep half of it.
        let weak = |offered: f64| Served { good: offered.min(400.0), ..queues(offered) };
        assert_eq!(seen(weak, 0).sentence(), None);
        // The generator could not send what was asked for.
        let mut invalid = trial("go/net-http", sheds, 0);
        invalid.verdict = Verdict::Invalid;
        assert_eq!(Overload::from_trials(&[&invalid]).unwrap().sentence(), None);
        // Repetitions that disagree.
        let (one, other) = (trial("a/a", sheds, 0), trial("a/a", queues, 2));
        let both = Overload::from_trials(&[&one, &other]).unwrap();
        assert_eq!((both.behaviour, both.recovery), (None, Recovery::Within { ns: 3 * S }));
        assert_eq!(Overload::from_trials(&[&ExampleTrial::hello().build()]), None);
    }
}
