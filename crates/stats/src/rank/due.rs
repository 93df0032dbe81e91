//! Response times over all requests that were due, not only over those that were answered. Requests
//! that were never sent, that failed, or that were overdue at the end count as later than any
//! limit. Otherwise a server that falls behind would look good because its slowest answers are
//! missing.
use pippin_model::result::Measured;

/// The fraction of all due requests whose response time is below `below_ns`; `None` if nothing was
/// recorded.
///
/// Of the requests unanswered at the end, it leaves out as many as can have been due within the
/// last `below_ns`.
#[must_use]
pub fn share_within(measured: &Measured, below_ns: u64) -> Option<f64> {
    let times = &measured.spans.response_time;
    let within = times.fraction_at_or_below(below_ns.saturating_sub(1))? * times.count() as f64;
    Some(within / (times.count() as f64 + late(measured, below_ns)))
}

/// The response time within which the fraction `q` of all due requests was answered, in
/// nanoseconds; `None` if fewer were answered at all, or nothing was recorded.
#[must_use]
pub fn quantile_ns(measured: &Measured, q: f64) -> Option<u64> {
    let times = &measured.spans.response_time;
    let (recorded, most) = (times.count() as f64, times.max_ns()?);
    let mut within = 0;
    times.buckets().find_map(|(ns, count)| {
        within += count;
        // Half a request allows for the rounding of the product.
        (within as f64 + 0.5 > q * (recorded + late(measured, ns)) && within > 0)
            .then_some(ns.min(most))
    })
}

/// How many requests without a recorded time took longer than `ns`.
fn late(measured: &Measured, ns: u64) -> f64 {
    let requests = measured.requests;
    // A request that times out is recorded at its timeout; one whose connection breaks is not.
    let broken =
        (requests.completed + requests.failed).saturating_sub(measured.spans.response_time.count());
    let due_per_ns = requests.scheduled as f64 / measured.duration_ns.max(1) as f64;
    // Of 5 requests/s, one can have been due within the last 50 ms.
    let overdue = (requests.censored as f64 - (due_per_ns * ns as f64).ceil()).max(0.0);
    (requests.unsent + broken) as f64 + overdue
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;

    /// 10,000 requests/s for 30 s, answered in 0.8 to 1.2 ms, evenly.
    fn measured(record: ExampleTrial) -> Measured {
        record.build().load.unwrap().measured
    }

    fn near(found: Option<u64>, wanted_ms: f64) {
        let found = found.unwrap() as f64 / 1e6;
        assert!((found / wanted_ms - 1.0).abs() < 0.005, "{found} ms for {wanted_ms} ms");
    }

    #[test]
    fn where_all_are_answered_it_is_the_histograms_quantile() {
        let all = measured(ExampleTrial::open(10_000.0));
        for q in [0.1, 0.5, 0.9, 0.99] {
            near(
                quantile_ns(&all, q),
                all.spans.response_time.quantile_ns(q).unwrap() as f64 / 1e6,
            );
        }
        assert!((share_within(&all, 1_000_000).unwrap() - 0.5).abs() < 0.01);
    }

    #[test]
    fn what_was_never_sent_or_broke_off_is_later_than_any_time() {
        // 2,700 of 300,000 unsent: 99 % of all are 99.9 % of those that were answered.
        near(quantile_ns(&measured(ExampleTrial::open(10_000.0).unsent(2_700)), 0.99), 1.198);
        // 1.5 % unsent: 99 % of all were never answered.
        let unsent = measured(ExampleTrial::open(10_000.0).unsent(4_500));
        assert_eq!(quantile_ns(&unsent, 0.99), None);
        near(quantile_ns(&unsent, 0.5), 1.004);
        let mut broken = measured(ExampleTrial::open(10_000.0));
        (broken.requests.completed, broken.requests.failed) = (broken.requests.completed, 4_500);
        assert_eq!(quantile_ns(&broken, 0.99), None);
    }

    #[test]
    fn what_is_under_way_anyway_is_not_late_and_a_backlog_is() {
        // At 1.2 ms each, 12 are in progress at any instant.
        near(quantile_ns(&measured(ExampleTrial::open(10_000.0).censored(12)), 0.99), 1.196);
        assert_eq!(
            quantile_ns(&measured(ExampleTrial::open(10_000.0).censored(9_000)), 0.99),
            None
        );
    }

    #[test]
    fn one_of_few_that_is_under_way_is_not_late() {
        // 5 requests/s for 5 s, the last one due 10 ms before the end.
        let few = measured(ExampleTrial::open(5.0).seconds(5).response_ms(20.0).censored(1));
        assert_eq!((few.requests.scheduled, few.requests.completed), (25, 24));
        assert_eq!(share_within(&few, 50_000_000), Some(1.0));
        // Two cannot have been due within 50 ms.
        let few = measured(ExampleTrial::open(5.0).seconds(5).response_ms(20.0).censored(2));
        assert!(share_within(&few, 50_000_000).is_some_and(|share| share < 0.96));
    }

    #[test]
    fn nothing_recorded_has_no_quantile() {
        assert_eq!(
            (quantile_ns(&Measured::default(), 0.99), share_within(&Measured::default(), 1)),
            (None, None)
        );
    }
}
