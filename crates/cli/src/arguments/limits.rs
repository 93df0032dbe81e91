//! The flags that say what each target may use.
use clap::Args;
use pippin_model::plan::limits::{Limits, parse_cpus, parse_memory};

/// What each target may use at the most.
#[derive(Debug, Args)]
pub struct LimitArguments {
    /// Processor time that each target may use, by a control group: 0.5 is half of one processor.
    #[arg(long, value_name = "PROCESSORS", value_parser = parse_cpus)]
    pub cpu: Option<f64>,
    /// Memory that each target may use, by a control group: 256M, 1G.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<u64>,
}

impl LimitArguments {
    /// The limits; empty if none is given.
    pub const fn limits(&self) -> Limits {
        Limits { cpus: self.cpu, memory_bytes: self.memory }
    }
}
