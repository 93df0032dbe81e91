//! Which processors target, generator and services have.
use pippin_model::plan::Plan;
use pippin_model::plan::cpus::{CpuSet, CpuSplit};

use crate::error::LabError;
use crate::lifecycle::affinity;

/// `WORKERS` of every target.
pub(crate) fn workers(plan: &Plan, cpus: &CpuSplit) -> u32 {
    plan.workers.unwrap_or(cpus.target.len().max(1) as u32)
}

/// Who runs where on this machine.
///
/// # Errors
/// If the plan names a processor that this process may not use.
pub fn split(plan: &Plan) -> Result<CpuSplit, LabError> {
    let available = affinity::available();
    if plan.cpus.share {
        return Ok(CpuSplit {
            target: available.clone(),
            generator: available.clone(),
            services: available,
        });
    }
    let default = CpuSplit::default_for(&available);
    let named = |key: &str, wish: &Option<CpuSet>, other: &CpuSet| match wish {
        None => Ok(other.clone()),
        Some(wish) if wish.0.is_subset(&available.0) => Ok(wish.clone()),
        Some(wish) => Err(LabError::User(format!(
            "plan {}: cpus.{key} is {wish}, but this process may use {available}; change it or take it out",
            plan.id
        ))),
    };
    let generator = named("generator", &plan.cpus.generator, &default.generator)?;
    Ok(CpuSplit {
        target: named("target", &plan.cpus.target, &default.target)?,
        services: named("services", &plan.cpus.services, &generator)?,
        generator,
    })
}

/// If the generators run on other machines, the target gets their processors too, unless services
/// use them or the plan names the target's processors.
pub(super) fn without_generator(split: CpuSplit, plan: &Plan, has_services: bool) -> CpuSplit {
    let mut target = split.target;
    if !has_services && plan.cpus.target.is_none() {
        target.0.extend(&split.generator.0);
    }
    let services = if has_services { split.services } else { CpuSet::default() };
    CpuSplit { target, generator: CpuSet::default(), services }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run::{closed, header};

    #[test]
    fn without_a_generator_the_target_has_its_processors_too() {
        let cpus = |text: &str| CpuSet::parse(text).unwrap();
        let split =
            || CpuSplit { target: cpus("0-1"), generator: cpus("2-3"), services: cpus("2-3") };
        let header = header("hello", "Hello", closed(), &["go/net-http"]);
        let alone = without_generator(split(), &header.plan, false);
        assert_eq!((alone.target, alone.services.len()), (cpus("0-3"), 0));
        let beside = without_generator(split(), &header.plan, true);
        assert_eq!((beside.target, beside.services), (cpus("0-1"), cpus("2-3")));
        assert!(beside.generator.is_empty());
    }
}
