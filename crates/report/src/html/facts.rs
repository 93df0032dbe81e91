//! Host, versions, plan, manifests, how figures were taken.
use maud::{Markup, html};
use pippin_model::host::usage::Runtime;
use pippin_model::run::TargetInfo;
use pippin_model::target::TargetId;
use serde::Serialize;
use std::fmt::Display;

use crate::history::commit;
use crate::view::View;
use crate::view::agents::COLUMNS;
use crate::view::calm;
use crate::words;

pub fn section(view: &View) -> Markup {
    html! { (host(view)) (agents(view)) (plan(view)) (method(view)) }
}

fn host(view: &View) -> Markup {
    let host = &view.host;
    let yes =
        |value: Option<bool>| value.map(|on| if on { "yes".to_string() } else { "no".into() });
    let facts: Vec<(&str, Option<String>)> = vec![
        ("Name", host.hostname.clone()),
        ("Processor", host.cpu_model.clone()),
        ("Logical processors", Some(host.cpus.to_string())),
        ("Physical cores", host.cores.map(|cores| cores.to_string())),
        ("SMT", yes(host.smt)),
        ("Governor", host.governor.clone()),
        ("Turbo", yes(host.turbo)),
        ("Memory", host.memory_bytes.map(|bytes| words::bytes(Some(bytes)))),
        ("Kernel", host.kernel.clone()),
        ("Clock source", host.clock_source.clone()),
        ("Distribution", host.distribution.clone()),
        ("Virtualisation", host.virtualisation.clone()),
        ("CPU limit of the control group", host.cgroup_cpus.map(|cpus| format!("{cpus} cores"))),
        (
            "Memory limit of the control group",
            host.cgroup_memory_bytes.map(|bytes| words::bytes(Some(bytes))),
        ),
        (
            "Load before the run",
            host.load_average.map(|[a, b, c]| format!("{a:.2}, {b:.2}, {c:.2}")),
        ),
        ("Busy before the run", host.busy_before.map(words::percent)),
        ("Who ran where", view.run.cpus.clone()),
        ("Generator", view.run.generator.clone()),
    ];
    let calm = view.run.slices.as_ref().map(calm::line);
    html! {
        section id="host" {
            h2 { "Host" }
            @if let Some(calm) = calm { p { (calm) } }
            dl.facts {
                @for (name, value) in &facts { dt { (name) } dd { (value.as_deref().unwrap_or("unknown")) } }
            }
            details {
                summary { "Limits and settings of the kernel" }
                dl.facts {
                @for (name, value) in &host.limits { dt { "Limit " code { (name) } } dd { (value.map_or_else(|| "none".into(), words::whole)) } }
                @for (name, value) in &host.sysctls { dt { code { (name) } } dd { (value) } }
                }
            }
        }
    }
}

fn agents(view: &View) -> Markup {
    if view.agents.is_empty() {
        return html! {};
    }
    html! {
        section id="agents" {
            h2 { "Agents" }
            p { "These agents applied each load together. Figures of time are taken on one machine each; starts and rates rest on their clocks, of which the column says how far they are off and how well that is known. The column network is the median round trip of the handshakes with the target, timed by the agent's kernel: time on the network, which every response time holds." }
            div.scroll tabindex="0" role="region" aria-label="Agents, scrolls sideways" {
                table {
                    thead { tr { @for name in COLUMNS { th scope="col" { (name) } } th scope="col" { "machine" } } }
                    tbody {
                        @for agent in &view.agents {
                            tr {
                                @for (column, cell) in agent.cells().iter().enumerate() {
                                    @if column == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                                }
                                td { (agent.host) @for tag in &agent.tags { " " code { (tag) } } @if let Some(failure) = &agent.failure { br; strong { (failure) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The runtime that was seen of a target, from outside.
fn runtime_of(view: &View, target: &TargetId) -> String {
    let row = view.measured().find(|row| row.target == *target && !row.runtimes.is_empty());
    row.map_or_else(|| words::UNKNOWN.into(), |row| Runtime::listed(&row.runtimes))
}

fn plan(view: &View) -> Markup {
    let has_runtimes = view.measured().any(|row| !row.runtimes.is_empty());
    let has_commits = view.targets.values().any(|info| info.commit.is_some());
    html! {
        section id="plan" {
            h2 { "Plan and targets" }
            @if let Some(summary) = &view.run.summary { p { (super::with_code(summary)) @if view.run.quick { " That is the full form; this run is the quick one." } } }
            @if view.loads.is_empty() && view.targets.keys().all(TargetId::is_url) { p { "The servers ran already, and were not started anew. Repetitions were interleaved in a random order drawn from the seed " code { (view.run.seed) } "." } }
            @else if view.loads.is_empty() { p { "Repetitions were interleaved in a random order drawn from the seed " code { (view.run.seed) } ", and every target that Pippin starts was started anew for each." } }
            @else { p { "The server ran already, and was not started anew. What the load draws by chance comes from the seed " code { (view.run.seed) } "." } }
            div.scroll tabindex="0" role="region" aria-label="Versions, scrolls sideways" {
                table {
                    thead { tr { th scope="col" { "Target" } th scope="col" { "Installed by" } th scope="col" { "Versions" } @if has_runtimes { th scope="col" { "Runtime seen" } } th scope="col" { "Digest" } @if has_commits { th scope="col" { "Commit" } } } }
                    tbody {
                        @for (target, info) in &view.targets {
                            tr {
                                th scope="row" { (target) }
                                td { (info.route.as_deref().unwrap_or(words::UNKNOWN)) }
                                td { @for (index, (label, version)) in info.versions.iter().enumerate() { @if index > 0 { br; } (words::version(label, version)) } @if info.versions.is_empty() { (words::UNKNOWN) } }
                                @if has_runtimes { td { (runtime_of(view, target)) } }
                                td { code { (info.digest.as_deref().unwrap_or(words::UNKNOWN)) } }
                                @if has_commits { td { @match &info.commit { Some(of) => (commit(of)), None => (words::UNKNOWN) } } }
                            }
                        }
                    }
                }
            }
            @let deviations: Vec<_> = view.targets.iter().filter_map(|(target, info)| Some((target, &info.manifest.as_ref()?.deviations))).filter(|(_, all)| !all.is_empty()).collect();
            @if !deviations.is_empty() {
                h3 { "Where a target differs from its community's guide" }
                ul { @for (target, all) in deviations { @for deviation in all { li { (target) ": " (deviation.what) " – " (deviation.why) } } } }
            }
            (support(view))
            (document("The resolved plan", &view.plan))
            (document("The workload", &view.workload))
            @for (target, info) in &view.targets { @if let Some(manifest) = &info.manifest { (document(&format!("Manifest of {target}"), manifest)) } }
            @if let Some(calibration) = &view.calibration { (document("The generator's calibration on this machine", calibration)) }
        }
    }
}

/// Targets that were out of support on the day of the run, or pinned long before. Targets that are
/// not in the register are left out.
fn support(view: &View) -> Markup {
    let day = words::date(view.run.started_unix_ns);
    let of = |info: &TargetInfo| info.registered.notes(&day);
    let notes: Vec<_> = view
        .targets
        .iter()
        .flat_map(|(id, info)| of(info).into_iter().map(move |note| (id, note)))
        .collect();
    html! { @if !notes.is_empty() { h3 { "Out of support, or older than a year" } (notes_of(&notes, "run")) } }
}

/// What the register says of targets, on the day of this.
pub(crate) fn notes_of(notes: &[(impl Display, impl Display)], day_of: &str) -> Markup {
    html! {
        p { "On the day of the " (day_of) ". Of what is not listed, support and age are unknown or in order." }
        ul { @for (target, note) in notes { li { (target) ": " (note) } } }
    }
}

/// A resolved document, folded.
fn document<T: Serialize>(title: &str, value: &T) -> Markup {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| error.to_string());
    html! { details.document { summary { (title) } pre tabindex="0" { (text) } } }
}

/// How each figure was taken: a short form of `docs/methodology.md`.
const METHOD: [(&str, &str); 13] = [
    (
        "Requests/s",
        "Complete answers with the right status and body per second, over the measured part; warm-up left out. Median over repetitions.",
    ),
    (
        "95 % interval",
        "Where targets were measured in rounds of slices: Student's t on logarithms, over the repetitions. Else: hierarchical bootstrap of the median, over trials and blocks of one-second windows within them. With one repetition it knows only the rounds or windows, and not how starts differ.",
    ),
    (
        "Rank",
        "By requests/s; in open loops and with devices, where the schedule sets these, by the p99 of the response time over all requests that were due. In rounds, ranks go from 1 and the number of targets that are surely better, to the number of targets less those that are surely worse, by Holm's method over all pairs at 5 %. Else, a rank is 1 and the number of targets that are surely better: the 95 % interval of the ratio does not cover 1. A single short trial has no interval and gives no rank.",
    ),
    (
        "Ratio",
        "To the reference. In rounds, it is taken within each round, so that both targets had the same seconds of the host. Its interval is for this pair alone, so a ratio whose interval does not cover 1 may belong to two targets that share a rank.",
    ),
    (
        "Service time",
        "From handing the first byte of a request to the kernel to the instant at which the kernel received the last byte of its answer. Where the kernel gave no time stamp, it ends when the generator read the answer. A request that times out is recorded at its timeout.",
    ),
    (
        "Response time",
        "From the instant at which the request was due to the last byte of its answer; in a closed loop it was due when the user became ready.",
    ),
    (
        "Connect, headers, body",
        "The round trip of the handshake, as the kernel measured it; first byte sent to the arrival of the whole header block; from there to the arrival of the last byte of the body.",
    ),
    (
        "Histograms",
        "HdrHistogram, 3 significant digits, 100 ns to 1 h. No sample is invented; requests still open at the end are counted as censored.",
    ),
    (
        "Errors",
        "Failed requests, wrong answers and connections that could not be opened, as a share of what was tried.",
    ),
    (
        "CPU",
        "User and system time of the whole process tree from /proc, dead children included; 100 % is one core. Time in soft interrupts counts too.",
    ),
    (
        "Memory",
        "Proportional set summed over the process tree at its highest, in which shared pages count once; the resident set where the kernel does not tell it.",
    ),
    (
        "Generator",
        "The same of Pippin itself. Near 100 % of its core it measures itself, which is INVALID in a closed loop.",
    ),
    ("Verdict", "VALID, SUSPECT or INVALID, from the caveats above with their evidence."),
];

fn method(view: &View) -> Markup {
    html! {
        section id="method" {
            h2 { "How each figure was taken" }
            p { "Load: " (view.run.load) "." }
            details { summary { "Each figure" } dl.facts { @for (name, how) in METHOD { dt { (name) } dd { (how) } } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example;
    use pippin_model::target::register::{Pin, Support};

    #[test]
    fn ended_support_and_an_old_pin_are_told_and_what_is_unknown_is_not() {
        let mut record = example::run::hello();
        let page = |record: &_| support(&View::of(record)).into_string();
        assert_eq!(page(&record), "");
        let info = record.header.targets.values_mut().next().unwrap();
        info.registered.pins.push(Pin {
            what: "chi 5.0.0".into(),
            released: "2021-02-27".into(),
            source: "https://example.org".into(),
        });
        let support = |what: &str, until: &str| Support {
            what: what.into(),
            until: until.into(),
            source: "https://example.org".into(),
        };
        info.registered.support =
            vec![support("Go 1.16", "2022-03-15"), support("Go 2", "2999-12-31")];
        let page = page(&record);
        assert!(page.contains("chi 5.0.0 is more than a year old (released on 2021-02-27)"));
        assert!(page.contains("Go 1.16 is out of support since 2022-03-15"));
        assert!(!page.contains("Go 2 "), "{page}");
    }
}
