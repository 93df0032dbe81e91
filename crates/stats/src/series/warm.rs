//! When a target is warm: it answers at a steady rate, a request costs a steady amount of processor
//! time, and its compiler rests.
//!
//! Throughput alone does not show it. A fresh ASP.NET Core server on one processor answered 55,000
//! requests/s for eleven seconds, then 100,000: for those eleven seconds it looks steady. In the
//! seconds before the change, its compiler's thread used a third of a processor.
use pippin_model::result::WarmUpWindow;

use crate::series::steady::has_settled;

/// Windows that a second has; each lasts 200 ms.
const SECOND: usize = 5;
/// The processors' worth that a compiler may use in each second while it rests.
const RESTING_CORES: f64 = 0.03;
/// For how many seconds a compiler must have rested. In recorded starts of .NET it rested for three
/// seconds and then used 35 %.
const REST_S: usize = 5;
/// For how many seconds a compiler must not have worked that has not begun yet: .NET counts calls
/// for some seconds before it begins, and four seconds without any work were seen.
const FIRST_REST_S: usize = 10;
/// Processor time below which a compiler counts as not begun, in nanoseconds.
const NOT_BEGUN_NS: u64 = 20_000_000;

/// What a target is not warm for yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WaitsFor {
    /// It has not answered yet.
    Answer,
    /// Its throughput still changes, or there are too few windows to tell.
    Throughput,
    /// The processor time of an answer still changes.
    Cost,
    /// Its compiler works: processors that it kept busy in the last second.
    Compiler(f64),
    /// Its compiler rests, for so many seconds of those that it must.
    Rest(usize, usize),
}

impl WaitsFor {
    /// In words; `runtime` is the one that compiles: `the JVM compiles, 24 % of a processor`.
    #[must_use]
    pub fn in_words(self, runtime: &str) -> String {
        match self {
            Self::Answer => "no answer has come yet".into(),
            Self::Throughput => "throughput still changes".into(),
            Self::Cost => "the processor time of an answer still changes".into(),
            Self::Compiler(cores) => {
                format!("{runtime} compiles, {:.0} % of a processor", 100.0 * cores)
            }
            Self::Rest(rested_s, needed_s) => {
                format!("the compiler of {runtime} rests, {rested_s} of {needed_s} s")
            }
        }
    }
}

/// Whether the target is warm, so that measuring can begin: it [waits for](waits_for) nothing.
#[must_use]
pub fn is_warm(windows: &[WarmUpWindow]) -> bool {
    waits_for(windows).is_none()
}

/// What a target is not warm for yet, from all windows of its warm-up so far, oldest first. It is
/// warm (`None`) when throughput and processor time per answer have settled ([`has_settled`]), and
/// its compiler has rested for five seconds, or for ten if it has hardly worked yet. What cannot be
/// seen of a target does not hold it up. A compiler at work is named first, because it is the cause
/// of the others.
#[must_use]
pub fn waits_for(windows: &[WarmUpWindow]) -> Option<WaitsFor> {
    let rates: Vec<f64> = windows.iter().map(|window| window.answers_per_s).collect();
    let compiler = compiler_works(windows);
    let works = compiler.filter(|it| matches!(it, WaitsFor::Compiler(_)));
    let is_silent = !rates.is_empty() && rates.iter().all(|rate| *rate == 0.0);
    works
        .or_else(|| is_silent.then_some(WaitsFor::Answer))
        .or_else(|| (!has_settled(&rates)).then_some(WaitsFor::Throughput))
        .or_else(|| (!has_settled_cost(windows)).then_some(WaitsFor::Cost))
        .or(compiler)
}

/// Whether the processor time per answer has settled, as far as it is known. Windows without an
/// answer have none.
fn has_settled_cost(windows: &[WarmUpWindow]) -> bool {
    let costs: Vec<f64> = windows.iter().filter_map(WarmUpWindow::cpu_ns_per_answer).collect();
    costs.is_empty() || has_settled(&costs)
}

/// What a compiler does that has not rested for long enough.
fn compiler_works(windows: &[WarmUpWindow]) -> Option<WaitsFor> {
    let newest = windows.last().and_then(|window| window.compiler)?;
    let rest_s = if newest.so_far_ns < NOT_BEGUN_NS { FIRST_REST_S } else { REST_S };
    let used = |second: &[WarmUpWindow]| {
        let cores = second.iter().filter_map(|window| Some(window.compiler?.cores));
        cores.sum::<f64>() / second.len() as f64
    };
    let seconds = windows.rchunks_exact(SECOND).take(rest_s);
    let rested_s = seconds.take_while(|second| used(second) <= RESTING_CORES).count();
    let newest_cores = windows.rchunks(SECOND).next().map_or(0.0, used);
    match rested_s {
        _ if rested_s == rest_s => None,
        0 if newest_cores > RESTING_CORES => Some(WaitsFor::Compiler(newest_cores)),
        _ => Some(WaitsFor::Rest(rested_s, rest_s)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use pippin_model::example::starts::{DOTNET, JDK, StartSecond, longer_plateau, rests_for};
    use pippin_model::result::CompilerWindow;

    /// The second at whose end a target with this start counts as warm; its last second goes on.
    fn warm_after(start: &[StartSecond], has_compiler: bool) -> Option<usize> {
        let mut windows = Vec::new();
        let mut so_far_ns = 0.0;
        let last = *start.last().unwrap();
        for second in 0..120 {
            let StartSecond { thousands, compiling } = start.get(second).copied().unwrap_or(last);
            for _ in 0..SECOND {
                so_far_ns += compiling * 2e8;
                let compiler = CompilerWindow { cores: compiling, so_far_ns: so_far_ns as u64 };
                windows.push(WarmUpWindow {
                    answers_per_s: 1_000.0 * thousands,
                    cores: Some(0.98),
                    compiler: has_compiler.then_some(compiler),
                });
                if is_warm(&windows) {
                    return Some(second + 1);
                }
            }
        }
        None
    }

    #[test]
    fn recorded_starts_are_warm_when_their_compiler_has_ended() {
        assert!(warm_after(&DOTNET, false).unwrap() <= 11, "throughput alone does not see it");
        let dotnet = warm_after(&DOTNET, true).unwrap();
        assert!((17..=22).contains(&dotnet), "{dotnet} s");
        let jvm = warm_after(&JDK, true).unwrap();
        assert!((13..=18).contains(&jvm), "{jvm} s");
    }

    #[test]
    fn a_longer_plateau_and_a_longer_rest_are_waited_for() {
        // Seven seconds each, then the last five of the recording and five of rest.
        for times in 2..=6 {
            let warm = warm_after(&longer_plateau(times), true).unwrap();
            assert!(warm >= 4 + 7 * times + 6, "{times} times: {warm} s");
        }
        for rest in 1..=4 {
            let warm = warm_after(&rests_for(rest), true).unwrap();
            assert!(warm >= 8 + rest + 5, "a rest of {rest} s: {warm} s");
        }
        assert_eq!(warm_after(&seconds(60.0, 0.2), true), None, "a compiler that never ends");
    }

    /// A start that is the same in every second.
    fn seconds(thousands: f64, compiling: f64) -> [StartSecond; 1] {
        [StartSecond { thousands, compiling }]
    }

    #[test]
    fn what_is_waited_for_is_said() {
        let window = |answers_per_s: f64, cores: f64, compiling: f64| WarmUpWindow {
            answers_per_s,
            cores: Some(cores),
            compiler: Some(CompilerWindow { cores: compiling, so_far_ns: 3_000_000_000 }),
        };
        let words = |windows: &[WarmUpWindow]| {
            waits_for(windows).map(|it| it.in_words("the JVM")).unwrap_or_default()
        };
        assert_eq!(words(&[window(100.0, 1.0, 0.24); 3]), "the JVM compiles, 24 % of a processor");
        assert_eq!(words(&[window(100.0, 1.0, 0.0); 3]), "throughput still changes");
        let mut rests = vec![window(100.0, 1.0, 0.24); 10];
        rests.extend([window(100.0, 1.0, 0.0); 10]);
        assert_eq!(words(&rests), "the compiler of the JVM rests, 2 of 5 s");
        rests.extend([window(100.0, 1.0, 0.0); 15]);
        assert_eq!(waits_for(&rests), None);
        let cheaper: Vec<WarmUpWindow> =
            (0..40).map(|at| window(100.0, 0.5 * 0.95f64.powi(at), 0.0)).collect();
        assert_eq!(words(&cheaper), "the processor time of an answer still changes");
        assert_eq!(words(&[]), "throughput still changes");
        assert_eq!(words(&[window(0.0, 0.0, 0.0); 40]), "no answer has come yet");
    }

    #[test]
    fn a_native_server_is_warm_as_soon_as_its_throughput_is_flat() {
        assert_eq!(warm_after(&seconds(60.0, 0.5), false), Some(1));
        assert_eq!(warm_after(&seconds(60.0, 0.0), true), Some(FIRST_REST_S), "not begun yet");
    }

    #[test]
    fn a_request_that_becomes_cheaper_at_the_same_rate_is_not_warm() {
        // An open loop: the rate is the schedule's.
        let windows: Vec<WarmUpWindow> = (0..40)
            .map(|at| WarmUpWindow {
                answers_per_s: 1_000.0,
                cores: Some(0.5 * 0.95f64.powi(at)),
                compiler: None,
            })
            .collect();
        assert!((0..=40).all(|n| !is_warm(&windows[..n])));
        let unseen: Vec<WarmUpWindow> =
            windows.iter().map(|window| WarmUpWindow { cores: None, ..*window }).collect();
        assert!(is_warm(&unseen));
    }

    #[test]
    fn noise_ends_after_five_seconds() {
        let mut noise = Noise::new(5);
        let late = (0..200).filter(|_| {
            let windows: Vec<WarmUpWindow> = (0..40)
                .map(|_| WarmUpWindow {
                    answers_per_s: 1_000.0 * (1.0 + 0.5 * noise.normal()).max(0.1),
                    ..WarmUpWindow::default()
                })
                .collect();
            !(0..=40).any(|n| is_warm(&windows[..n]))
        });
        assert!(late.count() < 5);
    }
}
