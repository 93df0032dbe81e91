//! Whether a load kept an objective.
use pippin_model::load_result::LoadResult;
use pippin_model::objective::{Bound, Objective};

/// The part of the offered rate that must have been completed: a target that falls behind keeps no objective, however fast the few answers
/// that it gives.
const ACHIEVED: f64 = 0.99;

/// Whether a load offered at `rate` requests per second kept every bound, and the rate itself.
#[must_use]
pub fn holds(objective: &Objective, load: &LoadResult, rate: f64) -> bool {
    let measured = &load.measured;
    let achieved = measured.throughput_per_s().is_some_and(|throughput| throughput >= rate * ACHIEVED);
    achieved
        && objective.0.iter().all(|bound| match bound {
            Bound::ResponseTime { quantile, below_ns } => measured.spans.response_time.quantile_ns(*quantile).is_some_and(|ns| ns < *below_ns),
            Bound::Errors { below } => measured.error_fraction().is_some_and(|fraction| fraction < *below),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_record::TestRecord;

    fn load(requests: u64, service_ns: u64) -> LoadResult {
        let mut load = TestRecord::hello().build().load.unwrap();
        let measured = &mut load.measured;
        measured.duration_ns = 1_000_000_000;
        measured.requests.completed = requests;
        measured.requests.good = requests;
        measured.errors.clear();
        measured.spans.response_time.clear();
        measured.spans.response_time.record_n(service_ns, requests);
        load
    }

    #[test]
    fn every_bound_and_the_rate_must_hold() {
        let objective = Objective::parse("p99 < 50ms, errors < 0.1%").unwrap();
        assert!(holds(&objective, &load(1_000, 40_000_000), 1_000.0));
        assert!(!holds(&objective, &load(1_000, 60_000_000), 1_000.0));
        assert!(!holds(&objective, &load(900, 40_000_000), 1_000.0), "the rate was not achieved");
        let mut failing = load(1_000, 40_000_000);
        failing.measured.errors.insert(pippin_model::load_result::ErrorKind::WrongStatus, 2);
        assert!(!holds(&objective, &failing, 1_000.0));
    }
}
