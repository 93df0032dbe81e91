//! A target that ended by itself while it was loaded.
use pippin_model::result::LoadResult;
use pippin_model::trial::{EndedProcess, Failure, ServerEnd, TrialRecord};

/// What is known of the end of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The end as the failure of its trial.
    pub failure: Failure,
    /// Its main process.
    pub(super) pid: i32,
    pub(super) name: String,
    /// When the end was known, nanoseconds since 1970.
    pub(super) at_unix_ns: u64,
    /// Why it ended, as far as that is known.
    pub(super) end: ServerEnd,
}

impl Crash {
    /// Writes it into the record of the trial in which it happened, under this load if there was
    /// one.
    pub fn note(self, load: Option<&LoadResult>, record: &mut TrialRecord) {
        let after_ns = load.map_or(0, |load| self.at_unix_ns.saturating_sub(load.started_unix_ns));
        record.ended = vec![EndedProcess { pid: self.pid, name: self.name, after_ns }];
        record.server_end = Some(self.end);
        record.failure = Some(self.failure);
    }
}
