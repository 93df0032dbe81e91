//! Response times over all requests that were due, not only over those that were answered. Requests
//! that were never sent or broke off count as later than any limit, and those that are open at the end
//! are as old as they are. Otherwise a server that falls behind would look good because its slowest
//! answers are missing.
//!
//! Answers that are not right are never within a limit: refusing is quick. How long they took is not
//! known apart from the right ones, so they are taken for the fastest.
use pippin_model::figure::{Point, Span};
use pippin_model::result::Measured;
use pippin_model::result::histogram::{Histogram, Summary};

/// A time span of the requests of a load, with those that have none.
#[derive(Clone, Copy)]
struct Due<'a> {
    /// The times of the answers.
    times: &'a Histogram,
    /// The ages of the requests that were open at the end.
    open_age: &'a Histogram,
    /// Requests that never had an answer: unsent, or broken off.
    never: u64,
    /// Requests that were open at the end.
    censored: u64,
    /// Answers that are not right, taken for the fastest.
    wrong: u64,
}

impl<'a> Due<'a> {
    /// A span of a load that begins and ends with a request and its answer ([`is_of_answers`]).
    fn from_span(measured: &'a Measured, span: Span) -> Self {
        let (times, requests) = (span.histogram(&measured.spans), measured.requests);
        // A request that times out is recorded at its timeout; one whose connection breaks is not.
        let broken = (requests.completed + requests.failed).saturating_sub(times.count());
        let unsent = if matches!(span, Span::ResponseTime) { requests.unsent } else { 0 };
        Self {
            times,
            open_age: &measured.spans.open_age,
            never: broken + unsent,
            censored: requests.censored,
            wrong: requests.completed.saturating_sub(requests.good),
        }
    }

    /// How many requests without a recorded time took longer than `ns`. Of one whose age is unknown,
    /// that is assumed.
    fn late(&self, ns: u64) -> f64 {
        let young = self.open_age.fraction_at_or_below(ns).unwrap_or(0.0);
        self.later_than((young * self.open_age.count() as f64).round() as u64)
    }

    /// How many requests without a recorded time are older than the `young` youngest that are open.
    const fn later_than(&self, young: u64) -> f64 {
        (self.never + self.censored.saturating_sub(young)) as f64
    }

    /// The time within which the fraction `q` had a right answer; `None` if fewer had one.
    fn quantile_ns(&self, q: f64) -> Option<u64> {
        let (recorded, most) = (self.times.count() as f64, self.times.max_ns()?);
        if self.late(0) == 0.0 && self.wrong == 0 {
            return self.times.quantile_ns(q);
        }
        // Both histograms have the same buckets, so that one pass over each is enough.
        let (mut within, mut young) = (0, 0);
        let mut ages = self.open_age.buckets().peekable();
        self.times.buckets().find_map(|(ns, count)| {
            within += count;
            while let Some((_, open)) = ages.next_if(|(age, _)| *age <= ns) {
                young += open;
            }
            // Half a request allows for the rounding of the product.
            let right = within.saturating_sub(self.wrong);
            (right as f64 + 0.5 > q * (recorded + self.later_than(young)) && right > 0)
                .then_some(ns.min(most))
        })
    }

    /// The longest time, or the age of the oldest request without an answer; `None` if nothing was
    /// recorded.
    fn longest_ns(&self) -> Option<u64> {
        let longest = self.times.max_ns()?;
        Some(self.open_age.max_ns().map_or(longest, |oldest| oldest.max(longest)))
    }

    /// The mean. Requests without an answer that are older than it count with their age, so it is a
    /// lower bound. `None` if nothing was recorded.
    fn mean_ns(&self) -> Option<f64> {
        let mean = self.times.mean_ns()?;
        let older = self.open_age.buckets().filter(|(ns, _)| *ns as f64 > mean);
        let (sum, count) = older
            .fold((0.0, 0), |(sum, count), (ns, of)| (sum + ns as f64 * of as f64, count + of));
        if count == 0 {
            return Some(mean);
        }
        let answered = self.times.count() as f64;
        Some((mean * answered + sum) / (answered + count as f64))
    }

    /// Whether a request never had a right answer.
    const fn lacks_any(&self) -> bool {
        self.never > 0 || self.wrong > 0
    }

    fn point(&self, point: Point) -> Option<f64> {
        let value = match point {
            _ if self.times.count() == 0 => return None,
            Point::Quantile(q) => self.quantile_ns(q).map(|ns| ns as f64),
            Point::Max => {
                let longest = self.longest_ns()?;
                (!self.lacks_any() && self.late(longest) == 0.0).then_some(longest as f64)
            }
            Point::Mean if self.lacks_any() => None,
            Point::Mean => self.mean_ns(),
            Point::Min if self.wrong > 0 => self.quantile_ns(0.0).map(|ns| ns as f64),
            Point::Min => point.read(self.times),
        };
        Some(value.unwrap_or(f64::INFINITY))
    }
}

/// The fraction of all due requests that had a right answer in less than `below_ns`; `None` if
/// nothing was recorded.
///
/// Of the requests unanswered at the end, it leaves out those that were due within the last
/// `below_ns`.
#[must_use]
pub fn share_within(measured: &Measured, below_ns: u64) -> Option<f64> {
    let due = Due::from_span(measured, Span::ResponseTime);
    let (times, below_ns) = (due.times, below_ns.saturating_sub(1));
    let within = times.fraction_at_or_below(below_ns)? * times.count() as f64;
    let within = (within - due.wrong as f64).max(0.0);
    Some(within / (times.count() as f64 + due.late(below_ns)))
}

/// The response time within which the fraction `q` of all due requests had a right answer, in
/// nanoseconds; `None` if fewer had one at all, or nothing was recorded.
#[must_use]
pub fn quantile_ns(measured: &Measured, q: f64) -> Option<u64> {
    Due::from_span(measured, Span::ResponseTime).quantile_ns(q)
}

/// A point of a time span in nanoseconds. In spans of a request with its answer, requests that were
/// due and had no right answer count: a quantile that so many requests never reached is infinite, and
/// so are mean and maximum if one never was answered. `None` if nothing was recorded.
#[must_use]
pub fn point(measured: &Measured, span: Span, point: Point) -> Option<f64> {
    if is_of_answers(span) {
        Due::from_span(measured, span).point(point)
    } else {
        point.read(span.histogram(&measured.spans))
    }
}

/// Whether a span is one of a request with its answer, so that requests without one count.
const fn is_of_answers(span: Span) -> bool {
    matches!(span, Span::ResponseTime | Span::ServiceTime | Span::Headers | Span::Body)
}

/// The longest response time that was seen, or the age of the oldest request without an answer, in
/// nanoseconds; `None` if nothing was recorded. A load whose requests were not all answered rightly has
/// no maximum ([`point`]), but it has this.
#[must_use]
pub fn longest_ns(measured: &Measured) -> Option<u64> {
    Due::from_span(measured, Span::ResponseTime).longest_ns()
}

/// The response times as tables show them, which gates and charts read too ([`point`]): a figure that
/// is beyond any time, because requests never had a right answer, is `None`.
#[must_use]
pub fn summary(measured: &Measured) -> Summary {
    let due = Due::from_span(measured, Span::ResponseTime);
    let q = |q| due.quantile_ns(q);
    let known = |point| due.point(point).filter(|ns| ns.is_finite());
    Summary {
        min_ns: known(Point::Min).map(|ns| ns as u64),
        mean_ns: known(Point::Mean),
        p50_ns: q(0.5),
        p75_ns: q(0.75),
        p90_ns: q(0.9),
        p95_ns: q(0.95),
        p99_ns: q(0.99),
        p999_ns: q(0.999),
        max_ns: known(Point::Max).map(|ns| ns as u64),
        ..measured.spans.response_time.summary()
    }
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

    /// Every 33rd request hangs; the others are answered in 1 ms.
    #[test]
    fn a_request_that_hangs_is_as_old_as_it_is() {
        let hung = measured(ExampleTrial::open(100.0).seconds(6).hung(18));
        assert_eq!(quantile_ns(&hung, 0.99), None);
        assert_eq!(point(&hung, Span::ResponseTime, Point::Quantile(0.99)), Some(f64::INFINITY));
        assert!(share_within(&hung, 100_000_000).is_some_and(|share| share < 0.975));
        let longest = point(&hung, Span::ResponseTime, Point::Max).unwrap();
        assert!(longest > 5.5e9, "{longest}");
        let mut broken = hung.clone();
        broken.requests.failed = 1;
        assert_eq!(point(&broken, Span::ResponseTime, Point::Max), Some(f64::INFINITY));
        let means =
            (point(&hung, Span::ResponseTime, Point::Mean), hung.spans.response_time.mean_ns());
        assert!(means.0 > means.1, "{means:?}");
        let shown = summary(&hung);
        assert_eq!((shown.p99_ns, shown.max_ns), (None, Some(longest as u64)));
        let one = measured(ExampleTrial::open(100.0).seconds(6).hung(1));
        near(quantile_ns(&one, 0.99), 1.196);
        // Without its age, a request counts as old.
        let mut unknown = measured(ExampleTrial::open(10_000.0).censored(9_000));
        unknown.spans.open_age.clear();
        assert_eq!(quantile_ns(&unknown, 0.99), None);
    }

    #[test]
    fn nothing_recorded_has_no_quantile() {
        assert_eq!(
            (quantile_ns(&Measured::default(), 0.99), share_within(&Measured::default(), 1)),
            (None, None)
        );
    }

    proptest::proptest! {
        /// One pass over both histograms finds what looking up the age of each bucket finds.
        #[test]
        fn a_quantile_is_the_first_bucket_within_which_enough_had_a_right_answer(
            times in proptest::collection::vec(0..5_000_000u64, 1..60),
            ages in proptest::collection::vec(0..6_000_000u64, 0..30),
            (never, unknown, wrong) in (0..20u64, 0..5u64, 0..20u64),
            q in 0.0..1.0f64,
        ) {
            let recorded = |spans: &[u64]| {
                let mut histogram = Histogram::new();
                spans.iter().for_each(|ns| histogram.record(*ns));
                histogram
            };
            let (answered, open) = (recorded(&times), recorded(&ages));
            let censored = ages.len() as u64 + unknown;
            let due = Due { times: &answered, open_age: &open, never, censored, wrong };
            proptest::prop_assume!(due.late(0) > 0.0 || wrong > 0);
            let mut within = 0;
            let right = answered.buckets().find_map(|(ns, count)| {
                within += count;
                let right = within.saturating_sub(wrong);
                let all = times.len() as f64 + due.late(ns);
                (right as f64 + 0.5 > q * all && right > 0).then_some(ns)
            });
            proptest::prop_assert_eq!(due.quantile_ns(q), right.map(|ns| ns.min(answered.max_ns().unwrap())));
        }
    }
}
