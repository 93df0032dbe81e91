//! What comes before the first repetition: installs the targets, and records what they are.
use pippin_model::plan::Plan;
use pippin_model::plan::cpus::CpuSplit;
use pippin_model::run::{RunHeader, TargetInfo};
use pippin_model::target::TargetId;
use pippin_model::target::register::Register;
use pippin_model::trial::{Failure, Stage};
use pippin_model::workload::Workload;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::RunSettings;
use super::observer::Event;
use super::split::workers;
use crate::error::LabError;
use crate::host::descriptors;
use crate::install::{Installed, Installer, versions};
use crate::services::Services;
use crate::target::catalog::Target;
use crate::trial::unix_now_ns;

/// The targets of a run, each with how it was installed, or why it was not.
pub(super) type Prepared = BTreeMap<TargetId, (Target, Result<Installed, Failure>)>;

/// Reports targets that cannot hold the plan's connections here, before anything is installed or
/// started.
pub(super) fn stopped_by_limits(
    targets: &[(TargetId, Target)],
    plan: &Plan,
    cpus: &CpuSplit,
) -> BTreeMap<TargetId, Failure> {
    let open_files = descriptors::open_files();
    let stops = |id, target| descriptors::stops(target, id, plan, workers(plan, cpus), open_files);
    targets.iter().filter_map(|(id, target)| Some((id.clone(), stops(id, target)?))).collect()
}

/// Installs what is missing. On an interruption, finished installations stay; the remaining targets
/// are recorded as not installed.
pub(super) fn prepare(
    targets: &[(TargetId, Target)],
    mut stopped: BTreeMap<TargetId, Failure>,
    workload: &Workload,
    settings: &RunSettings<'_>,
) -> Result<Prepared, LabError> {
    let interrupted = || settings.stop.load(Ordering::Relaxed);
    let say = |text: &str| settings.observer.event(&Event::Note(text));
    let installer = Installer {
        apt_allowed: settings.apt,
        steps_allowed: settings.install,
        say: &say,
        interrupted: &interrupted,
    };
    let databases = targets.iter().any(|(_, target)| target.world.has_database());
    match Services::provide(&workload.services, databases, &installer) {
        Ok(()) | Err(LabError::Interrupted) => {}
        Err(other) => return Err(other),
    }
    let mut prepared = Prepared::new();
    // The values of a scan share a folder, which is built once.
    let built = |target: &Target| {
        (target.id.language.clone(), target.id.plain_name().to_string(), target.folder.clone())
    };
    let mut done: BTreeMap<_, Result<Installed, Failure>> = BTreeMap::new();
    for (id, target) in targets {
        let outcome = match (stopped.remove(id), done.get(&built(target))) {
            (Some(stopped), _) => Err(stopped),
            (None, Some(outcome)) => outcome.clone(),
            (None, None) => {
                let outcome = match installer.install(target) {
                    Ok(installed) => Ok(installed),
                    Err(LabError::Target(failure)) => Err(failure),
                    Err(LabError::Interrupted) => Err(not_installed()),
                    Err(other) => return Err(other),
                };
                done.insert(built(target), outcome.clone());
                outcome
            }
        };
        if let Some(failure) = outcome.as_ref().err().filter(|_| !interrupted()) {
            settings.observer.event(&Event::Unavailable(id, failure));
        }
        prepared.insert(id.clone(), (target.clone(), outcome));
    }
    Ok(prepared)
}

fn not_installed() -> Failure {
    Failure {
        stage: Stage::Install,
        message: "interrupted before it was installed".into(),
        log_tail: Vec::new(),
    }
}

/// What is known of a run before it begins.
pub(super) fn header(
    plan: Plan,
    workload: Workload,
    prepared: &Prepared,
    register: &Register,
    settings: &RunSettings<'_>,
) -> RunHeader {
    let info = |(target, outcome): &(Target, Result<Installed, Failure>)| TargetInfo {
        manifest: target.kept_manifest(),
        route: outcome.as_ref().ok().map(|installed| installed.route.clone()),
        versions: outcome
            .as_ref()
            .map(|installed| versions::read(target, installed))
            .unwrap_or_default(),
        digest: target.digest(),
        commit: target.commit(),
        registered: register
            .entries(&target.id, outcome.as_ref().ok().map(|installed| installed.route.as_str())),
        unavailable: outcome.as_ref().err().cloned(),
    };
    let started = unix_now_ns();
    RunHeader {
        id: run_id(started, &plan.id),
        started_unix_ns: started,
        pippin_version: env!("CARGO_PKG_VERSION").into(),
        workload,
        url: None,
        requests: None,
        server: None,
        seed: settings.seed,
        host: pippin_probe::fingerprint(),
        probe: settings.probe.clone(),
        targets: prepared.iter().map(|(id, entry)| (id.clone(), info(entry))).collect(),
        calibration: settings.calibration.clone(),
        labels: settings.labels.clone(),
        plan,
    }
}

/// A name that sorts by time and is unique among Pippins.
pub(crate) fn run_id(started_unix_ns: u64, plan: &str) -> String {
    let started = jiff::Timestamp::from_nanosecond(started_unix_ns.into()).unwrap_or_default();
    // Milliseconds are not enough: a script may start several runs in the same one.
    format!("{}-{plan}", started.strftime("%Y%m%d-%H%M%S%.6f"))
}

#[cfg(test)]
mod tests {
    use super::run_id;

    #[test]
    fn run_ids_sort_by_time() {
        assert_eq!(run_id(1_795_293_339_123_456_000, "hello"), "20261121-203539.123456-hello");
        assert!(run_id(0, "a").starts_with("19700101-000000"));
    }
}
