//! Plans from measured device runs how many devices a target holds on a machine with given cores
//! and memory, and lists the assumptions.
use pippin_model::host::usage::Role;
use pippin_model::plan::profile::Schedule;
use pippin_model::target::TargetId;
use pippin_model::text::units::format_bytes;
use pippin_model::trial::TrialRecord;
use serde::{Deserialize, Serialize};

use crate::scalability::usl::{Point, fit};

/// The share of its processors that a target may keep busy. Above it, waiting times grow without
/// bound (the M/M/1 queue doubles its response time at 50 % and multiplies it by five at 80 %;
/// Kleinrock, "Queueing Systems", vol. 1, 1975, section 3.2).
pub const BUSY_LIMIT: f64 = 0.8;

/// The machine that is planned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Processors for the target.
    pub cores: f64,
    /// Memory for the target, bytes.
    pub memory_bytes: u64,
}

/// The figures of one target in a device run, at its full number of devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The target.
    pub target: TargetId,
    /// Devices that were alive.
    pub devices: f64,
    /// Processors that the target was given.
    pub cores_given: f64,
    /// Processors that it kept busy.
    pub cores_busy: f64,
    /// Its resident set before the devices came, bytes.
    pub base_bytes: u64,
    /// Its highest resident set, bytes.
    pub peak_bytes: u64,
}

/// How many devices the machine holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DevicePlan {
    /// The target.
    pub target: TargetId,
    /// By CPU time; `None` if the target used too little of it.
    pub by_cpu: Option<f64>,
    /// By memory; `None` if the target's memory did not grow.
    pub by_memory: Option<f64>,
    /// The smallest of those that are known.
    pub devices: Option<f64>,
    /// CPU time per device, in cores.
    pub cores_per_device: f64,
    /// Memory per device, bytes; `None` if the target's memory did not grow.
    pub bytes_per_device: Option<f64>,
    /// The assumptions behind the figures, one sentence each.
    pub assumptions: Vec<String>,
}

impl Measured {
    /// The figures of a trial; `None` if it is not a device trial, has no result, or has no usage
    /// figures.
    #[must_use]
    pub fn from_trial(record: &TrialRecord) -> Option<Self> {
        let Schedule::Devices { devices, .. } = record.spec.profile.schedule else { return None };
        let load = record.load.as_ref()?;
        let used = record.usage.as_ref()?.roles.get(&Role::Target)?;
        let first = record.samples.first()?.roles.get(&Role::Target)?.rss_bytes?;
        Some(Self {
            target: record.spec.target.clone(),
            // The live devices, if not all could connect.
            devices: f64::from(devices).min(load.measured.connections.peak as f64),
            cores_given: record.spec.cpus.target.len() as f64,
            cores_busy: used.cores?,
            base_bytes: first,
            peak_bytes: used.rss_max_bytes?,
        })
    }
}

/// Plans for one target from runs on one or more numbers of processors; `None` without any.
///
/// More processors than were measured only count as far as a scalability fit allows. The fit needs
/// at least three different numbers of processors.
#[must_use]
pub fn plan(measured: &[Measured], machine: &Machine) -> Option<DevicePlan> {
    // The run with the most devices is the best source for memory and for the cost of a device.
    let best = measured.iter().max_by(|a, b| a.devices.total_cmp(&b.devices))?;
    let mut assumptions = Vec::new();
    let cores_per_device = best.cores_busy / best.devices;
    let by_cpu = (best.cores_busy > 0.01).then(|| {
        usable_cores(measured, best, machine.cores, &mut assumptions) * BUSY_LIMIT
            / cores_per_device
    });
    assumptions.push(format!(
        "processors are at most {:.0} % busy; the run kept {:.2} of {} busy with {:.0} devices",
        BUSY_LIMIT * 100.0,
        best.cores_busy,
        best.cores_given,
        best.devices
    ));
    let grown = best.peak_bytes.saturating_sub(best.base_bytes);
    let bytes_per_device = (grown > 0).then(|| grown as f64 / best.devices);
    let free = machine.memory_bytes.saturating_sub(best.base_bytes) as f64;
    let by_memory = bytes_per_device.map(|each| free / each);
    match bytes_per_device {
        Some(each) => assumptions.push(format!(
            "memory grows by {} per device above {} at the start, as it did up to {:.0} devices; kernel socket buffers are not included",
            format_bytes(each as u64),
            format_bytes(best.base_bytes),
            best.devices
        )),
        None => assumptions.push("the target's memory did not grow with the devices, so memory sets no limit here".into()),
    }
    assumptions.push("each device behaves as in the run: the same requests, think time, and number of requests per connection".into());
    let devices = [by_cpu, by_memory].into_iter().flatten().min_by(f64::total_cmp);
    Some(DevicePlan {
        target: best.target.clone(),
        by_cpu,
        by_memory,
        devices,
        cores_per_device,
        bytes_per_device,
        assumptions,
    })
}

/// How many processors' worth of work the machine's processors do for this target.
fn usable_cores(
    measured: &[Measured],
    best: &Measured,
    cores: f64,
    assumptions: &mut Vec<String>,
) -> f64 {
    // Devices that one number of processors would hold if all were busy.
    let mut points: Vec<Point> = measured
        .iter()
        .filter(|m| m.cores_busy > 0.01)
        .map(|m| Point { n: m.cores_given, x: m.devices * m.cores_given / m.cores_busy })
        .collect();
    points.sort_by(|a, b| a.n.total_cmp(&b.n));
    points.dedup_by(|a, b| a.n == b.n);
    if cores <= best.cores_given {
        return cores;
    }
    if points.len() >= 3
        && let Some(usl) = fit(&points)
    {
        let peak = usl.peak_n.unwrap_or(f64::INFINITY);
        let at = cores.min(peak);
        assumptions.push(format!(
            "{cores} processors do {:.2} times the work of one by the scalability fit over {} numbers of processors{}",
            usl.throughput_at(at) / usl.throughput_at(1.0),
            points.len(),
            if at < cores { format!("; beyond {peak:.0}, more processors bring nothing") } else { String::new() }
        ));
        return usl.throughput_at(at) / usl.throughput_at(1.0);
    }
    assumptions.push(format!(
        "the plan uses only as many processors as the run ({}), because it is not known whether the target can use {cores}; runs on three different numbers of processors would show it (if it scaled linearly: {:.0} devices by CPU time)",
        best.cores_given,
        cores * BUSY_LIMIT * best.devices / best.cores_busy
    ));
    best.cores_given
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn measured(cores_given: f64, cores_busy: f64, devices: f64) -> Measured {
        Measured {
            target: "go/net-http".parse().unwrap(),
            devices,
            cores_given,
            cores_busy,
            base_bytes: 20 << 20,
            peak_bytes: (20 << 20) + (devices as u64) * 10_240,
        }
    }

    #[test]
    fn one_run_plans_no_more_processors_than_it_had() {
        // 10,000 devices on 0.5 of 1 core and 10 KiB each: 16,000 at 80 %, whatever else the
        // machine has.
        let plan =
            plan(&[measured(1.0, 0.5, 10_000.0)], &Machine { cores: 8.0, memory_bytes: 16 * GIB })
                .unwrap();
        assert_eq!(plan.by_cpu.unwrap().round(), 16_000.0);
        assert_eq!(plan.devices, plan.by_cpu);
        assert!(plan.assumptions[0].contains("128000 devices"), "{:?}", plan.assumptions);
    }

    #[test]
    fn memory_bounds_where_it_is_less() {
        let plan = plan(
            &[measured(1.0, 0.1, 10_000.0)],
            &Machine { cores: 1.0, memory_bytes: (20 << 20) + 10_240 * 5_000 },
        )
        .unwrap();
        assert_eq!(plan.devices.unwrap().round(), 5_000.0);
        assert_eq!(plan.bytes_per_device, Some(10_240.0));
    }

    #[test]
    fn a_fit_over_processors_is_followed() {
        // sigma 0.1: 8 cores do 8 / 1.7 = 4.7 times the work of one.
        let runs: Vec<Measured> = [1.0, 2.0, 4.0]
            .iter()
            .map(|&n| measured(n, n, 10_000.0 * n / (1.0 + 0.1 * (n - 1.0))))
            .collect();
        let plan = plan(&runs, &Machine { cores: 8.0, memory_bytes: 64 * GIB }).unwrap();
        assert!((plan.assumptions[0].contains("4.7")), "{:?}", plan.assumptions);
    }
}
