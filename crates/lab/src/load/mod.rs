//! From a profile and a workload to what the engine runs.
//!
//! | module | what it does |
//! |---|---|
//! | [`pool`] | draws the requests of a load |
//! | [`address`] | a URL, its addresses, and whether it may be loaded |
//! | [`proxy`] | the URL of a proxy |
//! | [`url`] | a load of a URL as a run |
//! | [`greeting`] | what a server says of its own accord on a new WebSocket |
//! | [`spoken`] | what a server speaks, if not what the load does |
pub mod address;
pub mod greeting;
pub mod pool;
pub mod proxy;
pub mod spoken;
pub mod url;
pub mod wishes;

use pippin_engine::Referee;
use pippin_model::load::websocket;
use pippin_model::load::{
    BodyCheck, Check, Connections, LoadSpec, Request, Requests, StopRule, Timeouts,
};
use pippin_model::plan::profile::Profile;
use pippin_model::result::{FirstError, LoadResult};
use pippin_model::trial::Step;
use pippin_model::workload::{Sample, Workload};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use crate::error::LabError;
use crate::host::descriptors;
use crate::trial::{Trial, Watch};

/// How many connections go from one source address to one destination; on the loopback there are as
/// many source addresses as needed. The kernel tries local ports one by one until it finds a free
/// one (`__inet_hash_connect`: of the usual 28,232 those of one parity first). If most ports of a
/// source are taken, connect(2) takes long.
pub const CONNECTIONS_PER_SOURCE: u32 = 4_000;

/// The requests of a workload, or of its steps, each with its check. `as_proved` is the check of
/// the body for workloads that do not define one.
#[must_use]
pub fn requests(
    workload: &Workload,
    samples: &[Sample],
    as_proved: &BodyCheck,
    host: SocketAddr,
) -> Requests {
    let host = host.to_string();
    if let Some(message) = workload.message {
        let payload = websocket::Messages::payload(message.bytes as usize);
        let message = |sample: &Sample| Request {
            headers: sample.headers.clone(),
            body: payload.clone(),
            check: Check { body: BodyCheck::Exact(payload.clone()), ..Check::default() },
            ..Request::get(&sample.path, &host)
        };
        return samples.iter().map(message).collect();
    }
    if let Some(walk) = &workload.walk {
        let with_host = |request: &Request| Request { host: host.clone(), ..request.clone() };
        return walk.requests.iter().map(with_host).collect();
    }
    samples
        .iter()
        .map(|sample| Request {
            method: workload.request.method.clone(),
            headers: sample.headers.clone(),
            body: sample.request_body.clone().into_bytes(),
            upload: sample.upload,
            // A body that is made has a number in any case.
            drawn: sample.upload.and(sample.drawn.clone()),
            check: Check {
                status: vec![workload.answer.status],
                body: body_check(workload, sample, as_proved),
                json: sample.json.clone(),
                ..Check::default()
            },
            ..Request::get(&sample.path, &host)
        })
        .collect()
}

fn body_check(workload: &Workload, sample: &Sample, as_proved: &BodyCheck) -> BodyCheck {
    if workload.answer.from.is_some() {
        return BodyCheck::Refereed;
    }
    if let Some(form) = workload.answer.event_form() {
        return BodyCheck::Events(form);
    }
    match (&sample.body, workload.answer.body_bytes) {
        (Some(body), _) => BodyCheck::Exact(body.clone().into_bytes()),
        (None, Some(range)) if !sample.contains.is_empty() => {
            BodyCheck::Contains { min: range.min, max: range.max, all: sample.contains.clone() }
        }
        (None, Some(range)) => BodyCheck::Length { min: range.min, max: range.max },
        (None, None) if workload.answer.as_proved => as_proved.clone(),
        (None, None) => BodyCheck::containing(sample.contains.clone()),
    }
}

/// One user on one connection, from which every load is made by replacing parts. Its number of
/// threads is 0, which means as many as the load needs.
#[must_use]
pub fn base(address: SocketAddr, cores: Vec<u32>, seed: u64) -> LoadSpec {
    LoadSpec { addresses: vec![address], threads: 0, cores, seed, ..LoadSpec::default() }
}

/// The load of one step of a profile. Users who share a connection over HTTP/2 get one each over
/// HTTP/1.1.
#[must_use]
pub fn from_profile(profile: &Profile, step: Option<Step>, base: LoadSpec) -> LoadSpec {
    let Profile { schedule, connections, stop, warm_up, .. } = profile.at(step);
    let (connections, _) = connections.over(base.protocol);
    let timeouts = patient(profile.patience_ns(), base.timeouts);
    let network = profile.network.or(base.network);
    fitted(LoadSpec { schedule, connections, stop, warm_up, timeouts, network, ..base })
}

/// The limits of users who give up after so long.
fn patient(patience_ns: Option<u64>, usual: Timeouts) -> Timeouts {
    patience_ns.map_or(usual, |ns| Timeouts {
        connect_ns: usual.connect_ns.min(ns),
        request_ns: usual.request_ns.min(ns),
        patience_ns: Some(ns),
    })
}

/// Fills in what is still open in a load, or in a part of one.
///
/// - Threads: one for each processor (one in all for broadcasts), and more where one descriptor
///   table has too few entries (each thread can have its own), but no more than connections.
/// - Source addresses: more than one where one has too few ports for the connections, if all
///   addresses are on the loopback.
#[must_use]
pub fn fitted(mut load: LoadSpec) -> LoadSpec {
    let connections = load.slice.share(load.connections.count.into()) as u32;
    if load.threads == 0 {
        let tables = descriptors::tables_for(u64::from(connections), descriptors::open_files());
        let wanted = (tables.min(1_024) as u32).max(load.cores.len() as u32);
        // One thread sees when the last connection has a broadcast.
        let most = if load.is_broadcast() { 1 } else { connections };
        load.threads = wanted.min(most).max(1);
    }
    let all_loopback =
        load.addresses.iter().all(|address| address.ip().is_loopback() && address.is_ipv4())
            && load.unix_socket.is_none();
    let wanted = connections.div_ceil(CONNECTIONS_PER_SOURCE);
    if all_loopback && wanted > 1 && load.source_addresses.is_empty() {
        load.source_addresses = (0..wanted).map(|i| IpAddr::V4(loopback(i))).collect();
    }
    load
}

/// The `i`-th loopback address for connecting from, from 127.0.1.1 on.
fn loopback(i: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 0, 1, 1)).wrapping_add(i))
}

/// How many errors of each kind a load had, and what is known of the first of the kind:
/// `2 timeout, 1 status (the first: GET /a: HTTP/1.1 500 Internal Server Error)`.
#[must_use]
pub fn errors_in_words(load: &LoadResult) -> String {
    let of_kind = |(kind, count): (&_, &u64)| {
        let first = load.measured.firsts.get(kind).map(FirstError::in_words);
        match first.filter(|words| !words.is_empty()) {
            Some(first) => format!("{count} {} (the first: {first})", kind.name()),
            None => format!("{count} {}", kind.name()),
        }
    };
    load.measured.errors.iter().map(of_kind).collect::<Vec<_>>().join(", ")
}

/// All complete answers of a load, those of warm-up and ramps included.
#[must_use]
pub fn answers(load: &LoadResult) -> u64 {
    load.windows.iter().map(|window| window.completed).sum()
}

/// Runs a short closed loop, for proofs.
///
/// # Errors
/// As the engine's.
pub fn run_closed(
    base: LoadSpec,
    requests: Requests,
    connections: Connections,
    stop: StopRule,
    referee: Option<Arc<dyn Referee>>,
) -> Result<LoadResult, LabError> {
    let load = fitted(LoadSpec { requests, connections, stop, ..base });
    let mut trial = Trial { referee, ..Trial::from_load(load) };
    Ok(trial.measure(&Watch::nobody())?.load)
}
