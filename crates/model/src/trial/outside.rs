//! Help that a target had beyond its own processes and processors.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A process outside of a target that took part in its work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Outside {
    /// It listens on the target's port.
    Socket {
        /// Its pid.
        pid: i32,
        /// Its name (`/proc/PID/comm`).
        name: String,
    },
    /// It worked while the target was loaded, and rested otherwise.
    Helper {
        /// Its pid.
        pid: i32,
        /// Its name (`/proc/PID/comm`).
        name: String,
        /// Processors that it kept busy while the target was loaded.
        loaded_cores: f64,
        /// Processors that it kept busy while the target got no requests.
        idle_cores: f64,
        /// The number of parts of the loads that were checked. It worked in each of them.
        loads: u32,
        /// Whether a socket connects it with the target.
        is_connected: bool,
    },
    /// It worked while the target was loaded, and also while Pippin loaded a server of its own: it
    /// follows every load, as a packet sniffer does, and helps no target.
    Bystander {
        /// Its pid.
        pid: i32,
        /// Its name (`/proc/PID/comm`).
        name: String,
        /// Processors that it kept busy while the target was loaded.
        loaded_cores: f64,
        /// Processors that it kept busy while Pippin loaded its own server.
        control_cores: f64,
    },
}

/// How a process outside of a target may take part in its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// A socket connects it with the target: it is a tier, if it works with the load.
    Connected,
    /// None that can be seen.
    Unknown,
}

impl Link {
    /// Whether a process works with a load: the processors that it kept busy while the target was
    /// loaded, and while the target got no requests. `slack_cores` is what the kernel's clock may add
    /// to the latter. Tiers and helpers are both found by this rule alone. For a process
    /// that is connected to the target the limits are less strict, because the connection is evidence
    /// already.
    #[must_use]
    pub fn works(self, loaded_cores: f64, idle_cores: f64, slack_cores: f64) -> bool {
        let (least_cores, rests) = match self {
            Self::Connected => (0.01, 0.5),
            Self::Unknown => (0.1, 0.1),
        };
        let allowed = (rests * loaded_cores + slack_cores).min(loaded_cores / 2.0);
        loaded_cores >= least_cores && idle_cores <= allowed
    }
}

/// Threads of a target that may run on processors that the target was not given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stray {
    /// The process.
    pub pid: i32,
    /// Its name (`/proc/PID/comm`).
    pub name: String,
    /// How many of its threads.
    pub threads: u32,
    /// The processors that they may use although the target was not given them, in the kernel's
    /// format: `"1-3"`.
    pub cpus: String,
}

/// Merges the strays of several checks: for each process, the one with the most threads.
#[must_use]
pub fn of_each_once<'a>(looks: impl IntoIterator<Item = &'a Stray>) -> Vec<Stray> {
    let mut most: BTreeMap<i32, &Stray> = BTreeMap::new();
    for stray in looks {
        let known = most.entry(stray.pid).or_insert(stray);
        if stray.threads > known.threads {
            *known = stray;
        }
    }
    most.into_values().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_connected_may_work_less_and_rest_less() {
        for (loaded, idle, connected, unknown) in [
            (0.5, 0.0, true, true),
            (0.05, 0.0, true, false),
            (0.005, 0.0, false, false),
            (0.5, 0.2, true, false),
            (0.5, 0.4, false, false),
        ] {
            assert_eq!(Link::Connected.works(loaded, idle, 0.0), connected, "{loaded} {idle}");
            assert_eq!(Link::Unknown.works(loaded, idle, 0.0), unknown, "{loaded} {idle}");
        }
        assert!(Link::Unknown.works(0.5, 0.06, 0.02) && !Link::Unknown.works(0.1, 0.06, 0.06));
    }

    #[test]
    fn of_each_process_the_look_with_most_threads_stays() {
        let stray = |pid, threads| Stray { pid, name: "x".into(), threads, cpus: "1".into() };
        let looks = [stray(7, 1), stray(9, 2), stray(7, 3), stray(7, 2)];
        assert_eq!(of_each_once(&looks), [stray(7, 3), stray(9, 2)]);
        assert!(of_each_once(&[]).is_empty());
    }
}
