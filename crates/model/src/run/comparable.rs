//! What must be equal so that two runs can be compared: the resolved load and the host.
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

use crate::run::RunHeader;
use crate::text::fnv::Fnv1a;
use crate::workload::Workload;

/// A property in which runs can differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its name: `"profile"`.
    pub what: &'static str,
    /// Its value, in words or as JSON.
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
        must("profile", json(&plan.profile)),
        must("workers", text(plan.workers)),
        must(
            "limits of each target",
            if plan.limits.is_empty() { "none".into() } else { plan.limits.words() },
        ),
        must("processors by role", json(&plan.cpus)),
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
        may("kernel settings", json(&host.sysctls)),
    ]
}

/// What a workload sends and expects.
fn contract(workload: &Workload) -> String {
    let Workload { request, answer, message, steps, data, cookies, scenarios, .. } = workload;
    let parts = [
        ("request", json(request)),
        ("answer", json(answer)),
        ("message", json(message)),
        ("steps", json(steps)),
        ("data", json(data)),
        ("cookies", json(cookies)),
        ("scenarios", json(scenarios)),
    ];
    let parts: Vec<String> =
        parts.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", parts.join(","))
}

/// Plain data can always be written.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// What differs between two values of one fact, for people: of JSON only the keys that differ, each
/// with its path.
#[must_use]
pub fn apart(a: &str, b: &str) -> (String, String) {
    let parsed = |text: &str| match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => Some(value),
        _ => None,
    };
    let (Some(first), Some(second)) = (parsed(a), parsed(b)) else {
        return (a.into(), b.into());
    };
    let (mut of_a, mut of_b) = (BTreeMap::new(), BTreeMap::new());
    leaves(String::new(), &first, &mut of_a);
    leaves(String::new(), &second, &mut of_b);
    let words = |own: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
        let all = own.keys().chain(other.keys()).collect::<BTreeSet<_>>();
        let differing = all.into_iter().filter(|key| own.get(*key) != other.get(*key));
        let word = |key: &String| {
            let value = own.get(key).map_or("none", String::as_str);
            if key.is_empty() { value.into() } else { format!("{key} {value}") }
        };
        differing.map(word).collect::<Vec<_>>().join(", ")
    };
    (words(&of_a, &of_b), words(&of_b, &of_a))
}

/// Every value below this one, by its path.
fn leaves(path: String, value: &Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| if path.is_empty() { name.into() } else { format!("{path}.{name}") };
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|(name, value)| leaves(below(name), value, into));
        }
        Value::Array(entries) => entries
            .iter()
            .enumerate()
            .for_each(|(place, value)| leaves(below(&place.to_string()), value, into)),
        Value::Null => {}
        Value::String(text) => drop(into.insert(path, text.clone())),
        other => drop(into.insert(path, other.to_string())),
    }
}

/// A short key of everything that must be equal. Runs with the same key can be compared. It is the
/// FNV-1a hash (Fowler, Noll, Vo) of these facts, in 16 hexadecimal digits.
#[must_use]
pub fn key(header: &RunHeader) -> String {
    let facts = facts(header).into_iter().filter(|fact| fact.refuses).map(|fact| fact.value);
    let requests = header.requests.iter().map(|whole| format!("{} {}", whole.count, whole.digest));
    let add = |hash: Fnv1a, value: String| hash.with(value.as_bytes()).with(&[0]);
    format!("{:016x}", facts.chain(requests).fold(Fnv1a::default(), add).finish())
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
    fn only_what_differs_is_shown() {
        let header = hello().header;
        let mut other = header.clone();
        other.plan.profile.connections.count += 1;
        let value = |header: &RunHeader| {
            facts(header).into_iter().find(|fact| fact.what == "profile").unwrap().value
        };
        let (a, b) = apart(&value(&header), &value(&other));
        let count = header.plan.profile.connections.count;
        assert_eq!(a, format!("connections.count {count}"));
        assert_eq!(b, format!("connections.count {}", count + 1));
        assert_eq!(apart("4", "8"), ("4".into(), "8".into()));
        assert_eq!(apart("{}", r#"{"x":[1]}"#), ("x.0 none".into(), "x.0 1".into()));
    }

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
        assert!(changed(|other| other.plan.limits.memory_bytes = Some(1 << 28)));
        assert!(!changed(|other| other.host.kernel = Some("7.0".into())));
        assert!(!changed(|other| other.seed += 1));
    }
}
