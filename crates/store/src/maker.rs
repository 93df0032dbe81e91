//! The process that makes a run, so that a run is not shown as running after its process is gone.
use pippin_model::run::live::ProcessName;
use serde::{Deserialize, Serialize};
use std::path::Path;

use crate::live::{is_alive, this_process};

/// The process that makes a run, and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Maker {
    process: ProcessName,
    #[serde(flatten)]
    place: Place,
}

/// The place within which a pid is unique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    hostname: String,
    /// A new id for each boot (random(4), boot_id).
    boot: String,
    /// Containers have their own pids (pid_namespaces(7)).
    namespace: String,
}

impl Maker {
    /// This process; `None` without /proc.
    pub(crate) fn this() -> Option<Self> {
        Some(Self { process: this_process()?, place: Place::this()? })
    }

    /// Whether the process is certainly gone. On another machine or in another container that is
    /// never certain.
    pub(crate) fn is_gone(&self) -> bool {
        let Some(here) = Place::this() else { return false };
        if self.place.boot == here.boot {
            self.place.namespace == here.namespace && !is_alive(self.process)
        } else {
            // The machine has been restarted since.
            self.place.hostname == here.hostname
        }
    }
}

impl Place {
    fn this() -> Option<Self> {
        let line = |path: &str| Some(std::fs::read_to_string(path).ok()?.trim().to_owned());
        Some(Self {
            hostname: line("/proc/sys/kernel/hostname")?,
            boot: line("/proc/sys/kernel/random/boot_id")?,
            namespace: std::fs::read_link(Path::new("/proc/self/ns/pid"))
                .ok()?
                .to_string_lossy()
                .into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_certainly_gone_is_gone() {
        let this = Maker::this().unwrap();
        assert!(!this.is_gone());
        let with = |change: fn(&mut Maker)| {
            let mut maker = this.clone();
            change(&mut maker);
            maker
        };
        assert!(with(|maker| maker.process.start_ticks += 1).is_gone(), "the pid was given anew");
        assert!(with(|maker| maker.place.boot.push('x')).is_gone(), "before the last boot");
        assert!(
            !with(|maker| {
                maker.process.start_ticks += 1;
                maker.place.namespace.push('x');
            })
            .is_gone(),
            "another container's"
        );
        assert!(
            !with(|maker| {
                maker.place.boot.push('x');
                maker.place.hostname.push('x');
            })
            .is_gone(),
            "another machine's"
        );
    }
}
