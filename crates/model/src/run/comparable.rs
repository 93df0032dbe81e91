//! What must be equal so that two runs can be compared: the resolved load and the host.
use crate::run::RunHeader;
use crate::workload::Workload;

/// A property in which runs can differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its name: `"profile"`.
    pub what: &'static str,
    /// Its value, in words.
    pub value: String,
    /// Whether runs with different values must not be compared.
    pub refuses: bool,
}

/// The facts of a run. Every run has the same ones in the same order.
#[must_use]
pub fn facts(header: &RunHeader) -> Vec<Fact> {
    let (plan, host) = (&header.plan, &header.host);
    let must = |what, value| Fact { what, value, refuses: true };
    let may = |what, value| Fact { what, value, refuses: false };
    vec![
        must("workload", header.workload.id.clone()),
        must("workload's contract", contract(&header.workload)),
        must("profile", format!("{:?}", plan.profile)),
        must("workers", text(plan.workers)),
        must("processors by role", format!("{:?}", plan.cpus)),
        must("database pool", plan.database_pool.to_string()),
        must("upstream's delay in ns", plan.upstream_delay_ns.to_string()),
        may("Pippin", header.pippin_version.clone()),
        must("processor", text(host.cpu_model.clone())),
        must("number of processors", host.cpus.to_string()),
        must("simultaneous multithreading", text(host.smt)),
        must("governor", text(host.governor.clone())),
        must("turbo", text(host.turbo)),
        must("virtualisation", text(host.virtualisation.clone())),
        must("processor limit of the control group", text(host.cgroup_cpus)),
        must("memory in GiB", text(host.memory_bytes.map(gibibytes))),
        may("kernel", text(host.kernel.clone())),
        may("host name", text(host.hostname.clone())),
        may("distribution", text(host.distribution.clone())),
        may("kernel settings", format!("{:?}", host.sysctls)),
    ]
}

/// What a workload sends and expects.
fn contract(workload: &Workload) -> String {
    let Workload { request, answer, message, steps, data, cookies, .. } = workload;
    let message = message.map_or(String::new(), |message| format!(" {message:?}"));
    let whole = format!("{request:?} {answer:?}{message}");
    if steps.is_empty() { whole } else { format!("{whole} {steps:?} {data:?} {cookies}") }
}

/// A short key of everything that must be equal. Runs with the same key can be compared. It is the
/// FNV-1a hash (Fowler, Noll, Vo) of these facts, in 16 hexadecimal digits.
#[must_use]
pub fn key(header: &RunHeader) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let facts = facts(header).into_iter().filter(|fact| fact.refuses).map(|fact| fact.value);
    let requests = header.requests.iter().map(|whole| format!("{} {}", whole.count, whole.digest));
    for value in facts.chain(requests) {
        for byte in value.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Rounded, because the kernel reserves a little memory, which varies from boot to boot.
const fn gibibytes(bytes: u64) -> u64 {
    (bytes + (1 << 29)) >> 30
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "unknown".into(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::run::hello;

    #[test]
    fn another_load_or_host_has_another_key_and_another_kernel_has_not() {
        let header = hello().header;
        let changed = |change: fn(&mut RunHeader)| {
            let mut other = header.clone();
            change(&mut other);
            key(&other) != key(&header)
        };
        assert!(changed(|other| other.plan.profile.connections.count += 1));
        assert!(changed(|other| other.host.cpus += 2));
        assert!(changed(|other| other.plan.workers = Some(7)));
        assert!(!changed(|other| other.host.kernel = Some("7.0".into())));
        assert!(!changed(|other| other.seed += 1));
    }
}
