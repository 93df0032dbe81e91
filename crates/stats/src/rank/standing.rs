//! Which targets are ahead: ranks, and ratios to a reference.
use pippin_model::figure::{Better, Figure, RankedBy};
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Verdict;
use rand::Rng;
use std::collections::BTreeSet;

use crate::interval::bootstrap::Sample;
use crate::interval::ratio::{Ratio, ratio};
use crate::interval::unsure;
use crate::judge::repetitions;
use crate::rank::{Contender, RankInterval, rank_intervals, ranks, told_apart};
use crate::rounds::has_slices;
use crate::rounds::paired::Pairs;
use crate::series::quantile::median;
use crate::summary::sample::sample;
use crate::summary::{TargetSummary, ToReference, ranked_samples};

/// What applies to all compared targets together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Field {
    /// The target with which the others are compared; `None` if none is ranked, or the reference is
    /// not.
    pub reference: Option<TargetId>,
    /// The relative difference below which two targets of this field usually cannot be told apart:
    /// the median reach of the 95 % intervals of the ratios over all pairs. `None` for fewer than
    /// two targets.
    pub noise: Option<f64>,
    /// Those whose CPU time of a request surely differs from the reference's. In rounds all pairs
    /// are taken together, as for ranks: the farthest of many that are equal looks far.
    pub cpu_apart: BTreeSet<TargetId>,
}

/// Ranks these summaries, each with the trials behind it, and compares them with the reference: the
/// target of this name, or else the one with the best median. INVALID results are left out.
///
/// If all targets were measured in rounds, they are compared by rounds ([`crate::rounds::paired`]),
/// otherwise by the bootstrap of their trials.
pub fn stand<R: Rng + ?Sized>(
    summaries: &mut [TargetSummary],
    trials: &[Vec<&TrialRecord>],
    reference: Option<&TargetId>,
    rng: &mut R,
) -> Field {
    let Some(by) = summaries.first().map(|summary| summary.ranked_by) else {
        return Field::default();
    };
    let members: Vec<usize> =
        (0..summaries.len()).filter(|place| is_ranked(&summaries[*place])).collect();
    let own: Vec<&[&TrialRecord]> = members.iter().map(|place| trials[*place].as_slice()).collect();
    let place_of_reference = match reference {
        Some(name) => members.iter().position(|place| summaries[*place].target == *name),
        None => best(summaries, &members, by.better()),
    };
    let at_least: Vec<bool> = members.iter().map(|place| summaries[*place].at_least).collect();
    let compared = if own.iter().all(|trials| trials.iter().any(|record| has_slices(record))) {
        in_rounds(&own, by, place_of_reference, &at_least)
    } else {
        by_trials(&own, by, place_of_reference, &at_least, rng)
    };
    let noise = noise(&compared, by.figure());
    let apart = members.iter().zip(&compared.cpu_apart).filter(|(_, is_apart)| **is_apart);
    let cpu_apart = apart.map(|(place, _)| summaries[*place].target.clone()).collect();
    for ((index, rank), (cpu_rank, to_reference)) in members
        .iter()
        .zip(compared.ranks)
        .zip(compared.cpu_ranks.into_iter().zip(compared.to_reference))
    {
        let standing = &mut summaries[*index].standing;
        (standing.rank, standing.rank_interval) = rank;
        (standing.cpu_rank, standing.cpu_rank_interval) = cpu_rank;
        standing.to_reference = to_reference;
    }
    doubt_ratios(summaries, &members, trials, place_of_reference, by);
    let reference = place_of_reference.map(|place| summaries[members[place]].target.clone());
    Field { reference, noise, cpu_apart }
}

/// In a comparison, the verdict of a target looks at how well its ratio to the reference is known.
/// The reference is known as well as the ratio that is known best.
fn doubt_ratios(
    summaries: &mut [TargetSummary],
    members: &[usize],
    trials: &[Vec<&TrialRecord>],
    place_of_reference: Option<usize>,
    by: RankedBy,
) {
    let Some(reference) = place_of_reference.filter(|_| members.len() > 1) else { return };
    let reach = |place: &usize| -> Option<f64> {
        let ratio = summaries[*place].standing.to_reference?.ratio(by.figure())?;
        Some(unsure::reach_of_ratio(&ratio))
    };
    let reaches: Vec<Option<f64>> = members.iter().map(reach).collect();
    let best = reaches.iter().flatten().copied().min_by(f64::total_cmp);
    let name = summaries[members[reference]].target.clone();
    for (nth, (place, own)) in members.iter().zip(reaches).enumerate() {
        let trials = &trials[*place];
        if !trials.iter().all(|record| unsure::is_judged(record)) {
            continue;
        }
        let (reach, what) = if nth == reference {
            (best, "the narrowest of the ratios to it".to_string())
        } else {
            (own, format!("its ratio to {name}"))
        };
        summaries[*place].replace_unsure(unsure::of_ratio(reach, &what, trials));
    }
}

/// As [`stand`], for each step separately.
pub fn stand_within_steps<R: Rng + ?Sized>(
    summaries: &mut [TargetSummary],
    records: &[TrialRecord],
    rng: &mut R,
) {
    let groups = repetitions(records);
    let mut first = 0;
    summaries.sort_by_key(|summary| {
        groups.iter().position(|(_, step, _)| *step == summary.step).unwrap_or(usize::MAX)
    });
    while first < summaries.len() {
        let step = summaries[first].step;
        let count = summaries[first..].iter().take_while(|summary| summary.step == step).count();
        let members = &mut summaries[first..first + count];
        let trials: Vec<Vec<&TrialRecord>> = members
            .iter()
            .map(|summary| {
                groups
                    .iter()
                    .filter(|(target, of, _)| **target == summary.target && *of == step)
                    .flat_map(|(_, _, trials)| trials.iter().copied())
                    .collect()
            })
            .collect();
        stand(members, &trials, None, rng);
        first += count;
    }
}

/// Whether it takes part: it is not INVALID and has the ranking figure.
fn is_ranked(summary: &TargetSummary) -> bool {
    summary.verdict.is_some_and(|verdict| verdict != Verdict::Invalid)
        && summary.ranked.is_some_and(|figure| figure.median.is_finite())
}

/// The member with the best median.
fn best(summaries: &[TargetSummary], members: &[usize], better: Better) -> Option<usize> {
    let figure =
        |place: &usize| summaries[members[*place]].ranked.map_or(0.0, |figure| figure.median);
    let places = 0..members.len();
    match better {
        // The first of equal ones, as in a table sorted by the figure.
        Better::More => places.rev().max_by(|a, b| figure(a).total_cmp(&figure(b))),
        Better::Less => places.min_by(|a, b| figure(a).total_cmp(&figure(b))),
    }
}

/// A rank and its interval.
type Rank = (Option<u32>, Option<RankInterval>);

/// The result of a comparison for each member.
struct Compared {
    ranks: Vec<Rank>,
    cpu_ranks: Vec<Rank>,
    to_reference: Vec<Option<ToReference>>,
    /// See [`Field::cpu_apart`].
    cpu_apart: Vec<bool>,
}

fn in_rounds(
    own: &[&[&TrialRecord]],
    by: RankedBy,
    reference: Option<usize>,
    at_least: &[bool],
) -> Compared {
    let of = |figure: Figure| Pairs::from_targets(own, figure);
    let (goodput, cpu, p50, p99) =
        (of(Figure::Goodput), of(Figure::Cpu), of(Figure::P50), of(Figure::P99));
    let ranked = match by {
        RankedBy::Goodput => &goodput,
        RankedBy::ResponseP99 => &p99,
    };
    let ranks = |pairs: &Pairs, better: Better, at_least: &[bool]| {
        let rank = |interval: Option<RankInterval>| (interval.map(|found| found.best), interval);
        rank_intervals(pairs, better, at_least).into_iter().map(rank).collect()
    };
    let to = |place: usize, reference: usize| ToReference {
        goodput: goodput.ratio(place, reference),
        cpu: cpu.ratio(place, reference),
        p50: p50.ratio(place, reference),
        p99: p99.ratio(place, reference),
        within_rounds: [&goodput, &cpu, &p50, &p99].iter().all(|pairs| {
            pairs.ratio(place, reference).is_none() || pairs.is_within_rounds(place, reference)
        }) && goodput.is_within_rounds(place, reference),
    };
    let apart = told_apart(&cpu);
    let is_apart =
        |place: usize| reference.is_some_and(|of| apart.contains(&(place.min(of), place.max(of))));
    Compared {
        cpu_apart: (0..own.len()).map(is_apart).collect(),
        ranks: ranks(ranked, by.better(), at_least),
        cpu_ranks: ranks(&cpu, Better::Less, &vec![false; own.len()]),
        to_reference: others(own.len(), reference, to),
    }
}

fn by_trials<R: Rng + ?Sized>(
    own: &[&[&TrialRecord]],
    by: RankedBy,
    reference: Option<usize>,
    at_least: &[bool],
    rng: &mut R,
) -> Compared {
    let of = |figure: Figure| -> Vec<Vec<Sample>> {
        let samples = |trials: &&[&TrialRecord]| {
            trials.iter().filter_map(|record| sample(figure, record)).collect()
        };
        own.iter().map(samples).collect()
    };
    let ranked: Vec<Vec<Sample>> = own.iter().map(|trials| ranked_samples(trials, by)).collect();
    let (goodput, cpu, p50, p99) =
        (of(Figure::Goodput), of(Figure::Cpu), of(Figure::P50), of(Figure::P99));
    let mut rank = |samples: &[Vec<Sample>], better: Better, at_least: &[bool]| {
        let contenders: Vec<Contender> = samples
            .iter()
            .zip(at_least)
            .map(|(samples, at_least)| Contender {
                samples,
                verdict: Verdict::Valid,
                at_least: *at_least,
            })
            .collect();
        ranks(&contenders, better, rng).into_iter().map(|rank| (rank, None)).collect()
    };
    let ranks = rank(&ranked, by.better(), at_least);
    let cpu_ranks = rank(&cpu, Better::Less, &vec![false; own.len()]);
    let to = |place: usize, reference: usize| {
        let mut of = |samples: &[Vec<Sample>]| -> Option<Ratio> {
            ratio(&samples[place], &samples[reference], rng)
        };
        ToReference {
            goodput: of(&goodput),
            cpu: of(&cpu),
            p50: of(&p50),
            p99: if by == RankedBy::ResponseP99 { of(&ranked) } else { of(&p99) },
            within_rounds: false,
        }
    };
    let to_reference = others(own.len(), reference, to);
    let is_apart = |to: &Option<ToReference>| {
        to.and_then(|to| to.cpu).is_some_and(|ratio| ratio.is_significant())
    };
    Compared {
        cpu_apart: to_reference.iter().map(is_apart).collect(),
        ranks,
        cpu_ranks,
        to_reference,
    }
}

/// The values for each member except the reference.
fn others(
    count: usize,
    reference: Option<usize>,
    mut to: impl FnMut(usize, usize) -> ToReference,
) -> Vec<Option<ToReference>> {
    (0..count).map(|place| Some(to(place, reference.filter(|of| *of != place)?))).collect()
}

/// See [`Field::noise`].
fn noise(compared: &Compared, figure: Figure) -> Option<f64> {
    let reach = |to: &ToReference| {
        let interval = to.ratio(figure)?.interval;
        Some((interval.high / interval.low).sqrt() - 1.0)
    };
    median(&compared.to_reference.iter().flatten().filter_map(reach).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::judge_run;
    use crate::simulated::test_noise::Noise;
    use crate::summary::summarise;
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::slices::Rounds;

    fn stood(records: &[TrialRecord], reference: Option<&str>) -> (Vec<TargetSummary>, Field) {
        let mut noise = Noise::new(1);
        let mut summaries = summarise(records, &judge_run(records), &mut noise.0);
        let trials: Vec<Vec<&TrialRecord>> =
            repetitions(records).into_iter().map(|(_, _, trials)| trials).collect();
        let reference = reference.map(|name| name.parse().unwrap());
        let field = stand(&mut summaries, &trials, reference.as_ref(), &mut noise.0);
        (summaries, field)
    }

    /// Targets of this goodput and CPU time of a request.
    fn sliced(targets: &[(&str, f64, f64)]) -> Vec<TrialRecord> {
        let of = |(name, per_s, cpu_us): &(&str, f64, f64)| {
            Rounds::default().trials(name, *per_s, *cpu_us)
        };
        targets.iter().flat_map(of).collect()
    }

    #[test]
    fn rounds_give_intervals_of_ranks_by_goodput_and_by_cpu() {
        let (found, field) = stood(
            &sliced(&[("a/a", 900.0, 100.0), ("b/b", 1_000.0, 200.0), ("c/c", 1_001.0, 100.0)]),
            None,
        );
        let shown: Vec<(String, String)> = found
            .iter()
            .map(|summary| {
                let standing = &summary.standing;
                (
                    standing.rank_interval.unwrap().to_string(),
                    standing.cpu_rank_interval.unwrap().to_string(),
                )
            })
            .collect();
        let want = [("3", "1-2"), ("1-2", "3"), ("1-2", "1-2")];
        assert_eq!(shown, want.map(|(a, b)| (a.to_string(), b.to_string())));
        assert_eq!((found[0].standing.rank, found[1].standing.rank), (Some(3), Some(1)));
        assert_eq!(field.reference.unwrap().to_string(), "c/c");
        let to = found[0].standing.to_reference.unwrap();
        assert!(to.goodput.unwrap().interval.covers(900.0 / 1_001.0), "{to:?}");
        assert!(to.cpu.unwrap().interval.covers(1.0) && to.p50.is_some() && to.p99.is_some());
        assert_eq!(found[2].standing.to_reference, None);
        assert!((0.001..0.1).contains(&field.noise.unwrap()), "{:?}", field.noise);
    }

    /// The farthest of nine equal ones looks far: without the other pairs it would be called dearer
    /// or cheaper in every third run.
    #[test]
    fn of_ten_equal_ones_none_is_called_dearer() {
        let (mut wrong, mut alone) = (0, 0);
        for seed in 0..40 {
            let rounds = Rounds { seed, ..Rounds::default() };
            let names: Vec<String> = (0..10).map(|place| format!("a/s{place}")).collect();
            let trials: Vec<Vec<TrialRecord>> =
                names.iter().map(|name| rounds.trials(name, 1_000.0, 100.0)).collect();
            let records: Vec<Vec<&TrialRecord>> =
                trials.iter().map(|trials| trials.iter().collect()).collect();
            let own: Vec<&[&TrialRecord]> = records.iter().map(Vec::as_slice).collect();
            let found = in_rounds(&own, RankedBy::Goodput, Some(0), &[false; 10]);
            wrong += u32::from(found.cpu_apart.contains(&true));
            let cpu = found.to_reference.iter().flatten().filter_map(|to| to.cpu);
            alone += u32::from(cpu.into_iter().any(|ratio| ratio.is_significant()));
        }
        assert!(wrong <= 4 && alone >= 8, "{wrong} and {alone} of 40");
    }

    #[test]
    fn who_is_dearer_is_told_apart() {
        let (_, field) = stood(
            &sliced(&[("a/a", 900.0, 100.0), ("b/b", 990.0, 100.0), ("c/c", 1_000.0, 140.0)]),
            Some("a/a"),
        );
        let apart: Vec<String> = field.cpu_apart.iter().map(ToString::to_string).collect();
        assert_eq!(apart, ["c/c"]);
    }

    #[test]
    fn a_reference_can_be_chosen_and_an_invalid_one_is_none() {
        let mut records = sliced(&[("a/a", 900.0, 100.0), ("b/b", 1_000.0, 200.0)]);
        let (found, field) = stood(&records, Some("a/a"));
        assert_eq!(field.reference.unwrap().to_string(), "a/a");
        let to = found[1].standing.to_reference.unwrap();
        assert!(to.goodput.unwrap().value > 1.05 && to.cpu.unwrap().value > 1.9);
        records[0].caveats.push(pippin_model::example::caveat(
            "generator_busy",
            pippin_model::verdict::Severity::Invalid,
            "97 %",
            "",
        ));
        let (found, field) = stood(&records, Some("a/a"));
        assert_eq!(field, Field::default());
        assert_eq!((found[0].standing.rank, found[1].standing.rank), (None, Some(1)));
        assert_eq!(found[1].standing.to_reference, None);
    }

    #[test]
    fn records_without_slices_keep_their_bootstrap_and_have_ratios_too() {
        let trial = |target: &str, per_s: f64| {
            ExampleTrial::hello().target(target).answers_per_s(per_s).build()
        };
        let records: Vec<TrialRecord> = [1.0, 1.001, 0.999]
            .iter()
            .flat_map(|wobble| [trial("a/a", 500.0 * wobble), trial("b/b", 1_000.0 * wobble)])
            .collect();
        let (found, field) = stood(&records, None);
        let a = &found[0].standing;
        assert_eq!((a.rank, a.rank_interval, a.cpu_rank), (Some(2), None, Some(2)));
        assert!((a.to_reference.unwrap().goodput.unwrap().value - 0.5).abs() < 1e-9);
        assert!(field.noise.unwrap() < 0.05);
    }

    #[test]
    fn one_target_without_slices_among_others_makes_all_go_by_their_trials() {
        let mut records = sliced(&[("a/a", 900.0, 100.0), ("b/b", 1_000.0, 200.0)]);
        records
            .iter_mut()
            .filter(|record| record.spec.target.to_string() == "a/a")
            .for_each(|record| record.slices.clear());
        let (found, _) = stood(&records, None);
        assert!(found.iter().all(|summary| summary.standing.rank_interval.is_none()));
    }

    #[test]
    fn nothing_stands_without_targets() {
        assert_eq!(stood(&[], None), (vec![], Field::default()));
    }
}
