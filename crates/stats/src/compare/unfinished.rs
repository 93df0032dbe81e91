//! Interrupted runs in a comparison.
use pippin_model::run::{RunRecord, RunState};
use serde::{Deserialize, Serialize};

/// A side of a comparison whose run was not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Which side: `"A"` or `"B"`.
    pub side: String,
    /// The run.
    pub run: String,
    /// How it ended.
    pub state: RunState,
    /// How many trials of this side have a result. Its figures use only those.
    pub trials_with_result: usize,
}

impl Unfinished {
    /// `None` if the run was finished.
    #[must_use]
    pub fn from_record(side: &str, record: &RunRecord) -> Option<Self> {
        (record.state != RunState::Finished).then(|| Self {
            side: side.into(),
            run: record.header.id.clone(),
            state: record.state,
            trials_with_result: record.trials.iter().filter(|trial| trial.load.is_some()).count(),
        })
    }

    /// In one sentence.
    #[must_use]
    pub fn words(&self) -> String {
        let state = match self.state {
            RunState::Running => "is still under way",
            RunState::Killed => "was killed, or its machine went down",
            RunState::Finished => "was finished",
            RunState::Interrupted => "was interrupted",
            RunState::Failed => "was ended by a failure of Pippin",
        };
        let trials = match self.trials_with_result {
            0 => "it has no result".into(),
            1 => "its figures come from 1 trial".into(),
            count => format!("its figures come from {count} trials"),
        };
        format!("{} (run {}) {state}: {trials}", self.side, self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run::hello;

    #[test]
    fn a_run_that_was_cut_short_says_how_and_what_is_left() {
        let mut record = hello();
        assert_eq!(
            (record.state, Unfinished::from_record("A", &record)),
            (RunState::Finished, None)
        );
        record.state = RunState::Interrupted;
        let with_result = |record: &RunRecord| Unfinished::from_record("B", record).unwrap();
        record.trials.retain(|trial| trial.load.is_some());
        record.trials.truncate(3);
        record.trials[1].load = None;
        assert_eq!(
            with_result(&record).words(),
            "B (run 20261121-203539-hello) was interrupted: its figures come from 2 trials"
        );
        record.trials.truncate(1);
        assert!(with_result(&record).words().ends_with("come from 1 trial"));
        record.trials.clear();
        record.state = RunState::Failed;
        assert!(with_result(&record).words().ends_with("a failure of Pippin: it has no result"));
    }
}
