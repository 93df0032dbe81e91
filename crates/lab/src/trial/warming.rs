//! Decides when a target is warm, from what the generator and the kernel see of it.
use pippin_model::host::usage::{Role, UsageSample};
use pippin_model::result::{CompilerWindow, WarmUpWindow};
use pippin_stats::series::warm::waits_for;
use std::sync::{Mutex, PoisonError};

/// Windows between two sentences about what a warm-up waits for: a second.
const SAY_EVERY: usize = 5;
/// Windows before the first sentence: most native servers are warm before it.
const SAY_AFTER: usize = 10;

/// The windows of a warm-up so far.
#[derive(Debug, Default)]
pub struct Warming {
    seen: Mutex<WarmUpHistory>,
}

/// What is known of a warm-up after a window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Warmth {
    /// Whether the target is warm.
    pub is_warm: bool,
    /// What it waits for, once a second after the first two: `the JVM compiles, 24 % of a
    /// processor`.
    pub say: Option<String>,
}

#[derive(Debug, Default)]
struct WarmUpHistory {
    windows: Vec<WarmUpWindow>,
    /// The newest sample that was used.
    sample: Option<UsageSample>,
}

impl Warming {
    /// Whether the target is warm, given the answers per second of each window so far and the newest
    /// sample of its use of the machine. Call it once for each window. A window without a newer
    /// sample is like the one before.
    pub fn look(&self, per_window: &[f64], newest: Option<UsageSample>) -> Warmth {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(answers_per_s) = per_window.last().copied() else { return Warmth::default() };
        let before = seen.windows.last().copied().unwrap_or_default();
        let used = used_between(seen.sample.as_ref(), newest.as_ref(), before);
        seen.windows.push(WarmUpWindow { answers_per_s, ..used });
        seen.sample = newest.or(seen.sample.take());
        let Some(waits) = waits_for(&seen.windows) else {
            return Warmth { is_warm: true, say: None };
        };
        let number = seen.windows.len();
        let is_due = number >= SAY_AFTER && number.is_multiple_of(SAY_EVERY);
        let runtime = || {
            let target = seen.sample.as_ref()?.roles.get(&Role::Target)?;
            Some(target.compiler?.compiler.runtime())
        };
        let say = is_due.then(|| waits.in_words(runtime().unwrap_or("the runtime")));
        Warmth { is_warm: false, say }
    }

    /// All windows, oldest first.
    pub fn into_windows(self) -> Vec<WarmUpWindow> {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner).windows
    }
}

/// What the target used from one sample to the next. `before` is repeated if the second is not
/// newer.
fn used_between(
    first: Option<&UsageSample>,
    second: Option<&UsageSample>,
    before: WarmUpWindow,
) -> WarmUpWindow {
    let (Some(first), Some(second)) = (first, second) else { return before };
    let length_ns = second.at_ns.saturating_sub(first.at_ns) as f64;
    let target = |sample: &UsageSample| sample.roles.get(&Role::Target).cloned();
    let (Some(then), Some(now)) = (target(first), target(second)) else { return before };
    if length_ns == 0.0 {
        return before;
    }
    let cores = |from: u64, to: u64| to.saturating_sub(from) as f64 / length_ns;
    WarmUpWindow {
        cores: Some(cores(then.cpu_ns, now.cpu_ns)),
        compiler: now.compiler.map(|compiler| CompilerWindow {
            cores: cores(then.compiler.map_or(0, |before| before.cpu_ns), compiler.cpu_ns),
            so_far_ns: compiler.cpu_ns,
        }),
        ..before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::host::usage::{Compiler, CompilerSample, RoleSample};
    use std::collections::BTreeMap;

    const WINDOW_NS: u64 = 200_000_000;

    /// A target that keeps one processor busy, of which its compiler uses a part.
    fn sample(window: u64, compiling_ns: Option<u64>) -> UsageSample {
        let compiler = compiling_ns.map(|cpu_ns| CompilerSample {
            compiler: Compiler::Jvm,
            cpu_ns,
            age_ns: window * WINDOW_NS,
        });
        let target = RoleSample { cpu_ns: window * WINDOW_NS, compiler, ..RoleSample::default() };
        UsageSample {
            at_ns: window * WINDOW_NS,
            roles: BTreeMap::from([(Role::Target, target)]),
            ..UsageSample::default()
        }
    }

    /// The windows until a target is warm whose throughput is flat from the beginning, and whose
    /// compiler uses a quarter of a processor in the first `compiling` windows.
    fn warm_after(compiling: Option<u64>) -> Option<u64> {
        let warming = Warming::default();
        let mut rates = Vec::new();
        (1..=300).find(|&window| {
            rates.push(1_000.0);
            let so_far = compiling.map(|end| window.min(end) * WINDOW_NS / 4);
            warming.look(&rates, Some(sample(window, so_far))).is_warm
        })
    }

    #[test]
    fn a_compiler_is_waited_for_and_a_native_server_is_not() {
        // Its processor time per answer is known from the second window on.
        assert_eq!(warm_after(None), Some(6));
        let warm = warm_after(Some(40)).unwrap();
        assert!((40 + 25..40 + 32).contains(&warm), "five seconds after its end: {warm}");
        assert_eq!(warm_after(Some(300)), None);
    }

    #[test]
    fn once_a_second_it_is_said_what_is_waited_for() {
        let warming = Warming::default();
        let said: Vec<Option<String>> = (1..=20)
            .map(|n| {
                let sample = sample(n, Some(n * WINDOW_NS / 4));
                warming.look(&vec![1_000.0; n as usize], Some(sample)).say
            })
            .collect();
        let words = Some("the JVM compiles, 25 % of a processor");
        let wanted = |n: usize| words.filter(|_| [10, 15, 20].contains(&n));
        assert!((1..=20).all(|n| said[n - 1].as_deref() == wanted(n)), "{said:?}");
    }

    #[test]
    fn without_samples_throughput_decides() {
        let warming = Warming::default();
        let warm = (1..).find(|&n| warming.look(&vec![1_000.0; n], None).is_warm);
        assert_eq!(warm, Some(5));
    }
}
