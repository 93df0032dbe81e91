//! What a target may use at the most: whether that can be held here, whether it is held, and who was killed
//! at it.
use pippin_model::plan::cpus::CpuSplit;
use pippin_model::plan::limits::Limits;
use pippin_model::target::TargetId;
use pippin_model::text::units::counted;
use pippin_model::trial::Stage;
use pippin_model::verdict::{Caveat, Severity};
use pippin_probe::cgroup;
use pippin_probe::kernel_files::KernelFiles;
use pippin_probe::memory::parse_meminfo;
use std::path::PathBuf;

use crate::error::LabError;
use crate::lifecycle::affinity;
use crate::lifecycle::group::{Group, killed_in_words};
use crate::target::{Kind, Target};

/// Limits that cannot be held for these targets, before anything is installed or started.
///
/// # Errors
/// The first reason why one cannot be held, or would have no effect, with the fix.
pub fn can_be_held(
    limits: Limits,
    targets: &[(TargetId, Target)],
    cpus: &CpuSplit,
) -> Result<(), LabError> {
    let Limits { cpus: asked_cpus, memory_bytes } = limits;
    if limits.is_empty() {
        return Ok(());
    }
    let all = affinity::available();
    let has = if cpus.target.is_empty() { all.len() } else { cpus.target.len() };
    if asked_cpus.is_some_and(|asked| asked >= has as f64) {
        return Err(LabError::User(format!(
            "--cpu: a target runs on {} here, so that this limit would have no effect: ask for less, or give it more processors ([cpus] target)",
            counted(has as u64, "processor")
        )));
    }
    let has = KernelFiles::default().text("proc/meminfo");
    let has = has.and_then(|text| parse_meminfo(&text).total_bytes);
    if memory_bytes.zip(has).is_some_and(|(asked, has)| asked >= has) {
        return Err(LabError::User(
            "--memory: this machine has less, so that this limit would have no effect".into(),
        ));
    }
    let is_started_elsewhere =
        |(_, target): &&(TargetId, Target)| matches!(target.kind, Kind::Listening(_));
    if let Some((id, _)) = targets.iter().find(is_started_elsewhere) {
        return Err(LabError::User(format!(
            "{}: {id} runs already, and Pippin can hold only what it starts to limits: write how it is started (`command`), or limit it yourself",
            limits.options()
        )));
    }
    let is_process = |(_, target): &(TargetId, Target)| !matches!(target.kind, Kind::Image(_));
    if targets.iter().any(is_process) {
        Group::make(limits).map_err(LabError::User)?;
    }
    Ok(())
}

/// Whether a process has these limits, as the kernel says: a container's runtime may leave them out, and a
/// group above may have less.
pub(super) fn is_held(limits: Limits, process: i32) -> Result<(), LabError> {
    // The kernel counts pages, of up to 64 KiB.
    const PAGE: u64 = 64 * 1024;
    let found = cgroup::limits_of(&KernelFiles::default(), &process.to_string());
    let found = Limits { cpus: found.cpus, memory_bytes: found.memory_bytes };
    let cpus = limits
        .cpus
        .is_none_or(|asked| found.cpus.is_some_and(|found| (found - asked).abs() <= asked * 0.01));
    let memory = limits
        .memory_bytes
        .is_none_or(|asked| found.memory_bytes.is_some_and(|found| found.abs_diff(asked) <= PAGE));
    if cpus && memory {
        return Ok(());
    }
    let words = if found.is_empty() { "no limits".into() } else { found.words() };
    Err(LabError::target(
        Stage::Start,
        format!("it was to be held to {}, and its control groups say {words}", limits.words()),
    ))
}

/// Where the kernel counts whom it kills at the limit of memory.
pub(super) fn memory_group(limits: Limits, process: i32) -> Option<PathBuf> {
    limits.memory_bytes?;
    cgroup::chain(&KernelFiles::default(), &process.to_string(), "memory")?.folders.pop()
}

/// The error of a start, with the limit at which the kernel ended it.
pub(super) fn with_reason(group: Option<&Group>, limits: Limits, error: LabError) -> LabError {
    match killed_in_words(group.map_or(0, Group::killed_for_memory), limits) {
        Some(why) => error.reworded(|message| format!("{message}: {why}")),
        None => error,
    }
}

/// Some of its processes were killed at its limit, and others took their place.
pub(super) fn memory_limit(evidence: String) -> Caveat {
    Caveat {
        id: "memory_limit".into(),
        severity: Severity::Suspect,
        evidence,
        advice: "what they had under way was lost; give it more memory, or fewer workers".into(),
    }
}
