//! What an earlier run of the same load says about a run with a goal, before its first repetition.
use pippin_model::run::{RunHeader, RunState};
use pippin_model::target::TargetId;
use pippin_stats::compare::differences;
use pippin_stats::planning::Expected;
use pippin_store::Store;
use std::collections::BTreeSet;

use super::recording::Keeping;

/// At most so many runs of the plan are looked at, the newest first.
const LOOKED_AT: usize = 20;

/// What is expected, or that nothing is known, in a sentence; `None` without a goal. If the store cannot be
/// read, nothing is known.
pub(super) fn expectation(header: &RunHeader, keeping: Keeping<'_>) -> Option<String> {
    let goal = header.plan.goal.as_ref()?;
    let found = match keeping {
        Keeping::Must(store) | Keeping::IfPossible(store) => expected(header, store),
        Keeping::Not => None,
    };
    Some(match found {
        Some((id, expected)) => {
            format!("if starts differ as much as in run {id}: {}", expected.in_words(goal))
        }
        None => "it is not known yet which differences this run can show: no finished run of this plan with these targets on such a machine says it".into(),
    })
}

/// By the newest finished run with this load and these targets that shows it.
fn expected(header: &RunHeader, store: &Store) -> Option<(String, Expected)> {
    // As it is kept: what may be a secret is a digest there, in this run as in those before.
    let own = store.header(&header.id).ok()?;
    let targets = |of: &RunHeader| of.plan.targets.iter().cloned().collect::<BTreeSet<TargetId>>();
    let runs = store.list().ok()?.into_iter();
    let of_plan = runs.filter(|run| {
        run.plan == header.plan.id && run.id != header.id && run.state == RunState::Finished
    });
    let is_alike = |id: &String| {
        store.header(id).is_ok_and(|earlier| {
            targets(&earlier) == targets(&own)
                && !differences(&earlier, &own).iter().any(|it| it.refuses)
        })
    };
    of_plan.take(LOOKED_AT).map(|run| run.id).filter(is_alike).find_map(|id| {
        let expected = Expected::from_earlier(header, &store.load(&id).ok()?)?;
        Some((id, expected))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run::{closed, header};
    use pippin_model::example::slices::Rounds;
    use pippin_model::plan::goal::Goal;

    const NAMES: [&str; 2] = ["go/net-http", "c/nginx"];

    /// A run of this name, of five repetitions of half a minute each.
    fn keep(store: &Store, id: &str, mut header: RunHeader, started: u64) {
        (header.id, header.started_unix_ns) = (id.into(), started);
        store.begin(&header).unwrap();
        let rounds = Rounds { repetitions: 5, ..Rounds::default() };
        let both = NAMES.iter().flat_map(|name| rounds.trials(name, 10_000.0, 10.0));
        for (number, mut trial) in (0..).zip(both) {
            trial.started_unix_ns = u64::from(trial.spec.repetition) * 30_000_000_000;
            store.add_trial(id, number, &trial).unwrap();
        }
        store.end(id, RunState::Finished, started + 1).unwrap();
    }

    #[test]
    fn a_run_with_a_goal_is_told_what_the_newest_run_of_its_load_and_targets_lets_expect() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store")).unwrap();
        let keeping = Keeping::Must(&store);
        let mut new = header("hello", "Hello", closed(), &NAMES);
        new.id = "new".into();
        assert_eq!(expectation(&new, keeping), None, "it has no goal");
        new.plan.goal = Some(Goal::from_parts(Some(0.02), None).unwrap());
        let is_unknown = |of: Option<String>| of.unwrap().contains("it is not known yet");
        store.begin(&new).unwrap();
        assert!(is_unknown(expectation(&new, keeping)));
        let mut other = header("hello", "Hello", closed(), &NAMES);
        other.plan.profile.connections.count = 11;
        keep(&store, "other-load", other, 1);
        keep(&store, "other-targets", header("hello", "Hello", closed(), &NAMES[..1]), 2);
        assert!(is_unknown(expectation(&new, keeping)));
        let [first, second] = NAMES;
        keep(&store, "older", header("hello", "Hello", closed(), &[second, first]), 3);
        keep(&store, "newer", header("hello", "Hello", closed(), &NAMES), 4);
        let said = expectation(&new, keeping).unwrap();
        assert!(said.starts_with("if starts differ as much as in run newer: about "), "{said}");
        assert!(said.contains(" ±2 %; two targets that differ by "), "{said}");
        assert!(said.ends_with(" are then told apart with 90 % power"), "{said}");
        assert!(is_unknown(expectation(&new, Keeping::Not)));
    }
}
