//! Requests one at a time before the load: what a request takes when it does not queue.
use pippin_model::load::{
    BodyCheck, Connections, LoadSpec, Request, StopRule, Surprises, Timeouts, WarmUp,
};
use pippin_model::plan::profile::Profile;
use pippin_model::request::requests::Requests;
use pippin_model::schedule::Schedule;
use pippin_model::trial::Single;

use crate::load::run_closed;

/// How long they may take together, unless there would be too few; nanoseconds.
const ALL_NS: u64 = 300_000_000;
/// The fewest and the most.
const NUMBER: (u64, u64) = (3, 50);

/// How long one may take before the load of a URL: a server that does not answer is the load's to
/// show.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Measures single requests at a URL, as the first part of its warm-up: only where there is one, and
/// only with requests that change nothing (RFC 9110 section 9.2.1). `None` otherwise, in searches
/// and scenarios, if one fails, and before a load that cannot run as it is asked for: it is refused, and nothing is
/// sent.
#[must_use]
pub fn measure_url(load: &LoadSpec, profile: &Profile) -> Option<Single> {
    if !may_ask(load, profile) {
        return None;
    }
    let request_ns = load.timeouts.request_ns.min(PATIENCE_NS);
    let timeouts = Timeouts { request_ns, ..load.timeouts };
    measure(&LoadSpec { timeouts, ..load.clone() })
}

/// Whether a URL may be sent whole requests before its load: they change nothing, and belong to its
/// warm-up.
#[must_use]
pub fn may_ask(load: &LoadSpec, profile: &Profile) -> bool {
    let is_safe = |request: &Request| matches!(request.method.as_str(), "GET" | "HEAD");
    load.warm_up != WarmUp::None
        && load.messages.is_none()
        && load.scenario.is_none()
        && !profile.is_search()
        && load.requests.iter().all(is_safe)
        && pippin_engine::check(load).is_ok()
}

/// How many requests the server has seen for it: one more, which found caches empty.
#[must_use]
pub const fn requests_of(single: &Single) -> u64 {
    single.requests + 1
}

/// Sends the requests of a load one at a time. `None` if one of them fails: the load will show why.
#[must_use]
pub fn measure(load: &LoadSpec) -> Option<Single> {
    let all = unrefereed(load);
    // A load that opens a connection for each request waits for that each time.
    let one = Connections {
        requests_per_connection: load.connections.requests_per_connection,
        ..Connections::kept(1)
    };
    let one_at_a_time = |requests| {
        let base = LoadSpec {
            schedule: Schedule::Closed { think: None },
            warm_up: WarmUp::None,
            threads: 1,
            // Only requests of the usual kind.
            surprises: Some(Surprises { others: load.others(), ..Surprises::default() }),
            ..load.clone()
        };
        let measured =
            run_closed(base, all.clone(), one, StopRule::requests(requests), None).ok()?.measured;
        (measured.requests.good == requests).then_some(measured.spans.service_time)
    };
    // The first finds caches empty. It only shows how long the others may take.
    let first_ns = one_at_a_time(1)?.max_ns()?.max(1);
    let requests = (ALL_NS / first_ns).clamp(NUMBER.0, NUMBER.1);
    let times = one_at_a_time(requests)?;
    Some(Single { requests, median_ns: times.quantile_ns(0.5)?, longest_ns: times.max_ns()? })
}

/// The requests. There is no referee yet, so where it would judge the body, any body is right.
fn unrefereed(load: &LoadSpec) -> Requests {
    let mut all = load.requests.clone();
    if all.iter().any(|request| request.check.body.needs_referee()) {
        all.iter_mut()
            .filter(|request| request.check.body.needs_referee())
            .for_each(|request| request.check.body = BodyCheck::Any);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::base;
    use pippin_model::load::Request;
    use pippin_model::plan::profile::Arrivals;
    use pippin_testing::scripted::{Answer, Script, spawn};
    use std::time::Duration;

    #[test]
    fn they_take_as_long_as_the_server_waits_and_fail_as_a_whole() {
        let wait = Duration::from_millis(20);
        let server = spawn(Script::always(Answer::ok(b"hello").delay(wait))).unwrap();
        let load = LoadSpec {
            requests: vec![Request::get("/", "localhost")].into(),
            ..base(server.address(), Vec::new(), 1)
        };
        let single = measure(&load).unwrap();
        assert!(
            (3..=15).contains(&single.requests) && single.median_ns >= 20_000_000,
            "{single:?}"
        );
        assert!(single.longest_ns >= single.median_ns);
        let wrong = spawn(Script::always(Answer::new(500, b"hello"))).unwrap();
        assert_eq!(measure(&LoadSpec { addresses: vec![wrong.address()], ..load }), None);
    }

    #[test]
    fn the_first_answer_finds_a_cold_server_and_does_not_count() {
        let mut is_cold = true;
        let server = spawn(Script::each(move |_, _| {
            let wait = if std::mem::take(&mut is_cold) { 1 } else { 0 };
            Answer::ok(b"hello").delay(Duration::from_secs(wait))
        }))
        .unwrap();
        let load = LoadSpec {
            requests: vec![Request::get("/", "localhost")].into(),
            ..base(server.address(), Vec::new(), 1)
        };
        let single = measure(&load).unwrap();
        assert_eq!(single.requests, 3, "the first one showed how long they may take");
        assert!(single.longest_ns < 1_000_000_000, "{single:?}");
    }

    #[test]
    fn a_url_is_asked_where_there_is_a_warm_up_and_requests_change_nothing() {
        let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
        let get = LoadSpec {
            requests: vec![Request::get("/", "localhost")].into(),
            stop: StopRule { duration_ns: Some(1_000_000_000), requests: None },
            threads: 1,
            ..base(server.address(), Vec::new(), 1)
        };
        let profile = Profile::open(10.0, Arrivals::Constant, 1, 0, 1_000_000_000);
        let cold = LoadSpec { warm_up: WarmUp::None, ..get.clone() };
        let warm = LoadSpec { warm_up: WarmUp::Fixed { duration_ns: 1_000_000 }, ..get };
        let post = Request { method: "POST".into(), ..Request::get("/", "localhost") };
        let posts = LoadSpec { requests: vec![post].into(), ..warm.clone() };
        assert_eq!((measure_url(&cold, &profile), measure_url(&posts, &profile)), (None, None));
        let impossible = LoadSpec { threads: 3, ..warm.clone() };
        assert_eq!(measure_url(&impossible, &profile), None, "3 threads for one connection");
        assert_eq!(server.account().requests, 0);
        let single = measure_url(&warm, &profile).unwrap();
        assert_eq!(server.account().requests, requests_of(&single));
    }
}
