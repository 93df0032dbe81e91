//! Made-up trials and runs for the tests of every crate (feature `example`). The right answers are
//! known, because they were put in.
//!
//! | module | what it makes |
//! |---|---|
//! | [`trial`] | one trial with consistent figures, changed in one respect at a time |
//! | [`run`] | whole runs of several targets, one for each kind of profile |
//! | [`consistent`] | whole runs whose raw figures agree with each other |
//! | [`overload`] | trials that go beyond the capacity of a server |
//! | [`scenario`] | trials whose users went through steps |
//! | [`slices`] | trials that were measured in rounds of slices |
//! | [`starts`] | recorded first seconds of servers that compile while they serve |
#![allow(missing_docs)] // names of figures are explained where the records are defined
#![allow(clippy::unwrap_used)] // this is part of the tests
pub mod consistent;
pub mod overload;
pub mod run;
pub mod scenario;
pub mod slices;
pub mod starts;
pub mod trial;

pub use trial::ExampleTrial;

use crate::trial::{Failure, Stage, TrialRecord};
use crate::verdict::{Caveat, Severity};

const SECOND: u64 = 1_000_000_000;
/// When the example runs began, nanoseconds since 1970: 2026-11-21 20:35:39 UTC.
pub const STARTED_UNIX_NS: u64 = 1_795_293_339 * SECOND;

/// A caveat with evidence and advice.
pub fn caveat(id: &str, severity: Severity, evidence: &str, advice: &str) -> Caveat {
    let [id, evidence, advice] = [id, evidence, advice].map(str::to_string);
    Caveat { id, severity, evidence, advice }
}

/// A trial that failed at this stage, without a result.
pub fn failed(record: TrialRecord, stage: Stage, message: &str) -> TrialRecord {
    let failure =
        Failure { stage, message: message.into(), log_tail: vec!["its last words".into()] };
    TrialRecord {
        proofs: record.proofs,
        failure: Some(failure),
        ..TrialRecord::begun(record.spec, record.started_unix_ns)
    }
}
