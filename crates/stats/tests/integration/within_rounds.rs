//! The law: "within the rounds" is said of a comparison exactly if it rests on rounds that both sides
//! have. What the host does to a whole round then cancels out, and levels, change and interval belong
//! together.
use pippin_model::example::slices::Rounds;
use pippin_model::figure::Figure;
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Verdict;
use pippin_stats::compare::{Change, Origin, Side, compare};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// B is so much slower than A.
const SLOWER: f64 = 0.8;
/// Fewest rounds of a single repetition that show how a ratio scatters.
const FEWEST: usize = 3;

/// Two targets of one run that differ by [`SLOWER`] and nothing else, beside a host that does
/// something else to each round. B's rounds begin `later` in each repetition.
fn both(repetitions: u32, rounds: u32, later: &[u32]) -> [Vec<TrialRecord>; 2] {
    let made =
        Rounds { repetitions, rounds, host: 0.3, start: 0.0, slice: 0.0, ..Rounds::default() };
    let a = made.trials("a/a", 10_000.0, 20.0);
    // More rounds, so that those which both have see the same host.
    let more = Rounds { rounds: rounds + later.iter().max().unwrap(), ..made };
    let mut b = more.trials("b/b", 10_000.0 * SLOWER, 20.0);
    for (trial, later) in b.iter_mut().zip(later) {
        let own = *later..later + rounds;
        trial.slices.retain(|slice| own.contains(&slice.round));
    }
    [a, b]
}

fn change(sides: &[Vec<TrialRecord>; 2], figure: Figure) -> Change {
    let verdict = |_: &TargetId, _| Verdict::Valid;
    let [a, b] = sides.each_ref().map(|trials| Side { trials, verdict: &verdict });
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let found = compare(a, b, Origin::OneRun, &mut rng);
    *found.targets[0].changes.iter().find(|change| change.figure == figure).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn within_rounds_is_what_happened(
        repetitions in 1_u32..4,
        rounds in 1_u32..9,
        later in prop::collection::vec(0_u32..12, 3),
    ) {
        let later = &later[..repetitions as usize];
        let sides = both(repetitions, rounds, later);
        let shared: Vec<usize> =
            later.iter().map(|later| rounds.saturating_sub(*later) as usize).collect();
        let met = shared.iter().filter(|count| **count > 0).count();
        let shows_scatter = match met {
            0 => false,
            1 => shared.iter().any(|count| *count >= FEWEST),
            _ => true,
        };
        let found = change(&sides, Figure::Goodput);
        prop_assert_eq!(found.is_paired, shows_scatter, "{:?}", shared);
        if found.is_paired {
            let ratio = found.ratio.unwrap();
            prop_assert!((ratio.value / SLOWER - 1.0).abs() < 1e-6, "{:?}", ratio);
        }
        if let (Some(ratio), Some(a), Some(b)) = (found.ratio, found.a, found.b)
            && sides.iter().flatten().all(|trial| !trial.slices.is_empty())
        {
            prop_assert!((b / a / ratio.value - 1.0).abs() < 1e-9, "{:?}", found);
        }
    }
}

/// The rows of a run say the same of the same pair.
#[test]
fn a_report_s_ratio_is_within_rounds_where_a_comparison_s_is() {
    use pippin_stats::judge::judge_run;
    use pippin_stats::rank::standing::stand;
    use pippin_stats::summary::summarise;
    for (later, within) in [(0, true), (6, false), (8, false)] {
        let sides = both(1, 8, &[later]);
        let trials: Vec<TrialRecord> = sides.iter().flatten().cloned().collect();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut summaries = summarise(&trials, &judge_run(&trials), &mut rng);
        let of = sides.each_ref().map(|trials| trials.iter().collect::<Vec<_>>());
        let reference = "a/a".parse().unwrap();
        stand(&mut summaries, &of, Some(&reference), &mut rng);
        let found = summaries[1].standing.to_reference.unwrap();
        assert_eq!(found.within_rounds, within, "{later} rounds later");
        assert_eq!(change(&sides, Figure::Goodput).is_paired, within, "{later} rounds later");
    }
}
