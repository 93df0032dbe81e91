//! Proves that waiting requests do not hold threads that others need.
use pippin_model::units::{Spread, format_ns};
use std::time::{Duration, Instant};

use super::Subject;
use super::delay::LOOKS;
use super::http::Client;

/// How many waits all answers may take. A slow framework needs up to 2 ms of processor time for each of
/// a thousand; a server that holds one of its tens of threads or processes for each needs more.
const WAITS_ALLOWED: u64 = 20;

/// Sizes of two pools that agree differ by less than this fraction.
const AGREEMENT: f64 = 0.1;

/// Many requests at once are answered within a few waits, and not by a pool smaller than `pool`.
/// Returns a remark with the size of a pool that is allowed.
///
/// A pool of threads shows in waves of answers: as many as it has threads after one wait, as many
/// again after two. A quarter of the connections and all of them must show the same size.
///
/// # Errors
/// How many the server answers at a time.
pub fn simultaneous(
    subject: &mut Subject<'_>,
    connections: u32,
    wait: Spread,
    pool: u32,
) -> Result<Option<String>, String> {
    let mut outcome = Ok(None);
    for look in 0..LOOKS {
        let many = at_once(subject, connections, wait)?;
        let few = at_once(subject, (connections / 4).max(1), wait)?;
        let seen = judge(&few, &many, wait, pool);
        if matches!(seen, Ok(Some(_))) || is_one_wave(&many, wait) {
            return seen;
        }
        // A busy machine makes answers late and blurs waves, so one good try is enough.
        if look == 0 || outcome.is_err() {
            outcome = seen;
        }
    }
    outcome
}

/// Whether all answers came after one wait, so that there is nothing else to be seen.
fn is_one_wave(answered_ns: &[u64], wait: Spread) -> bool {
    answered_ns.last().is_none_or(|last| *last < wait.mean_ns * 3 / 2)
}

fn judge(few: &[u64], many: &[u64], wait: Spread, pool: u32) -> Result<Option<String>, String> {
    let (connections, took_ns) = (many.len(), many.last().copied().unwrap_or(0));
    if let Some(size) = pool_size(many, wait) {
        // A pool that is larger than the few answers them in one wave.
        let agrees = pool_size(few, wait)
            .is_none_or(|other| (f64::from(other) / f64::from(size) - 1.0).abs() <= AGREEMENT);
        if agrees {
            let seen = format!(
                "of {connections} at once it answers about {size} at a time: each that waits holds a thread or process of a pool"
            );
            return if size < pool || pool == 0 { Err(seen) } else { Ok(Some(seen)) };
        }
    }
    if took_ns <= wait.max_ns() * WAITS_ALLOWED {
        return Ok(None);
    }
    let waits = took_ns as f64 / wait.mean_ns as f64;
    Err(format!(
        "{connections} at once were answered within {} ({waits:.0} waits): it serves about {:.0} at a time, so that waiting blocks others",
        format_ns(took_ns),
        connections as f64 / waits
    ))
}

/// How many are answered at a time, if answers come in waves; `answered_ns` is when each came, in order.
fn pool_size(answered_ns: &[u64], wait: Spread) -> Option<u32> {
    let within = |from: f64, to: f64| {
        let (from, to) = (wait.mean_ns as f64 * from, wait.mean_ns as f64 * to);
        answered_ns.iter().filter(|at| (from..to).contains(&(**at as f64))).count()
    };
    let (first, rest) = (within(0.0, 1.5), within(1.5, f64::MAX));
    let between = within(1.3, 1.7);
    if first == 0 || rest == 0 || between * 20 > first {
        return None;
    }
    let second = within(1.5, 2.5);
    let is_full = (second as f64 / first as f64 - 1.0).abs() <= AGREEMENT;
    (is_full || (second == rest && second < first)).then_some(first as u32)
}

/// When the answers to so many requests came, in order, in nanoseconds since the first was sent. All
/// connections are open before that.
fn at_once(subject: &Subject<'_>, connections: u32, wait: Spread) -> Result<Vec<u64>, String> {
    let sample = subject.first()?;
    let request = subject.of_sample(&subject.workload.request.method, sample);
    let mut clients = Vec::new();
    for number in 1..=connections {
        clients.push(
            Client::connect(subject.way, subject.limit).map_err(|error| {
                format!("connection {number} of {connections} at once: {error}")
            })?,
        );
    }
    let begin = Instant::now();
    clients.iter_mut().try_for_each(|client| client.send(&request))?;
    let mut answered_ns = Vec::new();
    while !clients.is_empty() {
        let left = subject.limit.saturating_sub(begin.elapsed());
        let ready = readable(&clients, left);
        let now_ns = begin.elapsed().as_nanos() as u64;
        if ready.is_empty() && left.is_zero() {
            let seconds = begin.elapsed().as_secs_f64();
            let answered = answered_ns.len();
            let at_a_time = answered as f64 / seconds * wait.mean_ns as f64 / 1e9;
            return Err(format!(
                "of {connections} at once {answered} were answered within {seconds:.1} s (about {at_a_time:.0} at a time): no answer in time"
            ));
        }
        for place in ready.into_iter().rev() {
            let mut client = clients.swap_remove(place);
            let answer = client
                .answer(&request)
                .map_err(|error| format!("of {connections} at once: {error}"))?;
            if let Some(difference) = subject.differs(sample, &answer) {
                return Err(format!("of {connections} at once: {difference}"));
            }
            answered_ns.push(now_ns);
        }
    }
    Ok(answered_ns)
}

/// The places of the clients that have something to read, ascending; waits for one.
fn readable(clients: &[Client], limit: Duration) -> Vec<usize> {
    let entry = |client: &Client| libc::pollfd {
        fd: client.descriptor(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries: Vec<libc::pollfd> = clients.iter().map(entry).collect();
    let limit_ms = limit.as_millis().min(1_000) as i32;
    // SAFETY: `entries` outlives the call, and its length is given.
    unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, limit_ms) };
    (0..entries.len()).filter(|place| entries[*place].revents != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait() -> Spread {
        Spread::parse("100ms +-5%").unwrap()
    }

    /// When a pool of this size answers so many, with the jitter of the wait.
    fn by_pool(size: u64, count: u64) -> Vec<u64> {
        let mut all: Vec<u64> = (0..count)
            .map(|nth| (nth / size + 1) * 100_000_000 + nth * 7_919 % 9_000_000 - 4_500_000)
            .collect();
        all.sort_unstable();
        all
    }

    /// When a server answers that needs so many nanoseconds of a processor for each.
    fn by_processor(each_ns: u64, count: u64) -> Vec<u64> {
        (0..count).map(|nth| 95_000_000 + (nth * 10_000).max(nth * each_ns)).collect()
    }

    #[test]
    fn a_pool_is_told_by_its_waves() {
        for size in [16, 64, 200, 600] {
            assert_eq!(pool_size(&by_pool(size, 1_000), wait()), Some(size as u32), "{size}");
        }
        for each_ns in [10_000, 200_000, 500_000, 2_000_000] {
            assert_eq!(pool_size(&by_processor(each_ns, 1_000), wait()), None, "{each_ns}");
        }
    }

    #[test]
    fn a_pool_is_allowed_from_the_size_that_the_workload_names() {
        let judged = |size, pool| judge(&by_pool(size, 250), &by_pool(size, 1_000), wait(), pool);
        let told = judged(64, 50).unwrap().unwrap();
        assert!(told.contains("about 64 at a time"), "{told}");
        assert!(judged(200, 50).unwrap().unwrap().contains("about 200 at a time"));
        assert!(judged(16, 50).unwrap_err().contains("about 16 at a time"));
        assert!(judged(200, 0).is_err(), "0 allows none");
        let free = judge(&by_processor(200_000, 250), &by_processor(200_000, 1_000), wait(), 0);
        assert_eq!(free, Ok(None));
        let slow = judge(&by_processor(3_000_000, 250), &by_processor(3_000_000, 1_000), wait(), 0);
        assert!(slow.unwrap_err().contains("31 waits"));
    }
}
