//! One load of a URL in full: everything that was counted, as `pippin load --json` writes it.
use crate::view::walks::{self, StepView, WayView};
use pippin_model::figure::Figure;
use pippin_model::host::usage::{Role, RoleUse, Runtime, Tier, Usage};
use pippin_model::load::network::NetworkUse;
use pippin_model::load::proxy::ProxyUse;
use pippin_model::load::tls::TlsUse;
use pippin_model::load::websocket::WebSocketUse;
use pippin_model::load::{LoadSpec, Protocol};
use pippin_model::result::closes::Closes;
use pippin_model::result::histogram::Summary;
use pippin_model::result::{
    ByteCounts, ConnectionCounts, ErrorKind, Exchange, FirstError, LoadResult, Measured, Phase,
    QuicUse, RequestCounts, StampCounts, StatusCounts, Window,
};
use pippin_model::run::{RunRecord, ServerProcess, UrlServer};
use pippin_model::trial::TrialRecord;
use pippin_model::trial::agent::AgentPart;
use pippin_model::verdict::{Caveat, Verdict};
use pippin_stats::bottleneck::cost::cpu_seconds_per_million_of;
use pippin_stats::capacity::found::Capacity;
use pippin_stats::judge::held::Held;
use pippin_stats::judge::{Context, Evidence};
use pippin_stats::rank::due;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One load of a URL. Keys end in their unit; unknown is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // docs/formats.md describes each key
pub struct LoadView {
    pub pippin_version: String,
    pub url: String,
    /// What was loaded, for people: the URL, and the file of the requests if there is one.
    pub title: String,
    /// The protocol.
    #[serde(default)]
    pub protocol: Protocol,
    pub profile: pippin_model::plan::profile::Profile,
    pub step: Option<pippin_model::trial::Step>,
    pub io: String,
    pub threads: u32,
    pub interrupted: bool,
    pub warm_up: pippin_model::result::WarmUpResult,
    pub requests: RequestCounts,
    pub duration_ns: u64,
    pub throughput_per_s: Option<f64>,
    pub goodput_per_s: Option<f64>,
    pub status: StatusCounts,
    pub connect: Summary,
    /// The requests for tunnels through a proxy; absent without tunnels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Summary>,
    /// The handshakes; null without TLS.
    pub tls: Option<Summary>,
    /// The opening handshakes of WebSockets; absent over other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Summary>,
    pub headers: Summary,
    pub body: Summary,
    pub service_time: Summary,
    pub response_time: Summary,
    pub send_lag: Summary,
    pub own_lag: Summary,
    pub pick_up_lag: Summary,
    /// Which clock timed the arrivals: `kernel`, `user space` or `kernel and user space`.
    pub stamps: Option<String>,
    /// How many answers had which stamp, and how many of those are bounds.
    pub stamp_counts: StampCounts,
    pub errors: BTreeMap<ErrorKind, u64>,
    /// The first error of each kind; absent where it is not kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub firsts: BTreeMap<ErrorKind, FirstError>,
    /// Where the first redirection led to; absent if there was none, or it is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirected_to: Option<String>,
    /// The last lines of the log of a server that ended; absent if it did not, or they are not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_tail: Vec<String>,
    pub connections: ConnectionCounts,
    pub closes: Closes,
    /// How many connections were with the target on average; the generator held the others. Null
    /// except for closed loops without think time.
    pub connections_with_target: Option<f64>,
    /// The proxy that requests went through, and why it opened no tunnel; absent without a proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyUse>,
    /// What the handshakes agreed on, and why some failed; null without TLS.
    pub tls_sessions: Option<TlsUse>,
    /// What was seen of WebSockets; absent over other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebSocketUse>,
    /// What the simulated network did; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkUse>,
    /// What QUIC did; absent over other protocols than HTTP/3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic: Option<QuicUse>,
    pub bytes: ByteCounts,
    pub overhead_per_answer_bytes: Option<f64>,
    pub generator: GeneratorView,
    /// The server behind the URL; null in records from before this was kept.
    pub server: Option<ServerView>,
    pub phases: Vec<PhaseView>,
    /// The steps of a scenario; empty for other loads.
    #[serde(default)]
    pub scenario: Vec<StepView>,
    /// The scenarios of a mix, and all of them together at the end; absent for other loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<WayView>,
    /// The redirections that were followed; absent if the load follows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<StepView>,
    /// Each path of the requests, the worst first; absent where there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<StepView>,
    /// The slowest requests, the slowest first; absent if they were not asked for (`--slowest`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<Exchange>,
    pub windows: Vec<Window>,
    /// The agents that applied it together, each with its own figures; empty if this machine did.
    #[serde(default)]
    pub agents: Vec<AgentPart>,
    pub verdict: Verdict,
    pub caveats: Vec<Caveat>,
}

/// A capacity search of a URL, as `pippin load --json` writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchView<'a> {
    /// The highest confirmed rate, or number of devices, that kept the objective; null if there is
    /// none. `capacity` says of what it is.
    pub capacity_per_s: Option<f64>,
    /// How the search ended.
    pub capacity: Option<&'a Capacity>,
    /// Each step in full, in the order in which they were made.
    pub steps: &'a [LoadView],
}

/// What the generator used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct GeneratorView {
    pub cpu_ns: u64,
    pub cpu_ns_by_thread: Vec<u64>,
    pub spin_ns: u64,
    /// CPU time of all of Pippin per right answer, or of the agents.
    pub cpu_per_request_ns: Option<f64>,
    /// What of it the threads that send and read used, without polling for a deadline.
    pub threads_cpu_per_request_ns: Option<f64>,
    pub max_rss_bytes: Option<u64>,
    pub syscalls: Option<u64>,
}

/// The server behind a URL and what it used. Figures that were not measured are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ServerView {
    /// The first process of each measured tree.
    pub processes: Vec<ServerProcess>,
    /// Why it was not measured; null if it was.
    pub unmeasured: Option<String>,
    /// The number of processors that it kept busy.
    pub cores: Option<f64>,
    pub cpu_per_request_ns: Option<f64>,
    pub max_memory_bytes: Option<u64>,
    /// Its tiers, the one that was loaded first; empty if there is only that one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierView>,
    /// For how long a part of it was not seen, because a process of it ended; null if all was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen_ns: Option<u64>,
    /// The language runtimes of its processes, as seen from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<Runtime>,
}

/// One tier of the server behind a URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TierView {
    /// The name of its first process.
    pub name: String,
    pub cores: Option<f64>,
    pub cpu_per_request_ns: Option<f64>,
    pub max_memory_bytes: Option<u64>,
    pub processes: Option<u32>,
}

impl TierView {
    fn from_tier(tier: &Tier, load: &LoadResult, usage: &Usage) -> Self {
        // A CPU-second per million requests is a microsecond per request.
        let cpu = cpu_seconds_per_million_of(load, usage, &tier.name);
        Self {
            name: tier.name.clone(),
            cores: tier.used.cores,
            cpu_per_request_ns: cpu.map(|us| us * 1e3),
            max_memory_bytes: tier.used.memory_max_bytes(),
            processes: tier.used.processes,
        }
    }
}

/// One phase of a device load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PhaseView {
    pub name: String,
    pub from_ns: u64,
    pub duration_ns: u64,
    pub requests: RequestCounts,
    pub throughput_per_s: Option<f64>,
    pub goodput_per_s: Option<f64>,
    pub connect: Summary,
    pub tls: Option<Summary>,
    pub headers: Summary,
    pub body: Summary,
    pub response_time: Summary,
    pub send_lag: Summary,
    pub connections: ConnectionCounts,
    pub bytes: ByteCounts,
    pub errors: BTreeMap<ErrorKind, u64>,
}

impl LoadView {
    /// Every load of a URL in a run; empty if targets of a catalogue were measured.
    #[must_use]
    pub fn all(run: &RunRecord) -> Vec<Self> {
        let Some(url) = &run.header.url else { return Vec::new() };
        let server = run.header.server.as_ref();
        let title = &run.header.plan.title;
        run.trials.iter().filter_map(|trial| Self::from_trial(url, title, server, trial)).collect()
    }

    /// `None` if the trial failed before its load.
    fn from_trial(
        url: &str,
        title: &str,
        server: Option<&UrlServer>,
        record: &TrialRecord,
    ) -> Option<Self> {
        let load = record.load.as_ref()?;
        let measured = &load.measured;
        // Bytes belong to the answers that came, whenever their requests were due.
        let answers = measured.answered.completed;
        let spans = &measured.spans;
        // The bytes of every copy count, but only the body of one.
        let is_broadcast = record.load_spec.as_ref().is_some_and(LoadSpec::is_broadcast);
        Some(Self {
            pippin_version: env!("CARGO_PKG_VERSION").into(),
            url: url.into(),
            title: title.into(),
            protocol: record.load_spec.as_ref().map(|spec| spec.protocol).unwrap_or_default(),
            profile: record.spec.profile.clone(),
            step: record.spec.step,
            io: load.io.clone(),
            threads: load.threads,
            interrupted: load.interrupted,
            warm_up: load.warm_up.clone(),
            requests: measured.requests,
            duration_ns: measured.duration_ns,
            throughput_per_s: measured.throughput_per_s(),
            goodput_per_s: measured.goodput_per_s(),
            status: measured.status.clone(),
            connect: spans.connect.summary(),
            tunnel: load
                .proxy
                .as_ref()
                .filter(|proxy| proxy.tunnel.is_some())
                .map(|_| spans.tunnel.summary()),
            tls: load.tls.as_ref().map(|_| spans.tls.summary()),
            upgrade: load.websocket.as_ref().map(|_| spans.upgrade.summary()),
            headers: spans.headers.summary(),
            body: spans.body.summary(),
            service_time: spans.service_time.summary(),
            response_time: due::summary(measured),
            send_lag: spans.send_lag.summary(),
            own_lag: spans.own_lag.summary(),
            pick_up_lag: spans.pick_up_lag.summary(),
            stamps: measured.stamps.name().map(str::to_string),
            stamp_counts: measured.stamps,
            errors: measured.errors.clone(),
            firsts: measured.firsts.clone(),
            redirected_to: measured.redirected_to.clone(),
            log_tail: record.server_end.as_ref().map_or(Vec::new(), |end| end.log_tail.clone()),
            connections: measured.connections,
            closes: measured.closes.clone(),
            connections_with_target: Held::from_evidence(&Evidence {
                record,
                context: &Context::default(),
            })
            .map(Held::with_target),
            proxy: load.proxy.clone(),
            tls_sessions: load.tls.clone(),
            websocket: load.websocket.clone(),
            network: load.network,
            quic: load.quic,
            bytes: measured.bytes,
            overhead_per_answer_bytes: (answers > 0 && !is_broadcast).then(|| {
                measured.bytes.received.saturating_sub(measured.bytes.body) as f64 / answers as f64
            }),
            generator: GeneratorView::from_trial(record, load),
            server: server.map(|server| ServerView::from_server(server, record)),
            scenario: walks::of_load(measured),
            mix: walks::ways(measured),
            followed: walks::followed(measured),
            by_request: walks::paths_of_load(measured),
            slowest: measured.slowest.requests.clone(),
            phases: load.phases.iter().map(|one| phase(one, load.tls.is_some())).collect(),
            windows: load.windows.clone(),
            agents: record.agents.clone(),
            verdict: record.verdict,
            caveats: record.caveats.clone(),
        })
    }
}

impl GeneratorView {
    fn from_trial(record: &TrialRecord, load: &LoadResult) -> Self {
        let (used, answers) = (&load.generator, load.measured.answered.good);
        let threads_ns = used.cpu_ns.saturating_sub(used.spin_ns) as f64;
        Self {
            cpu_ns: used.cpu_ns,
            cpu_ns_by_thread: used.cpu_ns_by_thread.clone(),
            spin_ns: used.spin_ns,
            cpu_per_request_ns: Figure::GeneratorCpu.read(record),
            threads_cpu_per_request_ns: (answers > 0).then(|| threads_ns / answers as f64),
            max_rss_bytes: used.max_rss_bytes,
            syscalls: used.syscalls,
        }
    }
}

impl ServerView {
    fn from_server(server: &UrlServer, record: &TrialRecord) -> Self {
        let usage = record.usage.as_ref();
        let used = usage.and_then(|usage| usage.roles.get(&Role::Target));
        let (processes, unmeasured) = match server {
            UrlServer::Processes { processes } => (processes.clone(), None),
            UrlServer::Not { reason, .. } => (Vec::new(), Some(reason.clone())),
        };
        Self {
            processes,
            unmeasured,
            cores: used.and_then(|used| used.cores),
            cpu_per_request_ns: Figure::Cpu.read(record),
            max_memory_bytes: used.and_then(RoleUse::memory_max_bytes),
            tiers: usage
                .zip(record.load.as_ref())
                .map(|(usage, load)| {
                    usage.tiers.iter().map(|tier| TierView::from_tier(tier, load, usage))
                })
                .into_iter()
                .flatten()
                .collect(),
            unseen_ns: usage.and_then(|usage| usage.unseen_ns).filter(|ns| *ns > 0),
            runtimes: usage.map(|usage| usage.runtimes.clone()).unwrap_or_default(),
        }
    }
}

fn phase(phase: &Phase, is_tls: bool) -> PhaseView {
    let measured: &Measured = &phase.measured;
    PhaseView {
        name: phase.name.clone(),
        from_ns: phase.from_ns,
        duration_ns: measured.duration_ns,
        requests: measured.requests,
        throughput_per_s: measured.throughput_per_s(),
        goodput_per_s: measured.goodput_per_s(),
        connect: measured.spans.connect.summary(),
        tls: is_tls.then(|| measured.spans.tls.summary()),
        headers: measured.spans.headers.summary(),
        body: measured.spans.body.summary(),
        response_time: due::summary(measured),
        send_lag: measured.spans.send_lag.summary(),
        connections: measured.connections,
        bytes: measured.bytes,
        errors: measured.errors.clone(),
    }
}
