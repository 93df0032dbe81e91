//! What a request costs: CPU time by role, and energy.
use crate::host::usage::{Role, Usage};
use crate::result::{LoadResult, measured_windows};
use crate::trial::TrialRecord;
use crate::trial::agent::{AgentFigures, AgentPart};

/// CPU-seconds of a role per million right answers; `None` if no answer was right or the role's use
/// is unknown. Answers that are not right cost too, and are worth nothing.
///
/// Both are rates (cores busy over answers per second), because the times covered by probe and load
/// differ by a sample. Answers count when they came, because that is when they used CPU time.
#[must_use]
pub fn cpu_seconds_per_million(load: &LoadResult, usage: &Usage, role: Role) -> Option<f64> {
    Some(cores_of(usage, role)? / right_per_s(load)? * 1e6)
}

/// CPU-seconds of the generator per million right answers: of all of Pippin's process, or of the
/// agents that applied the load, wherever they ran. The threads that send and read are a part of it.
/// `None` if no answer was right or the use of a part is unknown.
#[must_use]
pub fn generator_cpu_seconds_per_million(trial: &TrialRecord) -> Option<f64> {
    let load = trial.load.as_ref()?;
    Some(generator_cores(trial)? / right_per_s(load)? * 1e6)
}

/// Cores that the generator kept busy on average: all of Pippin's process, or the agents that
/// applied the load. `None` if the use of a part is unknown.
#[must_use]
pub fn generator_cores(trial: &TrialRecord) -> Option<f64> {
    if trial.agents.is_empty() {
        return cores_of(trial.usage.as_ref()?, Role::Generator);
    }
    of_agents(&trial.agents, |one| one.cpu_ns as f64 / one.duration_ns as f64)
}

/// The sum of a figure over the agents of a load. `None` if one of them delivered nothing, or
/// measured for no time.
fn of_agents(agents: &[AgentPart], figure: fn(&AgentFigures) -> f64) -> Option<f64> {
    let delivered = |agent: &AgentPart| {
        let figures = agent.figures.as_ref()?;
        // Without a result, only what its seconds say is known.
        (agent.failure.is_none() && figures.duration_ns > 0).then(|| figure(figures))
    };
    agents.iter().map(delivered).sum()
}

/// CPU-seconds of the target's tier of this name per million right answers; `None` if there is no
/// such tier or its use is unknown.
#[must_use]
pub fn cpu_seconds_per_million_of(load: &LoadResult, usage: &Usage, tier: &str) -> Option<f64> {
    let tier = usage.tiers.iter().find(|known| known.name == tier)?;
    Some(tier.used.cores? / right_per_s(load)? * 1e6)
}

/// Joules of all packages of processors per million right answers, with all that ran on them; `None`
/// if no answer was right or the host does not show its energy.
#[must_use]
pub fn joules_per_million(load: &LoadResult, usage: &Usage) -> Option<f64> {
    let watts = (usage.duration_ns > 0)
        .then_some(usage.energy_uj? as f64 * 1e3 / usage.duration_ns as f64)?;
    Some(watts / right_per_s(load)? * 1e6)
}

/// Cores that a role kept busy on average.
#[must_use]
pub fn cores_of(usage: &Usage, role: Role) -> Option<f64> {
    let used = usage.roles.get(&role)?;
    used.cores.or_else(|| {
        used.cpu_ns.filter(|_| usage.duration_ns > 0).map(|ns| ns as f64 / usage.duration_ns as f64)
    })
}

/// Right answers per second by when they came.
fn right_per_s(load: &LoadResult) -> Option<f64> {
    let (good, ns) = measured_windows(load)
        .fold((0, 0), |(good, ns), window| (good + window.good, ns + window.duration_ns));
    let arriving = (ns > 0).then(|| good as f64 * 1e9 / ns as f64);
    arriving.or_else(|| load.measured.goodput_per_s()).filter(|x| *x > 0.0)
}
