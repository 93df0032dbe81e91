//! What a target used and what its answers cost, as medians over its repetitions.
use pippin_model::host::usage::{Role, RoleUse, Usage};
use pippin_model::plan::Price;
use pippin_model::trial::TrialRecord;
use serde::{Deserialize, Serialize};

use crate::bottleneck::cost::{
    cores_of, cpu_seconds_per_million, generator_cores, generator_cpu_seconds_per_million,
    joules_per_million, money_per_million,
};
use crate::series::quantile::median;

/// What was used, as medians over the repetitions. Cores means cores kept busy on average.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageFigures {
    /// By the target's process tree.
    pub target_cores: Option<f64>,
    /// By the services.
    pub services_cores: Option<f64>,
    /// By the generator.
    pub generator_cores: Option<f64>,
    /// The generator's busiest thread as a share of a core, without its spinning.
    pub generator_busiest: Option<f64>,
    /// By processes of no role.
    pub other_cores: Option<f64>,
    /// By the kernel's own threads, for network work of the load.
    pub kernel_network_cores: Option<f64>,
    /// By other virtual machines on the same host.
    pub steal_cores: Option<f64>,
    /// Highest memory of the target's whole process tree: the proportional set, in which shared
    /// pages count once, or else the resident set.
    pub target_memory_bytes: Option<f64>,
    /// Highest resident set of the same.
    pub target_rss_bytes: Option<f64>,
    /// Highest memory of the services.
    pub services_memory_bytes: Option<f64>,
    /// Processes of the target.
    pub target_processes: Option<f64>,
    /// Highest number of threads of the target.
    pub target_threads: Option<f64>,
    /// Bytes that the target wrote to its log, per answer.
    pub log_bytes_per_request: Option<f64>,
    /// Context switches of the target, both kinds, per answer.
    pub switches_per_request: Option<f64>,
}

/// What a million requests cost, medians over the repetitions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CostFigures {
    /// CPU-seconds of the target.
    pub target_cpu_s_per_million: Option<f64>,
    /// CPU-seconds of the services.
    pub services_cpu_s_per_million: Option<f64>,
    /// CPU-seconds of the generator.
    pub generator_cpu_s_per_million: Option<f64>,
    /// Energy of all packages of processors, joules: with generator, services and idling.
    pub energy_j_per_million: Option<f64>,
    /// Target and services together at a price; `None` without one.
    pub money_per_million: Option<f64>,
    /// The currency of that price.
    pub currency: Option<String>,
}

impl UsageFigures {
    pub(crate) fn from_trials(trials: &[&TrialRecord]) -> Self {
        let usage = |figure: &dyn Fn(&Usage) -> Option<f64>| {
            median_of(trials, |trial| figure(trial.usage.as_ref()?))
        };
        let role = |role: Role, figure: fn(&RoleUse) -> Option<f64>| {
            usage(&|usage| figure(usage.roles.get(&role)?))
        };
        let cores = |role: Role| usage(&|usage| cores_of(usage, role));
        let per_answer = |figure: fn(&Usage) -> Option<u64>| {
            median_of(trials, |trial| {
                let completed = trial.load.as_ref()?.measured.requests.completed;
                (completed > 0).then_some(figure(trial.usage.as_ref()?)? as f64 / completed as f64)
            })
        };
        let memory = |of: &RoleUse| of.memory_max_bytes().map(|bytes| bytes as f64);
        Self {
            target_cores: cores(Role::Target),
            services_cores: cores(Role::Services),
            generator_cores: median_of(trials, generator_cores),
            generator_busiest: median_of(trials, |trial| {
                let load = trial.load.as_ref()?;
                load.generator.busiest_share(load.measured.duration_ns)
            }),
            other_cores: usage(&|usage| usage.other_cores),
            kernel_network_cores: usage(&|usage| Some(usage.kernel_network.as_ref()?.of_load())),
            steal_cores: usage(&|usage| usage.steal_cores),
            target_memory_bytes: role(Role::Target, memory),
            target_rss_bytes: role(Role::Target, |of| of.rss_max_bytes.map(|bytes| bytes as f64)),
            services_memory_bytes: role(Role::Services, memory),
            target_processes: role(Role::Target, |of| of.processes.map(f64::from)),
            target_threads: role(Role::Target, |of| of.threads.map(f64::from)),
            log_bytes_per_request: per_answer(|usage| usage.log_bytes),
            switches_per_request: per_answer(|usage| {
                let target = usage.roles.get(&Role::Target)?;
                Some(target.voluntary_switches? + target.involuntary_switches?)
            }),
        }
    }
}

impl CostFigures {
    pub(crate) fn from_trials(trials: &[&TrialRecord]) -> Self {
        let cpu = |role: Role| {
            median_of(trials, |trial| {
                cpu_seconds_per_million(trial.load.as_ref()?, trial.usage.as_ref()?, role)
            })
        };
        Self {
            target_cpu_s_per_million: cpu(Role::Target),
            services_cpu_s_per_million: cpu(Role::Services),
            generator_cpu_s_per_million: median_of(trials, generator_cpu_seconds_per_million),
            energy_j_per_million: median_of(trials, |trial| {
                joules_per_million(trial.load.as_ref()?, trial.usage.as_ref()?)
            }),
            money_per_million: None,
            currency: None,
        }
    }

    /// These figures with the cost at this price.
    #[must_use]
    pub fn at(self, price: &Price) -> Self {
        let served = self
            .target_cpu_s_per_million
            .map(|target| target + self.services_cpu_s_per_million.unwrap_or(0.0));
        Self {
            money_per_million: served.and_then(|served| money_per_million(served, price)),
            currency: Some(price.currency.clone()),
            ..self
        }
    }
}

/// The median of a figure over the trials that have it.
pub(crate) fn median_of(
    trials: &[&TrialRecord],
    figure: impl Fn(&TrialRecord) -> Option<f64>,
) -> Option<f64> {
    median(&trials.iter().filter_map(|record| figure(record)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::fingerprint::Fingerprint;
    use pippin_model::load::Part;
    use pippin_model::trial::agent::{AgentFigures, AgentPart};

    fn agent(cpu_ns: u64) -> AgentPart {
        AgentPart {
            name: "a".into(),
            tags: Vec::new(),
            host: Fingerprint::default(),
            part: Part::WHOLE,
            clock: None,
            late_ns: None,
            silent_ns: None,
            beside: Vec::new(),
            figures: Some(AgentFigures {
                threads: 1,
                duration_ns: 2_000_000_000,
                scheduled: 500_000,
                completed: 500_000,
                errors: 0,
                goodput_per_s: None,
                response_p50_ns: None,
                response_p99_ns: None,
                network_ns: None,
                cpu_ns,
                busiest_share: None,
                ceiling_per_s: None,
            }),
            caveats: Vec::new(),
            failure: None,
        }
    }

    /// 1.0 and 0.5 s of CPU time in 2 s are 0.75 processors.
    #[test]
    fn the_generator_of_a_fleet_is_its_agents_wherever_they_run() {
        let mut record = ExampleTrial::hello().build();
        record.usage.as_mut().unwrap().roles.remove(&Role::Generator);
        record.agents = vec![agent(1_000_000_000), agent(500_000_000)];
        let of = |record: &TrialRecord| {
            let trials = [record];
            (
                UsageFigures::from_trials(&trials).generator_cores,
                CostFigures::from_trials(&trials).generator_cpu_s_per_million,
            )
        };
        let right = record.load.as_ref().unwrap().measured.goodput_per_s().unwrap();
        let (cores, cost) = of(&record);
        assert_eq!(cores, Some(0.75));
        assert!((cost.unwrap() / (0.75e6 / right) - 1.0).abs() < 0.01, "{cost:?}");
        record.agents[1].figures = None;
        assert_eq!(of(&record), (None, None), "an unknown part makes the sum unknown");
    }
}
