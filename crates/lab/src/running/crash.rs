//! A target, or a service of it, that ended by itself while it was loaded.
use pippin_model::result::LoadResult;
use pippin_model::trial::{EndedProcess, Failure, ServerEnd, TrialRecord};

/// What is known of the end of a target, or of one of its services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The end as the failure of its trial.
    pub failure: Failure,
    /// The main process of the target; `None` if it lives.
    pub(super) ended: Option<Ended>,
}

/// The end of a target's main process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub pid: i32,
    pub name: String,
    /// When the end was known, nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// Why it ended, as far as that is known.
    pub end: ServerEnd,
}

impl Crash {
    /// Writes it into the record of the trial in which it happened, under this load if there was
    /// one.
    pub fn note(self, load: Option<&LoadResult>, record: &mut TrialRecord) {
        if let Some(Ended { pid, name, at_unix_ns, end }) = self.ended {
            // Before what is measured began, there is no such time.
            let after_ns = load.and_then(|load| at_unix_ns.checked_sub(load.started_unix_ns));
            record.ended = vec![EndedProcess { pid, name, after_ns }];
            record.server_end = Some(end);
        }
        record.failure = Some(self.failure);
    }
}
