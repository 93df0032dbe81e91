//! Network work that the kernel does in threads of its own, and whose it is.
//!
//! A packet that is sent over the loopback interface is received by an interrupt in software, as a
//! rule within the sender's own system call. Under load the kernel puts that off to a thread for each
//! processor, `ksoftirqd/N`, which belongs to nobody (docs/decisions/kernel-network.md).
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// At most so much time of the kernel's threads for each second of the processes whose packets come over
/// the loopback interface. The most that was seen is 0.22 (docs/decisions/kernel-network.md).
const MOST_PER_PROCESS_TIME: f64 = 0.5;

/// What the kernel's threads for put-off interrupts used over a stretch, with what bounds how much of it
/// was work of other programs. It is known as a whole or not at all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelNetwork {
    /// The share (0 to 1) of each processor that its thread used, by processor number.
    pub by_cpu: BTreeMap<u32, f64>,
    /// The share (0 to 1) of all packets received on this machine that did not come over the loopback
    /// interface of Pippin's network namespace. No process of this machine need have sent them.
    pub from_elsewhere: f64,
    /// Cores that processes of no role kept busy, without these threads.
    pub other_programs: f64,
}

impl KernelNetwork {
    /// Cores that the threads kept busy together.
    #[must_use]
    pub fn cores(&self) -> f64 {
        self.by_cpu.values().sum()
    }

    /// The cores of them that may have been work of other programs, if these kept `other_programs`
    /// cores busy themselves: what packets from elsewhere may have taken, and what such programs can
    /// cause over the loopback interface.
    #[must_use]
    pub fn of_others(&self, other_programs: f64) -> f64 {
        let caused = other_programs.max(0.0) * MOST_PER_PROCESS_TIME;
        self.cores().min(caused + self.from_elsewhere.clamp(0.0, 1.0) * self.cores())
    }

    /// The cores of them that were surely work of the load.
    #[must_use]
    pub fn of_load(&self) -> f64 {
        self.cores() - self.of_others(self.other_programs)
    }

    /// The mean over consecutive stretches, each with its length; `None` if it is unknown for one.
    #[must_use]
    pub fn mean<'a>(stretches: impl Iterator<Item = (Option<&'a Self>, u64)>) -> Option<Self> {
        let known: Vec<(&Self, f64)> =
            stretches.map(|(one, ns)| Some((one?, ns as f64))).collect::<Option<_>>()?;
        let length: f64 = known.iter().map(|(_, ns)| ns).sum();
        if length <= 0.0 {
            return None;
        }
        let mut sum = Self::default();
        for (one, ns) in known {
            let part = ns / length;
            for (cpu, share) in &one.by_cpu {
                *sum.by_cpu.entry(*cpu).or_default() += share * part;
            }
            sum.from_elsewhere += one.from_elsewhere * part;
            sum.other_programs += one.other_programs * part;
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(cores: f64, from_elsewhere: f64, other_programs: f64) -> KernelNetwork {
        let by_cpu = [(0, cores / 4.0), (1, cores * 3.0 / 4.0)].into();
        KernelNetwork { by_cpu, from_elsewhere, other_programs }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn it_is_the_load_s_where_nobody_else_can_have_caused_it() {
        assert!(close(network(0.06, 0.0, 0.0).of_load(), 0.06));
        assert!(close(network(0.06, 0.0, 0.016).of_load(), 0.052), "half of 0.016");
        assert!(close(network(0.06, 0.5, 0.0).of_load(), 0.03), "half of the packets");
    }

    #[test]
    fn it_is_not_the_load_s_beside_programs_that_work_or_packets_from_elsewhere() {
        assert!(close(network(0.06, 0.0, 0.9).of_load(), 0.0));
        assert!(close(network(0.06, 1.0, 0.0).of_load(), 0.0));
        assert!(close(network(0.06, 0.9, 0.1).of_load(), 0.0), "never below nothing");
    }

    #[test]
    fn a_mean_needs_all_of_its_parts() {
        let (one, other) = (network(0.04, 0.0, 0.1), network(0.08, 1.0, 0.3));
        let mean = KernelNetwork::mean([(Some(&one), 100), (Some(&other), 300)].into_iter());
        let mean = mean.unwrap();
        assert!(close(mean.cores(), 0.07) && close(mean.from_elsewhere, 0.75), "{mean:?}");
        assert!(close(mean.other_programs, 0.25));
        assert_eq!(KernelNetwork::mean([(Some(&one), 100), (None, 1)].into_iter()), None);
        assert_eq!(KernelNetwork::mean([].into_iter()), None);
    }
}
