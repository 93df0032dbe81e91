//! Whether the machine had time for a test, from its start to its end.
//!
//! Two things tell that it had not: naps that ended late, and processor time that neither this test
//! process nor what it started used. The second also tells of programs that run where the naps do not.
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The watch sleeps so long; waking later than that by more than `LATE` is the machine's doing. A watch that
/// wakes a thousand times per second is itself one of the other programs that Pippin finds on the machine.
const NAP: Duration = Duration::from_millis(4);
const LATE: Duration = Duration::from_millis(2);
/// More late awakenings than this fraction, and times can't be trusted. One pause of the machine in
/// a test of some hundred milliseconds is enough to break a bound, and to be more than this.
const LATE_NAPS: f64 = 0.002;
/// More processor time of others than this share of all processors. Pippin itself doubts a result from
/// 2 % on.
const OTHERS: f64 = 0.01;
/// The kernel counts in hundredths of a second (proc(5), `USER_HZ`), on each processor by itself.
const TICK: Duration = Duration::from_millis(10);
/// Fewer ticks than this of others may be rounding.
const FEWEST_TICKS: u64 = 5;

/// What was counted up to an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    at: Instant,
    naps: Naps,
    /// Processor time of all programs and of the hypervisor's other guests, in ticks.
    all_ticks: u64,
    /// That of this process and of what it started and waited for.
    own_ticks: u64,
}

/// Naps since the start of the test process: all, and late ones.
#[derive(Debug, Clone, Copy, Default)]
struct Naps {
    all: u32,
    late: u32,
}

impl Reading {
    /// Everything up to now.
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), naps: naps(), all_ticks: all_ticks(), own_ticks: own_ticks() }
    }

    /// What the machine did since this instant.
    pub(crate) fn since(self) -> Machine {
        let now = Self::now();
        let (all, late) = (now.naps.all - self.naps.all, now.naps.late - self.naps.late);
        let own = now.own_ticks.saturating_sub(self.own_ticks);
        let others = now.all_ticks.saturating_sub(self.all_ticks).saturating_sub(own);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let whole = now.at.duration_since(self.at).as_secs_f64() * processors as f64;
        Machine {
            late_naps: f64::from(late) / f64::from(all.max(1)),
            others: if others < FEWEST_TICKS {
                0.0
            } else {
                others as f64 * TICK.as_secs_f64() / whole.max(f64::MIN_POSITIVE)
            },
        }
    }
}

/// What the machine did during a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Machine {
    /// The share of naps that ended late.
    late_naps: f64,
    /// The share of all processors that others used.
    others: f64,
}

impl Machine {
    /// Whether times of that time can't be trusted.
    pub(crate) fn was_busy(self) -> bool {
        self.late_naps > LATE_NAPS || self.others > OTHERS
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (naps, others) = (self.late_naps * 100.0, self.others * 100.0);
        write!(f, "{naps:.1} % of naps ended late, others used {others:.1} % of the processors")
    }
}

fn naps() -> Naps {
    static NAPS: OnceLock<&'static Mutex<Naps>> = OnceLock::new();
    let naps = NAPS.get_or_init(|| {
        let naps: &'static Mutex<Naps> = Box::leak(Box::default());
        std::thread::spawn(move || {
            loop {
                let begin = Instant::now();
                std::thread::sleep(NAP);
                let is_late = begin.elapsed() > NAP + LATE;
                let mut naps = naps.lock().unwrap_or_else(PoisonError::into_inner);
                naps.all += 1;
                naps.late += u32::from(is_late);
            }
        });
        naps
    });
    *naps.lock().unwrap_or_else(PoisonError::into_inner)
}

fn all_ticks() -> u64 {
    std::fs::read_to_string("/proc/stat").map_or(0, |text| busy_ticks(&text))
}

/// All of the first line of `/proc/stat` but `idle` and `iowait`, and without the guests' time, which
/// `user` has already (proc(5)).
fn busy_ticks(stat: &str) -> u64 {
    let first = stat.lines().next().unwrap_or_default();
    let fields = first.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0));
    let ticks: Vec<u64> = fields.take(8).collect();
    ticks.iter().enumerate().filter(|(nth, _)| !matches!(nth, 3 | 4)).map(|it| it.1).sum()
}

/// Of this process, and of its children that ended and were waited for (times(2)).
fn own_ticks() -> u64 {
    let mut times = libc::tms { tms_utime: 0, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 };
    // SAFETY: times(2) writes into the given struct only.
    unsafe { libc::times(&raw mut times) };
    [times.tms_utime, times.tms_stime, times.tms_cutime, times.tms_cstime]
        .into_iter()
        .map(|ticks| u64::try_from(ticks).unwrap_or(0))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read() {
        let stat = "cpu  100 1 20 9000 300 0 4 5 7 8\ncpu0 1 2 3\n";
        assert_eq!(busy_ticks(stat), 100 + 1 + 20 + 4 + 5);
        assert_eq!(busy_ticks(""), 0);
    }

    /// Its own work does not make a machine busy, as far as the processors are concerned.
    #[test]
    fn what_the_test_itself_works_is_no_work_of_others() {
        let (all, own) = (all_ticks(), own_ticks());
        let mut turns = 0_u64;
        while own_ticks() < own + 50 {
            turns = std::hint::black_box(turns + 1);
        }
        assert!(all_ticks() >= all + 40, "the kernel counts in other units than expected");
    }

    #[test]
    fn late_naps_and_other_programs_each_make_it_busy() {
        let machine = |late_naps, others| Machine { late_naps, others };
        assert!(!machine(0.001, 0.009).was_busy());
        assert!(machine(0.003, 0.0).was_busy());
        assert!(machine(0.001, 0.021).was_busy());
        assert_eq!(
            machine(0.001, 0.021).to_string(),
            "0.1 % of naps ended late, others used 2.1 % of the processors"
        );
    }
}
