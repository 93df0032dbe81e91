//! What an earlier run of the same load lets expect of a run with a goal, before its first repetition.
use pippin_model::run::{RunHeader, RunRecord, RunState};
use pippin_stats::compare::differences;
use pippin_stats::planning;
use pippin_store::Store;

use super::recording::Keeping;

/// At most so many runs of the plan are looked at, the newest first.
const LOOKED_AT: usize = 20;

/// What is expected, or that nothing is known, in a sentence; `None` without a goal. A store that cannot be
/// read knows nothing.
pub(super) fn expectation(header: &RunHeader, keeping: Keeping<'_>) -> Option<String> {
    let goal = header.plan.goal.as_ref()?;
    let found = match keeping {
        Keeping::Must(store) | Keeping::IfPossible(store) => earlier(header, store),
        Keeping::Not => None,
    };
    let expected = found.and_then(|run| Some((planning::expected(header, &run)?, run.header.id)));
    Some(match expected {
        Some((choice, id)) => {
            format!("if starts differ as in run {id}: {}", choice.of_whole_run_in_words(goal))
        }
        None => "which differences this run will tell apart is not known before its first repetitions: no earlier run of this load with these targets is kept".into(),
    })
}

/// The newest finished run with this load and these targets.
fn earlier(header: &RunHeader, store: &Store) -> Option<RunRecord> {
    let runs = store.list().ok()?.into_iter();
    let of_plan = runs.filter(|run| {
        run.plan == header.plan.id && run.id != header.id && run.state == RunState::Finished
    });
    let is_alike = |id: &String| {
        store.header(id).is_ok_and(|earlier| {
            earlier.plan.targets == header.plan.targets
                && !differences(&earlier, header).iter().any(|it| it.refuses)
        })
    };
    let id = of_plan.take(LOOKED_AT).map(|run| run.id).find(is_alike)?;
    store.load(&id).ok()
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
        let is_unknown = |of: Option<String>| of.unwrap().contains("is not known before");
        assert!(is_unknown(expectation(&new, keeping)));
        let mut other = header("hello", "Hello", closed(), &NAMES);
        other.plan.profile.connections.count = 11;
        keep(&store, "other-load", other, 1);
        keep(&store, "other-targets", header("hello", "Hello", closed(), &NAMES[..1]), 2);
        assert!(is_unknown(expectation(&new, keeping)));
        keep(&store, "older", header("hello", "Hello", closed(), &NAMES), 3);
        keep(&store, "newer", header("hello", "Hello", closed(), &NAMES), 4);
        let said = expectation(&new, keeping).unwrap();
        assert!(said.starts_with("if starts differ as in run newer: about "), "{said}");
        assert!(said.contains("are then told apart with 90 % power"), "{said}");
        assert!(is_unknown(expectation(&new, Keeping::Not)));
    }
}
