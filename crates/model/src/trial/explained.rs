//! What a profiler saw of a target in an extra repetition: where its CPU time went, and its system
//! calls. It does not affect any figure of the run.
use serde::{Deserialize, Serialize};

use crate::target::TargetId;

/// One target under a profiler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// The target.
    pub target: TargetId,
    /// Stacks of functions, one on each line, outermost first, with the number of samples after a
    /// blank: `main;serve;write 12`. Empty if there were none.
    pub stacks: String,
    /// The number of samples.
    pub samples: u64,
    /// System calls per request; `None` if the kernel does not let us count them.
    pub syscalls_per_request: Option<f64>,
    /// Context switches per request.
    pub switches_per_request: Option<f64>,
    /// CPU time per request while it was sampled, in nanoseconds. Compared with the figure of the
    /// run, it shows the cost of sampling.
    pub cpu_per_request_ns: Option<f64>,
    /// CPU time per request while system calls were counted, in nanoseconds.
    pub cpu_per_request_counted_ns: Option<f64>,
    /// Whether this machine has hardware counters. Samples always use the processor's clock.
    pub has_hardware_counters: bool,
    /// Why some or all of this is missing; `None` if nothing is.
    pub failure: Option<String>,
}

impl Explained {
    /// An explanation without any figures.
    #[must_use]
    pub const fn new(target: TargetId) -> Self {
        Self {
            target,
            stacks: String::new(),
            samples: 0,
            syscalls_per_request: None,
            switches_per_request: None,
            cpu_per_request_ns: None,
            cpu_per_request_counted_ns: None,
            has_hardware_counters: false,
            failure: None,
        }
    }

    /// The functions with the most samples, with their shares, the greatest first.
    #[must_use]
    pub fn hottest(&self, most: usize) -> Vec<(String, f64)> {
        let mut by_function = std::collections::BTreeMap::<&str, u64>::new();
        for (stack, count) in self.stacks.lines().filter_map(|line| line.rsplit_once(' ')) {
            let innermost = stack.rsplit(';').next().unwrap_or(stack);
            *by_function.entry(innermost).or_default() += count.parse::<u64>().unwrap_or(0);
        }
        let mut all: Vec<(&str, u64)> = by_function.into_iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let share = |count: u64| count as f64 / self.samples.max(1) as f64;
        all.into_iter().take(most).map(|(name, count)| (name.into(), share(count))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_functions_are_counted_wherever_they_were_called() {
        let explained = Explained {
            stacks: "a;b;write 3\na;write 4\na;b 1\n".into(),
            samples: 8,
            ..Explained::new("go/net-http".parse().unwrap())
        };
        assert_eq!(explained.hottest(2), [("write".into(), 0.875), ("b".into(), 0.125)]);
        assert_eq!(Explained::new("a/a".parse().unwrap()).hottest(3), []);
    }
}
