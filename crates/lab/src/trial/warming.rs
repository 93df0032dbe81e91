//! Decides when a target is warm, from what the generator and the kernel see of it.
use pippin_model::host::usage::{Role, UsageSample};
use pippin_stats::series::warm::{CompilerWindow, WarmUpWindow, is_warm};
use std::sync::{Mutex, PoisonError};

/// The windows of a warm-up so far.
#[derive(Debug, Default)]
pub struct Warming {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    windows: Vec<WarmUpWindow>,
    /// The newest sample that was used.
    sample: Option<UsageSample>,
}

impl Warming {
    /// Whether the target is warm, given the answers per second of each window so far and the newest
    /// sample of its use of the machine. Call it once for each window. A window without a newer
    /// sample is like the one before.
    pub fn is_warm(&self, per_window: &[f64], newest: Option<UsageSample>) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(answers_per_s) = per_window.last().copied() else { return false };
        let before = seen.windows.last().copied().unwrap_or_default();
        let used = used_between(seen.sample.as_ref(), newest.as_ref(), before);
        seen.windows.push(WarmUpWindow { answers_per_s, ..used });
        seen.sample = newest.or(seen.sample.take());
        is_warm(&seen.windows)
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
            warming.is_warm(&rates, Some(sample(window, so_far)))
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
    fn without_samples_throughput_decides() {
        let warming = Warming::default();
        let warm = (1..).find(|&n| warming.is_warm(&vec![1_000.0; n], None));
        assert_eq!(warm, Some(5));
    }
}
