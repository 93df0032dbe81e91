//! What a plan needs from this host: from the kernel, and which tools for its targets.
use pippin_model::plan::Plan;
use pippin_model::plan::profile::Profile;
use pippin_probe::doctor::{Demand, DemandCpus};

use crate::error::LabError;
use crate::host::descriptors;
use crate::install::{self, apt, tools};
use crate::load::CONNECTIONS_PER_SOURCE;
use crate::run::{split, workers};
use crate::target::catalog::Catalog;

/// What the plan asks of the kernel.
///
/// # Errors
/// If the plan names a processor that this process may not use, or a target whose manifest cannot
/// be used.
pub fn from_plan(catalog: &Catalog, plan: &Plan) -> Result<Demand, LabError> {
    let cpus = split(plan)?;
    let workers = workers(plan, &cpus);
    let processes = |id| Ok(descriptors::processes(&catalog.target(id)?, id, workers));
    let fewest_processes =
        plan.targets.iter().map(processes).collect::<Result<Vec<_>, LabError>>()?.into_iter().min();
    let connections = |id| Ok(descriptors::connections(&catalog.target(id)?, id, plan));
    let connections = plan
        .targets
        .iter()
        .map(connections)
        .collect::<Result<Vec<_>, LabError>>()?
        .into_iter()
        .max();
    let connections = connections.unwrap_or(0);
    let mut demand = Demand::new(plan.id.clone(), connections);
    demand.source_addresses = connections.div_ceil(u64::from(CONNECTIONS_PER_SOURCE)).max(1);
    // Each thread of the generator has its own table as soon as one is not enough.
    demand.generator_tables = descriptors::tables_for(connections, descriptors::open_files())
        .max(cpus.generator.len().max(1) as u64);
    demand.server_tables = fewest_processes.unwrap_or(1);
    demand.opened_at_once = opened_at_once(&plan.profile, connections);
    demand.requests_per_connection = plan.profile.requests_per_connection().map(u64::from);
    demand.rate_per_s = plan.profile.highest_rate_per_s();
    demand.duration_ns = plan.profile.headline_ns();
    demand.cpus = DemandCpus { target: Some(cpus.target), generator: Some(cpus.generator) };
    Ok(demand)
}

/// Devices are added one by one, so at most those of a tenth of a second arrive together.
fn opened_at_once(profile: &Profile, connections: u64) -> u64 {
    match profile.schedule.phases() {
        Some([(_, ramp_up_ns), ..]) => (connections * 100_000_000)
            .checked_div(ramp_up_ns)
            .unwrap_or(connections)
            .clamp(1, connections.max(1)),
        None => connections,
    }
}

/// What the installation of one target lacks on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// The target.
    pub target: String,
    /// Each way to install with the tools it lacks and the packages that bring them.
    pub routes: Vec<(String, Vec<String>, Vec<String>)>,
}

/// The targets of a plan that are not installed and for which no way to install has all its tools.
///
/// # Errors
/// If a manifest cannot be used.
pub fn lacking_tools(catalog: &Catalog, plan: &Plan) -> Result<Vec<Lacking>, LabError> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut lacking: Vec<Lacking> = Vec::new();
    for id in &plan.targets {
        let target = catalog.target(id)?;
        if install::present(&target).is_some()
            || lacking.iter().any(|other| other.target == target.id.to_string())
        {
            continue;
        }
        let routes: Vec<_> = target
            .manifest
            .ways()
            .into_iter()
            .map(|route| {
                (route.name, tools::missing(&route.tools, &path), apt::missing(&route.apt))
            })
            .collect();
        if routes.iter().all(|(_, tools, _)| !tools.is_empty()) {
            lacking.push(Lacking { target: target.id.to_string(), routes });
        }
    }
    Ok(lacking)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_arrive_over_the_ramp() {
        let second = 1_000_000_000;
        let think = pippin_model::text::units::Spread::exactly(900_000_000);
        let profile = Profile::devices(10_000, 100, think, [10 * second, second, second]);
        assert_eq!(opened_at_once(&profile, profile.most_connections()), 100);
        assert_eq!(profile.requests_per_connection(), Some(100));
        assert_eq!(opened_at_once(&profile, 0), 1, "a plan without targets");
    }
}
