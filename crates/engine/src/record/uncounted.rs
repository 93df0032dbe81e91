//! Time spans on their way to the histograms. They are collected in rows first: updating nine
//! tables for each request, between two system calls, would mean nine cache misses. With rows, each
//! table is loaded once for many requests. Then they are kept as [`Counts`] until a window ends.
use pippin_model::result::Spans;
use pippin_model::result::histogram::Histogram;

use crate::record::counts::Counts;
use crate::record::tally::{Tally, WindowTally};

/// How many are counted together: few enough for the row to stay in the first-level cache.
const ROW: usize = 64;

/// The spans of one complete answer, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerSpans {
    /// The stretch that the request belongs to.
    pub stretch: u32,
    pub headers_ns: u64,
    pub body_ns: u64,
    pub service_ns: u64,
    pub response_ns: u64,
    pub send_lag_ns: u64,
    pub own_lag_ns: u64,
    pub pick_up_ns: u64,
    /// Its request was the first of its batch.
    pub leads: bool,
}

/// A kind of span: where it is in the answer, and where it goes in the tally.
type Kind = (fn(&AnswerSpans) -> u64, fn(&mut Spans) -> &mut Histogram);

const KINDS: [Kind; 7] = [
    (|answer| answer.headers_ns, |spans| &mut spans.headers),
    (|answer| answer.body_ns, |spans| &mut spans.body),
    (|answer| answer.service_ns, |spans| &mut spans.service_time),
    (|answer| answer.response_ns, |spans| &mut spans.response_time),
    (|answer| answer.send_lag_ns, |spans| &mut spans.send_lag),
    (|answer| answer.own_lag_ns, |spans| &mut spans.own_lag),
    (|answer| answer.pick_up_ns, |spans| &mut spans.pick_up_lag),
];
/// The place of the response time among the kinds: windows have it too.
const RESPONSE: usize = 3;

/// What was measured and is not in a histogram yet.
#[derive(Debug)]
pub(crate) struct Uncounted {
    answers: Vec<AnswerSpans>,
    /// Of all answers of the present stretch, by kind.
    counts: [Counts; KINDS.len()],
    /// The service time of those whose request was the first of its batch.
    leaders: Counts,
    /// How late the requests of the present window were sent.
    send_lags_ns: Vec<u64>,
    send_lags: Counts,
}

impl Uncounted {
    pub fn new() -> Self {
        Self {
            answers: Vec::with_capacity(ROW),
            counts: std::array::from_fn(|_| Counts::new()),
            leaders: Counts::new(),
            send_lags_ns: Vec::with_capacity(ROW),
            send_lags: Counts::new(),
        }
    }

    /// Keeps the spans of an answer. Returns whether it is time to count.
    #[inline]
    #[must_use]
    pub fn answer(&mut self, spans: AnswerSpans) -> bool {
        self.answers.push(spans);
        self.answers.len() >= ROW
    }

    /// Keeps how late a request was sent. Returns whether it is time to count.
    #[inline]
    #[must_use]
    pub fn send_lag(&mut self, ns: u64) -> bool {
        self.send_lags_ns.push(ns);
        self.send_lags_ns.len() >= ROW
    }

    /// Counts the rows. `current` is the present stretch; of a request that belongs to another, the
    /// spans are counted there at once.
    pub fn count(&mut self, current: usize, stretches: &mut [Tally], window: &mut WindowTally) {
        if self.answers.iter().any(|answer| answer.stretch as usize != current) {
            self.answers.retain(|answer| {
                let is_current = answer.stretch as usize == current;
                if !is_current {
                    count_elsewhere(answer, &mut stretches[answer.stretch as usize], window);
                }
                is_current
            });
        }
        for ((span, _), counts) in KINDS.iter().zip(&mut self.counts) {
            counts.add(self.answers.iter().map(span));
        }
        let leaders = self.answers.iter().filter(|answer| answer.leads);
        self.leaders.add(leaders.map(|answer| answer.service_ns));
        self.send_lags.add(self.send_lags_ns.iter().copied());
        self.answers.clear();
        self.send_lags_ns.clear();
    }

    /// Counts the rows and moves everything to the histograms: of the present stretch, and of the
    /// window that is under way. To be called before another stretch or window begins.
    pub fn settle(&mut self, current: usize, stretches: &mut [Tally], window: &mut WindowTally) {
        self.count(current, stretches, window);
        let spans = &mut stretches[current].spans;
        for (index, ((_, histogram), counts)) in KINDS.iter().zip(&mut self.counts).enumerate() {
            let histogram = histogram(spans);
            counts.take(|ns, count| {
                histogram.record_n(ns, count);
                if index == RESPONSE {
                    window.response.record_n(ns, count);
                }
            });
        }
        self.leaders.move_to(&mut stretches[current].spans.first_in_batch);
        self.send_lags.move_to(&mut window.send_lag);
    }
}

/// Counts the answer to a request that belongs to another stretch than the present one.
#[cold]
fn count_elsewhere(answer: &AnswerSpans, tally: &mut Tally, window: &mut WindowTally) {
    for (span, histogram) in KINDS {
        histogram(&mut tally.spans).record(span(answer));
    }
    if answer.leads {
        tally.spans.first_in_batch.record(answer.service_ns);
    }
    window.response.record(answer.response_ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_span_goes_into_its_own_histogram_of_its_own_stretch() {
        let mut uncounted = Uncounted::new();
        let spans = |stretch, times: u64| AnswerSpans {
            stretch,
            headers_ns: 1_000 * times,
            body_ns: 2_000 * times,
            service_ns: 3_000 * times,
            response_ns: 4_000 * times,
            send_lag_ns: 5_000 * times,
            own_lag_ns: 6_000 * times,
            pick_up_ns: 7_000 * times,
            leads: times == 10,
        };
        let full: Vec<bool> = (0..ROW).map(|_| uncounted.answer(spans(1, 1))).collect();
        assert_eq!(full.iter().position(|full| *full), Some(ROW - 1), "the last of a row says so");
        assert!(uncounted.answer(spans(0, 10)) && !uncounted.send_lag(7_000));
        let (mut stretches, mut window) =
            ([Tally::default(), Tally::default()], WindowTally::default());
        uncounted.count(1, &mut stretches, &mut window);
        assert_eq!(
            (stretches[1].spans.headers.count(), window.send_lag.count()),
            (0, 0),
            "not before the window ends"
        );
        for _ in 0..2 {
            // The second time there is nothing left to count.
            uncounted.settle(1, &mut stretches, &mut window);
            for (tally, (count, times)) in stretches.iter().zip([(1, 10), (ROW as u64, 1)]) {
                let spans = &tally.spans;
                let all = [
                    &spans.headers,
                    &spans.body,
                    &spans.service_time,
                    &spans.response_time,
                    &spans.send_lag,
                    &spans.own_lag,
                    &spans.pick_up_lag,
                ];
                for (histogram, thousands) in all.into_iter().zip(1..) {
                    assert_eq!(histogram.count(), count);
                    assert!(
                        histogram.max_ns().unwrap().abs_diff(1_000 * thousands * times) <= 100,
                        "{thousands}"
                    );
                }
            }
            let leaders = stretches.each_ref().map(|tally| tally.spans.first_in_batch.count());
            assert_eq!(leaders, [1, 0]);
            assert_eq!((window.response.count(), window.send_lag.count()), (ROW as u64 + 1, 1));
        }
    }
}
