//! Time spans that are still to be counted. Eight histograms a request, each touched between two calls of the kernel, would be eight times
//! memory that the kernel has pushed out of the cache; in rows, each histogram is brought in once for many requests.
use pippin_model::histogram::Histogram;
use pippin_model::load_result::Spans;

use crate::tally::{Tally, WindowTally};

/// How many are counted together: few enough that the row itself stays in the first-level cache.
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
}

/// What has been measured and not counted yet.
#[derive(Debug)]
pub(crate) struct Uncounted {
    answers: Vec<AnswerSpans>,
    /// Of the present window.
    send_lags_ns: Vec<u64>,
}

impl Uncounted {
    pub fn new() -> Self {
        Self { answers: Vec::with_capacity(ROW), send_lags_ns: Vec::with_capacity(ROW) }
    }

    /// Keeps the spans of an answer; whether it is time to count.
    #[inline]
    #[must_use]
    pub fn answer(&mut self, spans: AnswerSpans) -> bool {
        self.answers.push(spans);
        self.answers.len() >= ROW
    }

    /// Keeps how late a request was sent; whether it is time to count.
    #[inline]
    #[must_use]
    pub fn send_lag(&mut self, ns: u64) -> bool {
        self.send_lags_ns.push(ns);
        self.send_lags_ns.len() >= ROW
    }

    /// Counts everything: in the stretches, and in the window that is under way.
    pub fn count(&mut self, stretches: &mut [Tally], window: &mut WindowTally) {
        let answers = &self.answers;
        row(stretches, answers, |spans| &mut spans.headers, |answer| answer.headers_ns);
        row(stretches, answers, |spans| &mut spans.body, |answer| answer.body_ns);
        row(stretches, answers, |spans| &mut spans.service_time, |answer| answer.service_ns);
        row(stretches, answers, |spans| &mut spans.response_time, |answer| answer.response_ns);
        row(stretches, answers, |spans| &mut spans.send_lag, |answer| answer.send_lag_ns);
        row(stretches, answers, |spans| &mut spans.own_lag, |answer| answer.own_lag_ns);
        for answer in answers {
            window.response.record(answer.response_ns);
        }
        for ns in &self.send_lags_ns {
            window.send_lag.record(*ns);
        }
        self.answers.clear();
        self.send_lags_ns.clear();
    }
}

/// Counts one span of all answers.
#[inline]
fn row(stretches: &mut [Tally], answers: &[AnswerSpans], histogram: impl Fn(&mut Spans) -> &mut Histogram, ns: impl Fn(&AnswerSpans) -> u64) {
    for answer in answers {
        histogram(&mut stretches[answer.stretch as usize].spans).record(ns(answer));
    }
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
        };
        let full: Vec<bool> = (0..ROW).map(|_| uncounted.answer(spans(1, 1))).collect();
        assert_eq!(full.iter().position(|full| *full), Some(ROW - 1), "the last of a row says so");
        assert!(uncounted.answer(spans(0, 10)) && !uncounted.send_lag(7_000));
        let (mut stretches, mut window) = ([Tally::default(), Tally::default()], WindowTally::default());
        for _ in 0..2 {
            // The second time there is nothing left to count.
            uncounted.count(&mut stretches, &mut window);
            for (tally, (count, times)) in stretches.iter().zip([(1, 10), (ROW as u64, 1)]) {
                let spans = &tally.spans;
                let all = [&spans.headers, &spans.body, &spans.service_time, &spans.response_time, &spans.send_lag, &spans.own_lag];
                for (histogram, thousands) in all.into_iter().zip(1..) {
                    assert_eq!(histogram.count(), count);
                    assert!(histogram.max_ns().unwrap().abs_diff(1_000 * thousands * times) <= 100, "{thousands}");
                }
            }
            assert_eq!((window.response.count(), window.send_lag.count()), (ROW as u64 + 1, 1));
        }
    }
}
