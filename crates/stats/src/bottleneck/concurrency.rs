//! Infers from outside how many requests a target serves at a time.
//!
//! If a target serves `k` requests at a time, each for `S`, then `X = k / S`, however many wait. So
//! `X * S` is `k` and stays `k` while the queue grows (Little's law for the requests in service).
//! `S` cannot be seen under load: the shortest time may belong to a lucky request, or to one that
//! queued. So `S` is the time of single requests before the load, or the wait that the workload
//! itself contains.

/// How many times the time in service answers must take to count as queued.
pub(crate) const QUEUE: f64 = 2.0;
/// How many times it must take where it is long and hardly any of it is a processor's, so that
/// nothing but a queue makes it longer.
pub(crate) const SHORT_QUEUE: f64 = 1.2;
/// The least number of requests that is served at a time.
const LEAST: f64 = 0.5;
/// Throughputs that differ by at most this are flat.
const FLAT: f64 = 0.10;

/// The figures of one closed load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Users.
    pub connections: f64,
    /// Answers per second.
    pub throughput_per_s: f64,
    /// Mean service time in seconds.
    pub mean_service_s: f64,
    /// The time of a request that does not queue, in seconds.
    pub unqueued_s: f64,
}

/// How many requests are served at a time, if answers take at least `queue` times the time in
/// service, and as many times as many users are there as are in service. Below a half, the time in service
/// does not explain the throughput.
#[must_use]
pub fn inferred(load: &Load, queue: f64) -> Option<f64> {
    let served = load.throughput_per_s * load.unqueued_s;
    (served >= LEAST
        && load.mean_service_s >= queue * load.unqueued_s
        && served <= load.connections / queue)
        .then_some(served)
}

/// The concurrency from the points of a sweep, in ascending order. The throughput of the last
/// points must be flat within 10 % while their number of connections at least doubles. The time
/// without a queue is that of the last point.
#[must_use]
pub fn inferred_from_sweep(points: &[Load]) -> Option<f64> {
    let last = points.last()?;
    let flat = points
        .iter()
        .rev()
        .take_while(|point| (point.throughput_per_s / last.throughput_per_s - 1.0).abs() <= FLAT)
        .last()?;
    if last.connections < 2.0 * flat.connections {
        return None;
    }
    inferred(last, QUEUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_rails_serves_five_at_a_time() {
        // Published figures: 100 connections, 9.79 requests/s at 10.2 s each, behind an upstream of
        // 500 ms.
        let rails = Load {
            connections: 100.0,
            throughput_per_s: 9.79,
            mean_service_s: 10.2,
            unqueued_s: 0.5,
        };
        assert_eq!(inferred(&rails, QUEUE).map(f64::round), Some(5.0));
    }

    #[test]
    fn without_a_queue_there_is_no_limit() {
        // All 100 wait for the upstream at the same time.
        let free = Load {
            connections: 100.0,
            throughput_per_s: 197.0,
            mean_service_s: 0.507,
            unqueued_s: 0.5,
        };
        assert_eq!(inferred(&free, QUEUE), None);
        let nearly = Load {
            connections: 100.0,
            throughput_per_s: 110.0,
            mean_service_s: 0.9,
            unqueued_s: 0.5,
        };
        assert_eq!(inferred(&nearly, QUEUE), None);
        // Four workers of 20 ms and six connections.
        let six = Load {
            connections: 6.0,
            throughput_per_s: 196.0,
            mean_service_s: 0.0306,
            unqueued_s: 0.0204,
        };
        assert_eq!(inferred(&six, QUEUE), None);
        assert_eq!(inferred(&six, SHORT_QUEUE).map(f64::round), Some(4.0));
    }

    #[test]
    fn a_sweep_shows_it() {
        let point = |connections: f64| {
            let served = connections.min(4.0);
            let throughput_per_s = served / 0.02;
            Load {
                connections,
                throughput_per_s,
                mean_service_s: connections / throughput_per_s,
                unqueued_s: 0.02,
            }
        };
        let sweep: Vec<Load> = [1.0, 2.0, 4.0, 8.0, 16.0].into_iter().map(point).collect();
        assert!((inferred_from_sweep(&sweep).unwrap() - 4.0).abs() < 1e-9);
        assert_eq!(inferred_from_sweep(&sweep[..3]), None, "it still rises");
    }
}
