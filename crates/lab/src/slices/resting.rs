//! When a target rests after its slice. A slow server works on for requests that the end of its slice
//! cut off. As long as it does, it disturbs the target whose turn is next, and what it uses is not
//! what it uses without requests.
use std::time::Duration;

/// How often it is looked.
const EVERY: Duration = Duration::from_millis(5);
/// How long is waited at most: a target that is never idle must not hold the others up.
const MOST: Duration = Duration::from_millis(500);
/// A target rests if it used at most this part of a processor between two looks.
const RESTS: f64 = 0.05;

/// Waits until a target rests, at most [`MOST`]. `used_ns` is the CPU time that it has used so far,
/// in nanoseconds; `None` ends the wait, because nothing is known. Returns for how long it waited.
pub fn wait(mut used_ns: impl FnMut() -> Option<u64>, pause: impl Fn(Duration)) -> Duration {
    let mut waited = Duration::ZERO;
    let Some(mut before) = used_ns() else { return waited };
    while waited < MOST {
        pause(EVERY);
        waited += EVERY;
        let Some(now) = used_ns() else { break };
        if now.saturating_sub(before) as f64 <= RESTS * EVERY.as_nanos() as f64 {
            break;
        }
        before = now;
    }
    waited
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const MS: u64 = 1_000_000;

    /// For how many milliseconds a target is waited for that keeps a processor busy for so long, and
    /// then uses this part of one.
    fn waited_ms(works_ms: u64, rest: f64) -> u64 {
        let now = Cell::new(0);
        let used_ns = || {
            let (work, idle): (u64, u64) =
                (now.get().min(works_ms * MS), now.get().saturating_sub(works_ms * MS));
            Some(work + (idle as f64 * rest) as u64)
        };
        let waited = wait(used_ns, |pause| now.set(now.get() + pause.as_nanos() as u64));
        waited.as_millis() as u64
    }

    #[test]
    fn it_waits_until_what_was_cut_off_is_worked_off() {
        assert_eq!(waited_ms(0, 0.0), 5, "one look shows that it rests");
        assert_eq!(waited_ms(42, 0.0), 50);
        assert_eq!(waited_ms(120, 0.01), 125);
        assert_eq!(waited_ms(10_000, 0.0), 500, "no longer than that");
        assert_eq!(waited_ms(0, 0.2), 500, "it is never idle");
        assert_eq!(wait(|| None, |_| panic!("nothing is known")), Duration::ZERO);
    }
}
