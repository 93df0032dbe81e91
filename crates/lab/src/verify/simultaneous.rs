//! Proves that waiting requests do not hold threads that others need.
//!
//! A pool of threads that each hold one waiting request answers in waves, each as large as the
//! pool. However busy the machine is, no thread answers twice before two of the shortest waits are
//! over. So what is answered before that instant is never more than the pool has threads, and all
//! of it comes within one wait as soon as the machine has a moment to spare. A server whose
//! processor is what limits it answers more and more instead, and is done with all of them sooner
//! than such a pool.
use pippin_model::text::units::{Spread, format_ns};
use std::time::{Duration, Instant};

use super::Subject;
use super::delay::{self, LOOKS};
use super::http::Client;

/// How many waits all answers may take. A slow framework needs up to 2 ms of processor time for
/// each of a thousand; a server that holds one of its tens of threads or processes for each needs
/// more.
const WAITS_ALLOWED: u64 = 20;

/// How far the size that is told may be from that of the pool.
const TOLERANCE: f64 = 0.1;
/// The part of a wave that must have come while there is time for it to be late.
const IN_TIME: f64 = 0.95;

/// Asks this many requests at once. Returns when the answers came, in order, in nanoseconds since
/// the first request was sent.
type Asking<'a> = dyn FnMut(u32) -> Result<Vec<u64>, String> + 'a;

/// Many requests at once are answered within a few waits, and not by a pool smaller than `pool`.
/// Returns a remark with the size of a pool that is allowed.
///
/// # Errors
/// How many the server answers at a time.
pub fn simultaneous(
    subject: &mut Subject<'_>,
    connections: u32,
    wait: Spread,
    pool: u32,
) -> Result<Option<String>, String> {
    judge(&mut |count| at_once(subject, count, wait), connections, wait, pool)
}

/// A busy machine makes answers late, so one good look is enough.
fn judge(
    ask: &mut Asking<'_>,
    connections: u32,
    wait: Spread,
    pool: u32,
) -> Result<Option<String>, String> {
    let mut took_ns = u64::MAX;
    for look in 0..LOOKS {
        let answered_ns = ask(connections)?;
        let last_ns = answered_ns.last().copied().unwrap_or(0);
        took_ns = took_ns.min(last_ns);
        if last_ns < two_waits_ns(wait) {
            return Ok(None);
        }
        if let Some(size) = pool_size(ask, &answered_ns, wait)? {
            let seen = format!(
                "of {connections} at once it answers about {size} at a time: each that waits holds a thread or process of a pool"
            );
            return if size < pool || pool == 0 { Err(seen) } else { Ok(Some(seen)) };
        }
        if look > 0 && took_ns <= wait.max_ns() * WAITS_ALLOWED {
            return Ok(None);
        }
    }
    let waits = took_ns as f64 / wait.mean_ns as f64;
    Err(format!(
        "{connections} at once were answered within {} ({waits:.0} waits): it serves about {:.0} at a time, so that waiting blocks others",
        format_ns(took_ns),
        f64::from(connections) / waits
    ))
}

/// Before this instant no thread has answered its second request.
fn two_waits_ns(wait: Spread) -> u64 {
    2 * delay::least_ns(wait)
}

/// How many are answered before an instant.
fn before(answered_ns: &[u64], instant_ns: u64) -> usize {
    answered_ns.partition_point(|at| *at < instant_ns)
}

/// The size of the pool that gave these answers, if it was one. It is asked again for a few more
/// than that: it answers as many of them as before, and then pauses.
fn pool_size(
    ask: &mut Asking<'_>,
    answered_ns: &[u64],
    wait: Spread,
) -> Result<Option<u32>, String> {
    let connections = answered_ns.len();
    let count = (most_within_a_wait(answered_ns, wait) * 5 / 4 + 2).min(connections);
    let mut waves = Vec::new();
    for _ in 0..LOOKS {
        let again_ns = ask(count as u32)?;
        let wave = before(&again_ns, two_waits_ns(wait));
        if wave == count {
            return Ok(None);
        }
        let early = before(&again_ns, wait.mean_ns * 3 / 2);
        // Where nothing came in time, this look shows nothing.
        if wave > 0 && early as f64 >= wave as f64 * IN_TIME {
            waves.push(wave);
        }
    }
    let Some(size) = waves.iter().copied().max() else { return Ok(None) };
    let alike = waves.iter().filter(|wave| **wave as f64 >= size as f64 * (1.0 - TOLERANCE));
    let fewest_waits = (connections as f64 / (size as f64 * (1.0 + TOLERANCE))).ceil() as u64;
    let took_ns = answered_ns.last().copied().unwrap_or(0);
    let is_pool = alike.count() > 1 && took_ns >= fewest_waits * delay::least_ns(wait);
    Ok(is_pool.then_some(size as u32))
}

/// The most answers in a stretch that is shorter than a wait.
fn most_within_a_wait(answered_ns: &[u64], wait: Spread) -> usize {
    let stretch_ns = delay::least_ns(wait) * 3 / 4;
    // Of answers at the same instant, the earlier ones count the later ones too.
    let in_stretch = |(nth, from)| before(answered_ns, from + stretch_ns).saturating_sub(nth);
    answered_ns.iter().copied().enumerate().map(in_stretch).max().unwrap_or(0)
}

/// When the answers to requests on this many connections came, in order, in nanoseconds since the
/// first was sent. All connections are open before that.
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
    use pippin_model::workload::draw::Draw;

    const MS: u64 = 1_000_000;

    fn wait() -> Spread {
        Spread::parse("100ms +-5%").unwrap()
    }

    /// A machine of this test: what it adds to an instant, in nanoseconds.
    type Lateness = fn(&mut Draw) -> u64;

    const IDLE: Lateness = |_| 0;
    /// Threads wait up to 40 ms for a processor, and now and then 300 ms.
    const BUSY: Lateness = |draw| {
        let most_ms = if draw.below(100) == 0 { 300 } else { 40 };
        draw.below(most_ms * MS)
    };

    /// A server with a pool of this size: when each thread is free again, with the jitter of the
    /// wait.
    fn pool_of(size: usize, late: Lateness) -> impl FnMut(u32) -> Result<Vec<u64>, String> {
        let mut draw = Draw::new(size as u64);
        move |count| {
            let mut free = vec![0; size.min(count as usize)];
            let answer = |nth: u32| {
                let thread = nth as usize % free.len();
                free[thread] += 95 * MS + draw.below(10 * MS) + late(&mut draw);
                free[thread]
            };
            let mut all: Vec<u64> = (0..count).map(answer).collect();
            all.sort_unstable();
            Ok(all)
        }
    }

    /// A server in which all wait at once. Each takes this many nanoseconds of a processor.
    fn by_processor(each_ns: u64, late: Lateness) -> impl FnMut(u32) -> Result<Vec<u64>, String> {
        let mut draw = Draw::new(each_ns);
        move |count| {
            let mut now = 0;
            // A processor that stands still holds up all that come later.
            let mut answer = |nth: u32| {
                now += each_ns + if nth.is_multiple_of(100) { late(&mut draw) } else { 0 };
                95 * MS + draw.below(10 * MS) + now
            };
            let mut all: Vec<u64> = (0..count).map(&mut answer).collect();
            all.sort_unstable();
            Ok(all)
        }
    }

    fn size_in(remark: &str) -> f64 {
        let rest = remark.split_once("it answers about ").unwrap().1;
        rest.split(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn a_pool_is_told_by_its_size_on_a_busy_machine_too() {
        for (late, name) in [(IDLE, "idle"), (BUSY, "busy")] {
            for size in [50, 64, 200, 400, 600] {
                let told = judge(&mut pool_of(size, late), 1_000, wait(), 40).unwrap();
                let told = size_in(&told.unwrap_or_else(|| panic!("{name}: {size} is not told")));
                assert!(
                    (told / size as f64 - 1.0).abs() <= TOLERANCE,
                    "{name}: {told}, not {size}"
                );
            }
        }
    }

    #[test]
    fn a_server_that_only_needs_its_processor_is_no_pool() {
        let never = |each_ns, late| {
            let seen = judge(&mut by_processor(each_ns, late), 1_000, wait(), 0);
            assert_eq!(seen, Ok(None), "{each_ns}");
        };
        for each_ns in [10_000, 200_000, 500_000, 1_000_000] {
            never(each_ns, IDLE);
            never(each_ns, BUSY);
        }
        // Nearly as many waits as are allowed.
        never(1_900_000, IDLE);
    }

    #[test]
    fn a_machine_on_which_no_answer_comes_in_time_shows_no_pool() {
        let mut server = by_processor(10_000, IDLE);
        let mut late = |count| {
            server(count).map(|all| all.into_iter().map(|at| at + 300 * MS).collect::<Vec<u64>>())
        };
        assert_eq!(judge(&mut late, 1_000, wait(), 50), Ok(None));
    }

    #[test]
    fn a_pool_is_allowed_from_the_size_that_the_workload_names() {
        let judged = |size, pool| judge(&mut pool_of(size, IDLE), 1_000, wait(), pool);
        assert!(judged(64, 50).unwrap().unwrap().contains("about 64 at a time"));
        assert!(judged(16, 50).unwrap_err().contains("about 16 at a time"));
        assert!(judged(200, 0).is_err(), "0 allows none");
        assert_eq!(judged(1_000, 0), Ok(None), "as many as are asked");
        let slow = judge(&mut by_processor(3_000_000, IDLE), 1_000, wait(), 0);
        assert!(slow.unwrap_err().contains("31 waits"));
    }

    /// A wait of 100 ms +-100 % may be none: its stretch is empty, and no answer comes before it.
    #[test]
    fn waits_that_may_be_0_show_no_pool_and_are_judged_by_their_number() {
        let wait = Spread::parse("100ms +-100%").unwrap();
        let answers_at = |at: u64| judge(&mut |count| Ok(vec![at; count as usize]), 9, wait, 0);
        assert_eq!(answers_at(150 * MS), Ok(None));
        assert!(answers_at(9_000 * MS).unwrap_err().contains("90 waits"));
    }

    #[test]
    fn a_server_that_cannot_be_asked_is_told_at_once() {
        let mut asked = 0;
        let mut refuses = |_| {
            asked += 1;
            Err("refused".to_string())
        };
        assert_eq!(judge(&mut refuses, 1_000, wait(), 50), Err("refused".into()));
        assert_eq!(asked, 1);
    }
}
