//! Which targets were told apart in one run.
use pippin_model::figure::Figure;
use pippin_model::run::RunRecord;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Verdict;
use pippin_stats::rank::told_apart;
use pippin_stats::rounds::calm::SliceCounts;
use pippin_stats::rounds::paired::Pairs;
use serde::Serialize;

use super::variations::VARIATIONS;

/// The figures that tell targets apart.
pub const FIGURES: [Figure; 4] = [Figure::Goodput, Figure::Cpu, Figure::P50, Figure::P99];

/// The result of a run for a pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Observed {
    /// Whether it is told apart, with all pairs of the run taken together.
    pub apart: bool,
    /// Its ratio.
    pub ratio: f64,
    /// How far the 95 % interval of the ratio reaches, as a factor minus 1.
    pub reach: f64,
}

/// The result of a run for every variation and every figure, in their orders; `None` if one of the
/// two was not measured or is INVALID.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tally {
    pub variations: Vec<[Option<Observed>; 4]>,
    pub slices: SliceCounts,
}

impl Tally {
    /// Reads a run. An error if it was not measured in rounds.
    pub fn from_record(record: &RunRecord) -> Result<Self, String> {
        let slices = SliceCounts::from_trials(&record.trials).ok_or_else(|| {
            format!("run {} was not measured in slices; there is nothing to pair", record.header.id)
        })?;
        let of = |name: &str, from: &str| -> Result<[Option<Observed>; 4], String> {
            let mut found = [None; 4];
            for (place, figure) in found.iter_mut().zip(FIGURES) {
                *place = observed(record, figure, name, from)?;
            }
            Ok(found)
        };
        let variations = VARIATIONS.iter().map(|variation| of(&variation.target(), variation.from));
        Ok(Self { variations: variations.collect::<Result<_, _>>()?, slices })
    }
}

/// The first target over the second, among all targets of a run that are not INVALID.
pub fn observed(
    record: &RunRecord,
    figure: Figure,
    first: &str,
    second: &str,
) -> Result<Option<Observed>, String> {
    let mut names: Vec<String> = Vec::new();
    let mut trials: Vec<Vec<&TrialRecord>> = Vec::new();
    for target in &record.header.plan.targets {
        let own: Vec<&TrialRecord> =
            record.trials.iter().filter(|trial| trial.spec.target == *target).collect();
        let is_good =
            |trial: &&TrialRecord| trial.load.is_some() && trial.verdict != Verdict::Invalid;
        if !own.is_empty() && own.iter().all(is_good) {
            names.push(target.to_string());
            trials.push(own);
        }
    }
    let trials: Vec<&[&TrialRecord]> = trials.iter().map(Vec::as_slice).collect();
    let pairs = Pairs::from_targets(&trials, figure);
    let place = |name: &str| names.iter().position(|known| known == name);
    let (Some(a), Some(b)) = (place(first), place(second)) else { return Ok(None) };
    let ratio = pairs.ratio(a, b).ok_or_else(|| {
        format!("run {}: {first} and {second} have no slices to compare", record.header.id)
    })?;
    Ok(Some(Observed {
        apart: told_apart(&pairs).contains(&(a.min(b), a.max(b))),
        ratio: ratio.value,
        reach: (ratio.interval.high / ratio.interval.low).sqrt() - 1.0,
    }))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::sense::variations::{BASE, names};
    use pippin_model::example::run::{closed, finished, header};
    use pippin_model::example::slices::Rounds;

    /// A run in which only `cpu10` differs, by 10 % of CPU time.
    pub fn run() -> RunRecord {
        let names = names();
        let trials = names
            .iter()
            .flat_map(|name| {
                let cpu = if name.ends_with("cpu10") { 22.0 } else { 20.0 };
                Rounds { start: 0.002, slice: 0.01, ..Rounds::default() }
                    .trials(name, 10_000.0, cpu)
            })
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        finished(header("sense", "Sense", closed(), &names), trials)
    }

    #[test]
    fn what_differs_is_told_apart_and_a_twin_is_not() {
        let tally = Tally::from_record(&run()).unwrap();
        let of = |name: &str, figure: usize| {
            let place = VARIATIONS.iter().position(|of| of.name == name).unwrap();
            tally.variations[place][figure].unwrap()
        };
        assert!(of("cpu10", 1).apart && (of("cpu10", 1).ratio / 1.1 - 1.0).abs() < 0.02);
        assert!(!of("twin", 0).apart && !of("twin", 1).apart);
        assert_eq!(tally.slices.made, 7 * 24);
    }

    #[test]
    fn what_is_invalid_is_left_out_and_a_run_without_slices_is_refused() {
        let mut record = run();
        let base = |trial: &&mut TrialRecord| trial.spec.target.to_string() == BASE;
        record.trials.iter_mut().find(base).unwrap().verdict = Verdict::Invalid;
        let tally = Tally::from_record(&record).unwrap();
        assert_eq!(tally.variations[0], [None; 4]);
        assert!(tally.variations[5][0].is_some(), "the pool differs from another one");
        record.trials.iter_mut().for_each(|trial| trial.slices.clear());
        assert!(Tally::from_record(&record).unwrap_err().contains("not measured in slices"));
    }
}
