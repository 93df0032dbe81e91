//! A generator applies loads: the engine in this process, or agents elsewhere.
use pippin_engine::{Control, EngineError};
use pippin_model::load::LoadSpec;
use pippin_model::result::LoadResult;
use pippin_model::trial::agent::AgentPart;
use pippin_probe::RoleRoot;

use crate::error::LabError;
use crate::network::Simulated;

/// What came of a load.
#[derive(Debug)]
pub struct Applied {
    /// What was measured.
    pub load: LoadResult,
    /// The agents that took part; empty if the load was applied here.
    pub agents: Vec<AgentPart>,
}

/// Why a load was not applied to its end.
#[derive(Debug)]
pub struct NotApplied {
    /// What went wrong.
    pub error: LabError,
    /// What was measured until then.
    pub applied: Option<Box<Applied>>,
}

impl From<LabError> for NotApplied {
    fn from(error: LabError) -> Self {
        Self { error, applied: None }
    }
}

/// Applies loads.
pub trait Generator {
    /// Changes what this generator cannot do, before the load is recorded.
    fn fit(&self, _load: &mut LoadSpec) {}

    /// Applies one load and blocks until it is over.
    ///
    /// # Errors
    /// If the load cannot run as requested, or a part of the generator died.
    fn apply(&self, load: &LoadSpec, control: &Control<'_>) -> Result<Applied, NotApplied>;

    /// Whether it starts at once, so that loads of tenths of a second make sense. Agents do not:
    /// they agree on a start for each load, and report once a second.
    fn is_ready_at_once(&self) -> bool {
        false
    }

    /// Whether a referee in this process can judge answers as they come. Agents only have its
    /// deputies.
    fn asks_referees(&self) -> bool {
        false
    }

    /// Why parts of it were lost in the last load, if they were: made again, the load may well be
    /// complete.
    fn lost(&self) -> Option<String> {
        None
    }

    /// Its processes on this machine.
    fn roots(&self) -> Vec<RoleRoot>;
}

/// The engine in this process.
#[derive(Debug, Clone, Copy)]
pub struct Here;

impl Generator for Here {
    fn is_ready_at_once(&self) -> bool {
        true
    }

    fn asks_referees(&self) -> bool {
        true
    }

    fn apply(&self, load: &LoadSpec, control: &Control<'_>) -> Result<Applied, NotApplied> {
        let network = Simulated::between(load)
            .map_err(LabError::io("put a simulated network between load and target"))?;
        let through = network.as_ref().map(|network| network.through(load));
        let alone = |load| {
            let network = network.as_ref().map(Simulated::seen);
            Applied { load: LoadResult { network, ..load }, agents: Vec::new() }
        };
        let load = through.as_ref().unwrap_or(load);
        pippin_engine::run(load, control).map(alone).map_err(|error| NotApplied {
            applied: match &error {
                EngineError::Died { measured: Some(load), .. } => {
                    Some(Box::new(alone((**load).clone())))
                }
                _ => None,
            },
            error: error.into(),
        })
    }

    fn roots(&self) -> Vec<RoleRoot> {
        vec![RoleRoot::Process(std::process::id() as i32)]
    }
}
