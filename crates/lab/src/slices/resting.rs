//! When a target rests after its slice. A slow server works on for requests that the end of its slice
//! cut off. As long as it does, it disturbs the target whose turn is next, and what it uses is not
//! what it uses without requests.
use std::time::Duration;

/// How often it is looked.
const EVERY: Duration = Duration::from_millis(5);
/// How long is waited at most: a target that is never idle must not hold the others up.
const MOST: Duration = Duration::from_millis(500);
/// A target rests if it used at most this part of a processor from one look to the next, for
/// [`LOOKS`] looks in turn.
const RESTS: f64 = 0.05;
/// On a busy machine a target that has work may get no processor for some milliseconds: in a live
/// comparison beside builds, one look of 5 ms was too short.
const LOOKS: u32 = 4;

/// Waits until a target rests, at most [`MOST`]. `used_ns` is the CPU time that it has used so far,
/// in nanoseconds; `None` ends the wait, because nothing is known. Returns for how long it waited.
pub fn wait(mut used_ns: impl FnMut() -> Option<u64>, pause: impl Fn(Duration)) -> Duration {
    let mut waited = Duration::ZERO;
    let Some(mut before) = used_ns() else { return waited };
    let mut restful = 0;
    while waited < MOST && restful < LOOKS {
        pause(EVERY);
        waited += EVERY;
        let Some(now) = used_ns() else { break };
        let rests = now.saturating_sub(before) as f64 <= RESTS * EVERY.as_nanos() as f64;
        restful = if rests { restful + 1 } else { 0 };
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
        assert_eq!(waited_ms(0, 0.0), 20, "four looks show that it rests");
        assert_eq!(waited_ms(42, 0.0), 65);
        assert_eq!(waited_ms(120, 0.01), 140);
        assert_eq!(waited_ms(10_000, 0.0), 500, "no longer than that");
        assert_eq!(waited_ms(0, 0.2), 500, "it is never idle");
        assert_eq!(wait(|| None, |_| panic!("nothing is known")), Duration::ZERO);
    }

    #[test]
    fn one_that_gets_no_processor_for_ten_milliseconds_is_still_waited_for() {
        let now_ms = Cell::new(0_u64);
        let ran = [0..30, 40..70];
        let used_ns = || {
            Some(
                ran.iter().flat_map(Clone::clone).filter(|ms| *ms < now_ms.get()).count() as u64
                    * MS,
            )
        };
        let waited = wait(used_ns, |pause| now_ms.set(now_ms.get() + pause.as_millis() as u64));
        assert_eq!(waited.as_millis(), 90);
    }
}
