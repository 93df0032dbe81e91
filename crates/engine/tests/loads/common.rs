//! What the tests of whole loads share.
use std::sync::atomic::AtomicBool;

use pippin_engine::{Control, EngineError, run};
use pippin_model::load::*;
use pippin_model::result::{LoadResult, Measured};

/// A closed loop of `connections` until `requests` are answered.
pub fn counted(address: std::net::SocketAddr, connections: u32, requests: u64) -> LoadSpec {
    LoadSpec {
        addresses: vec![address],
        requests: vec![get("/", BodyCheck::Exact(b"Hello World!".to_vec()))].into(),
        connections: Connections::kept(connections),
        stop: StopRule::requests(requests),
        timeouts: Timeouts {
            connect_ns: 2_000_000_000,
            request_ns: 2_000_000_000,
            ..Timeouts::default()
        },
        io: crate::IO,
        seed: 7,
        ..LoadSpec::default()
    }
}

pub fn get(path: &str, body: BodyCheck) -> Request {
    Request {
        check: Check { status: vec![200], body, ..Check::default() },
        ..Request::get(path, "test")
    }
}

pub fn timed(spec: LoadSpec, milliseconds: u64) -> LoadSpec {
    LoadSpec { stop: StopRule::after(milliseconds * 1_000_000), ..spec }
}

pub fn load(spec: &LoadSpec) -> Result<LoadResult, EngineError> {
    let stop = AtomicBool::new(false);
    run(spec, &Control::new(&stop, &|_| false))
}

/// Runs a load and checks what must hold in every one.
pub fn conserved(spec: &LoadSpec) -> LoadResult {
    let result = load(spec).unwrap();
    for measured in
        std::iter::once(&result.measured).chain(result.phases.iter().map(|phase| &phase.measured))
    {
        assert_conserved(measured);
    }
    result
}

pub fn assert_conserved(measured: &Measured) {
    let requests = measured.requests;
    assert!(requests.are_conserved(), "{requests:?}");
    assert_eq!(measured.spans.headers.count(), requests.completed);
    assert_eq!(measured.spans.body.count(), requests.completed);
    assert_eq!(measured.spans.send_lag.count(), requests.sent);
    assert_eq!(measured.spans.own_lag.count(), requests.sent);
    assert!(measured.spans.service_time.count() >= requests.completed);
    assert_eq!(measured.spans.service_time.count(), measured.spans.response_time.count());
}
