//! Compares the limit on open files (getrlimit(2), RLIMIT_NOFILE) with the connections of a load:
//! how many descriptor tables it fills, and which targets cannot hold a plan's connections. So this
//! is known before the run.
use pippin_model::plan::Plan;
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Stage};
use pippin_probe::limits::own_limits;

use crate::target::catalog::Target;

/// How many descriptors of a table are not for connections: standard streams, event loops, the
/// store, logs, a database pool.
const OTHER_DESCRIPTORS: u64 = 256;

/// How many descriptor tables these connections fill.
#[must_use]
pub fn tables_for(connections: u64, open_files: u64) -> u64 {
    let room = open_files.saturating_sub(OTHER_DESCRIPTORS).max(1);
    connections.div_ceil(room)
}

/// The hard limit of open files, to which the program and the engine raise their soft one; every
/// target inherits it.
#[must_use]
pub fn open_files() -> u64 {
    own_limits().get("nofile").and_then(|limit| limit.hard).unwrap_or(u64::MAX)
}

/// Over how many processes a target spreads its connections.
#[must_use]
pub fn processes(target: &Target, id: &TargetId, workers: u32) -> u64 {
    if target.manifest.process_per_worker(id.variant.as_deref()) {
        u64::from(workers.max(1))
    } else {
        1
    }
}

/// The connections of the plan's users to this target.
#[must_use]
pub fn connections(target: &Target, id: &TargetId, plan: &Plan) -> u64 {
    // Contradictions between plan and target are refused elsewhere.
    let spoken = target.spoken(id.variant.as_deref(), plan.profile.protocol).unwrap_or_default();
    plan.profile.most_connections_over(spoken.protocol())
}

/// Why this target cannot hold the plan's connections under this limit, and what to do; `None` if
/// it can.
#[must_use]
pub fn stops(
    target: &Target,
    id: &TargetId,
    plan: &Plan,
    workers: u32,
    open_files: u64,
) -> Option<Failure> {
    let connections = connections(target, id, plan);
    let needed = tables_for(connections, open_files);
    let processes = processes(target, id, workers);
    if processes >= needed {
        return None;
    }
    let among =
        if processes == 1 { "one process".to_string() } else { format!("{processes} processes") };
    let mut ways = vec![format!(
        "allow more: ulimit -n {}",
        connections.div_ceil(processes) + OTHER_DESCRIPTORS
    )];
    if target.manifest.process_per_worker(id.variant.as_deref()) {
        ways.push(format!("start more processes: --workers {needed}"));
    }
    if plan.profile.kind() == "devices" {
        ways.push(format!("ask for fewer devices: --scale 1/{}", needed.div_ceil(processes)));
    }
    Some(Failure {
        stage: Stage::Limits,
        message: format!(
            "{connections} connections do not fit into {among} of {open_files} open files each; {}",
            ways.join(", or ")
        ),
        log_tail: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::plan::PlanOptions;
    use std::path::PathBuf;

    #[test]
    fn connections_beyond_one_table_take_more() {
        assert_eq!(tables_for(10_000, 20_000), 1);
        assert_eq!(tables_for(19_744, 20_000), 1);
        assert_eq!(tables_for(19_745, 20_000), 2);
        assert_eq!(tables_for(100_000, 20_000), 6);
        assert_eq!(tables_for(1_000_000, u64::MAX), 1);
    }

    fn of_express(variant: Option<&str>, workers: u32, open_files: u64) -> Option<String> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let catalog = crate::target::catalog::Catalog::from_place(
            &crate::target::place::Place::find(&root).unwrap(),
            None,
        );
        let id: TargetId = variant
            .map_or("javascript/express".to_string(), |name| format!("javascript/express:{name}"))
            .parse()
            .unwrap();
        let plan = catalog.plan("devices-100k", &PlanOptions::default()).unwrap();
        stops(&catalog.target(&id).unwrap(), &id, &plan, workers, open_files)
            .map(|failure| failure.message)
    }

    #[test]
    fn a_single_process_is_told_its_limit_and_several_hold_more() {
        let told = of_express(None, 8, 20_000).unwrap();
        assert_eq!(
            told,
            "100000 connections do not fit into one process of 20000 open files each; allow more: ulimit -n 100256, or ask for fewer devices: --scale 1/6"
        );
        assert_eq!(of_express(None, 1, 100_256), None);
        assert!(
            of_express(Some("cluster"), 5, 20_000)
                .unwrap()
                .contains("start more processes: --workers 6")
        );
        assert_eq!(of_express(Some("cluster"), 6, 20_000), None);
    }
}
