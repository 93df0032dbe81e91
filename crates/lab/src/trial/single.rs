//! Requests one at a time before the load: what a request takes when it does not queue.
use pippin_model::load::{BodyCheck, Connections, LoadSpec, StopRule, WarmUp};
use pippin_model::request::requests::Requests;
use pippin_model::schedule::Schedule;
use pippin_model::trial::Single;

use crate::load::run_closed;

/// How long they may take together, unless there would be too few; nanoseconds.
const ALL_NS: u64 = 300_000_000;
/// The fewest and the most.
const NUMBER: (u64, u64) = (3, 50);

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
            ..load.clone()
        };
        let measured =
            run_closed(base, all.clone(), one, StopRule::requests(requests), None).ok()?.measured;
        (measured.requests.good == requests).then_some(measured.spans.service_time)
    };
    // The first finds caches empty. It only shows how long the others may take.
    let first_ns = one_at_a_time(1)?.max_ns()?.max(1);
    let requests = (ALL_NS / first_ns).clamp(NUMBER.0, NUMBER.1);
    Some(Single { requests, median_ns: one_at_a_time(requests)?.quantile_ns(0.5)? })
}

/// The requests. There is no referee yet, so where it would judge the body, any body is right.
fn unrefereed(load: &LoadSpec) -> Requests {
    let mut all = load.requests.clone();
    if all.iter().any(|request| request.check.body == BodyCheck::Refereed) {
        all.iter_mut()
            .filter(|request| request.check.body == BodyCheck::Refereed)
            .for_each(|request| request.check.body = BodyCheck::Any);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::base;
    use pippin_model::load::Request;
    use pippin_reference::scripted::{Answer, Script, spawn};
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
        let wrong = spawn(Script::always(Answer::new(500, b"hello"))).unwrap();
        assert_eq!(measure(&LoadSpec { addresses: vec![wrong.address()], ..load }), None);
    }
}
