//! One second of a load.
use serde::{Deserialize, Serialize};

use super::LoadResult;
use super::silence::{Silence, in_both};
use crate::result::bins::ResponseBins;
use crate::result::histogram::{EncodedHistogram, Histogram, HistogramError};

/// One second of a load (the last one may be shorter).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Start, as an offset from the start of the measured part; negative in the warm-up.
    pub from_ns: i64,
    /// Length in nanoseconds.
    pub duration_ns: u64,
    /// Requests sent in it.
    pub sent: u64,
    /// Complete answers in it.
    pub completed: u64,
    /// Complete and right answers in it.
    pub good: u64,
    /// Errors in it.
    pub errors: u64,
    /// Connections open at its end.
    pub live_connections: u64,
    /// Received bytes.
    pub bytes_in: u64,
    /// Sent bytes.
    pub bytes_out: u64,
    /// Response times of the requests that ended in it.
    pub response_p50_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_p90_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_p99_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_max_ns: Option<u64>,
    /// Mean response time.
    pub response_mean_ns: Option<f64>,
    /// The distribution of these response times; empty if nothing was answered.
    #[serde(default, skip_serializing_if = "ResponseBins::is_empty")]
    pub response_bins: ResponseBins,
    /// Send lag of the requests that were sent in it.
    pub send_lag_p99_ns: Option<u64>,
    /// When nobody was answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silences: Vec<Silence>,
    /// The histograms behind these figures, if the caller asked for them. With them, windows of
    /// peers can be merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histograms: Option<WindowHistograms>,
}

/// The histograms of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowHistograms {
    /// Response times of the requests that ended in it.
    pub response: EncodedHistogram,
    /// Send lag of the requests that were sent in it.
    pub send_lag: EncodedHistogram,
}

impl Window {
    /// Sets the figures that come from histograms.
    pub fn read(&mut self, response: &Histogram, send_lag: &Histogram) {
        self.response_p50_ns = response.quantile_ns(0.5);
        self.response_p90_ns = response.quantile_ns(0.9);
        self.response_p99_ns = response.quantile_ns(0.99);
        self.response_max_ns = response.max_ns();
        self.response_mean_ns = response.mean_ns();
        self.response_bins = ResponseBins::from_histogram(response);
        self.send_lag_p99_ns = send_lag.quantile_ns(0.99);
    }

    /// Adds the same window of a peer. Counters add up. Time figures are those of both together;
    /// they become `None` if one of the two has no histograms.
    ///
    /// # Errors
    /// If a histogram cannot be read.
    pub fn merge(&mut self, peer: &Self) -> Result<(), HistogramError> {
        let (mut response, mut send_lag) = (Histogram::new(), Histogram::new());
        let both = self.histograms.take().zip(peer.histograms.as_ref());
        if let Some((own, others)) = &both {
            for histograms in [own, others] {
                response.merge(&histograms.response.decode()?);
                send_lag.merge(&histograms.send_lag.decode()?);
            }
        }
        self.histograms = both
            .is_some()
            .then(|| WindowHistograms { response: response.encode(), send_lag: send_lag.encode() });
        self.add_counters(peer);
        self.read(&response, &send_lag);
        Ok(())
    }

    /// Adds what another window, of a peer or the next one, counted of requests.
    pub(crate) const fn add_requests(&mut self, other: &Self) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.good += other.good;
        self.errors += other.errors;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
    }

    /// Adds the counters of the same window of a peer. Time figures and histograms stay as they are.
    pub fn add_counters(&mut self, peer: &Self) {
        self.duration_ns = self.duration_ns.max(peer.duration_ns);
        self.live_connections += peer.live_connections;
        self.add_requests(peer);
        self.silences = in_both(&self.silences, &peer.silences);
    }
}

/// The full windows of the measured part, oldest first. Windows shorter than half of the longest,
/// such as the last one, are left out, because their figures vary more.
pub fn measured_windows(load: &LoadResult) -> impl Iterator<Item = &Window> {
    let length = i64::try_from(load.measured.duration_ns).unwrap_or(i64::MAX);
    let inside = move |window: &&Window| {
        window.from_ns >= 0 && window.from_ns < length && window.duration_ns > 0
    };
    let longest =
        load.windows.iter().filter(inside).map(|window| window.duration_ns).max().unwrap_or(0);
    load.windows.iter().filter(inside).filter(move |window| window.duration_ns * 2 > longest)
}

/// Answers per second by when they came, whichever part of the load their requests belong to;
/// `None` without a full window.
///
/// The headline counts only the requests of the measured part, without those in progress at its
/// end. If an answer takes a sixth of the measured part, a sixth of the throughput is missing.
#[must_use]
pub fn arriving_per_s(load: &LoadResult) -> Option<f64> {
    let (count, ns) = measured_windows(load)
        .fold((0, 0), |(count, ns), window| (count + window.completed, ns + window.duration_ns));
    (ns > 0).then(|| count as f64 * 1e9 / ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(spans: &[u64], with_histograms: bool) -> Window {
        let mut response = Histogram::new();
        spans.iter().for_each(|ns| response.record(*ns));
        let completed = spans.len() as u64;
        let mut window = Window { duration_ns: 5, completed, ..Window::default() };
        window.read(&response, &Histogram::new());
        window.histograms = with_histograms
            .then(|| WindowHistograms { response: response.encode(), ..Default::default() });
        window
    }

    #[test]
    fn merged_windows_are_the_window_of_all_requests() {
        let (fast, slow) = (vec![1_000; 60], vec![1_000_000; 40]);
        let mut merged = window(&fast, true);
        merged.merge(&window(&slow, true)).unwrap();
        let all = window(&[fast, slow].concat(), true);
        assert_eq!(
            (merged.response_p50_ns, merged.response_p90_ns, merged.response_p99_ns),
            (all.response_p50_ns, all.response_p90_ns, all.response_p99_ns)
        );
        assert_eq!((merged.completed, merged.duration_ns), (100, 5));
        assert_eq!(
            merged.histograms.as_ref().map(|all| all.response.decode()),
            all.histograms.as_ref().map(|all| all.response.decode())
        );
    }

    #[test]
    fn quantiles_cannot_be_merged_without_histograms() {
        let mut merged = window(&[1_000], true);
        merged.merge(&window(&[2_000], false)).unwrap();
        assert_eq!((merged.completed, merged.response_p50_ns, merged.histograms), (2, None, None));
    }
}
