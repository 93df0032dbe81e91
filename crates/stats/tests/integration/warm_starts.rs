//! The law: no target is called warm whose compiler is still going to work, whatever noise lies on
//! what is seen of it. Held over recorded starts, in virtual time.
use pippin_model::example::starts::{DOTNET, JDK, StartSecond, longer_plateau, rests_for};
use pippin_model::result::{CompilerWindow, WarmUpWindow};
use pippin_stats::series::warm::is_warm;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Windows of 200 ms in a second.
const WINDOWS: usize = 5;
/// What a compiler that has ended may still use in a second, in processors.
const ENDED: f64 = 0.03;
/// The limit of a warm-up in plans, in seconds.
const LIMIT_S: usize = 60;

/// What a target does in each second after its start, and what is seen of it.
#[derive(Debug, Clone)]
struct Played {
    seconds: Vec<StartSecond>,
    windows: Vec<WarmUpWindow>,
}

/// Noise: how far answers, processor time and the compiler's share are off, and in which windows of
/// a second the compiler works.
#[derive(Debug, Clone)]
struct Noise {
    size: f64,
    draws: Vec<[f64; 3]>,
    begins_at: Vec<usize>,
}

fn noise() -> impl Strategy<Value = Noise> {
    let draw = prop::array::uniform3(-1.7_f64..1.7);
    (
        0.02_f64..0.05,
        prop::collection::vec(draw, LIMIT_S * WINDOWS),
        prop::collection::vec(0..WINDOWS, LIMIT_S),
    )
        .prop_map(|(size, draws, begins_at)| Noise { size, draws, begins_at })
}

/// Recorded starts, and starts made from them. A rest of three seconds can be one of 4.2 s, if the
/// compiler works at the begin of the second before and not at that of the second after.
fn start() -> impl Strategy<Value = Vec<StartSecond>> {
    prop_oneof![
        Just(DOTNET.to_vec()),
        Just(JDK.to_vec()),
        (2_usize..=5).prop_map(longer_plateau),
        (1_usize..=3).prop_map(rests_for),
    ]
}

/// The start under this noise until the limit; its last second goes on. What the compiler uses in a
/// second falls into one window and, as far as that is too short for it, into those after it.
fn played(start: &[StartSecond], noise: &Noise, has_compiler: bool) -> Played {
    let last = *start.last().unwrap();
    let seconds: Vec<StartSecond> =
        (0..LIMIT_S).map(|at| start.get(at).copied().unwrap_or(last)).collect();
    let mut so_far_ns = 0.0;
    let mut windows = Vec::new();
    for (at, second) in seconds.iter().enumerate() {
        let mut left = second.compiling * WINDOWS as f64;
        for window in 0..WINDOWS {
            let [answers, cores, share] = noise.draws[at * WINDOWS + window];
            let off = |draw: f64| 1.0 + noise.size * draw;
            let works = window >= noise.begins_at[at].min(2);
            let compiling = if works { left.min(1.0) } else { 0.0 };
            left -= compiling;
            let compiling = compiling * off(share);
            so_far_ns += compiling * 2e8;
            windows.push(WarmUpWindow {
                answers_per_s: 1_000.0 * second.thousands * off(answers),
                cores: Some(0.98 * off(cores)),
                compiler: has_compiler
                    .then_some(CompilerWindow { cores: compiling, so_far_ns: so_far_ns as u64 }),
            });
        }
    }
    Played { seconds, windows }
}

impl Played {
    /// After how many windows the target is called warm.
    fn warm_after(&self) -> Option<usize> {
        (1..=self.windows.len()).find(|&count| is_warm(&self.windows[..count]))
    }

    /// The most that the compiler uses in a second that begins after this window.
    fn still_to_come(&self, window: usize) -> f64 {
        let rest = &self.seconds[window.div_ceil(WINDOWS).min(self.seconds.len())..];
        rest.iter().map(|second| second.compiling).fold(0.0, f64::max)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_target_that_is_called_warm_does_not_compile_any_more(start in start(), noise in noise()) {
        let played = played(&start, &noise, true);
        let warm = played.warm_after();
        prop_assert!(warm.is_some(), "its compiler ends, and 60 s are enough");
        prop_assert!(played.still_to_come(warm.unwrap()) <= ENDED, "{warm:?}");
    }

    #[test]
    fn one_that_never_ends_is_never_called_warm(
        (thousands, compiling) in (1.0_f64..100.0, 0.06_f64..0.9),
        noise in noise(),
    ) {
        let played = played(&[StartSecond { thousands, compiling }], &noise, true);
        prop_assert_eq!(played.warm_after(), None);
    }

    /// What cannot be told apart from other threads holds nobody up.
    #[test]
    fn a_compiler_that_is_not_seen_is_not_waited_for(start in start(), noise in noise()) {
        let unseen = played(&start, &noise, false).warm_after();
        let seen = played(&start, &noise, true).warm_after();
        prop_assert!(unseen.is_some() && unseen <= seen, "{unseen:?}, seen: {seen:?}");
    }
}

/// Its helper is part of its processor time, and nothing else. How soon its throughput is flat is a
/// matter of chance, so it is asked of many at once: always the same ones.
#[test]
fn a_native_server_with_a_busy_helper_is_warm_soon() {
    const STARTS: usize = 300;
    let start = [StartSecond { thousands: 60.0, compiling: 0.35 }];
    let mut runner = TestRunner::deterministic();
    let soon = (0..STARTS)
        .map(|_| noise().new_tree(&mut runner).unwrap().current())
        .filter_map(|noise| played(&start, &noise, false).warm_after())
        .filter(|windows| *windows <= 2 * WINDOWS)
        .count();
    assert!(soon >= STARTS * 95 / 100, "{soon} of {STARTS} within 2 s");
}

/// Why the compiler is asked at all: by the throughput alone, the recorded start of .NET is called
/// warm on its plateau, with most of the compiling still to come.
#[test]
fn throughput_alone_calls_a_plateau_warm() {
    let calm =
        Noise { size: 0.0, draws: vec![[0.0; 3]; LIMIT_S * WINDOWS], begins_at: vec![0; LIMIT_S] };
    let blind = played(&DOTNET, &calm, false);
    let warm = blind.warm_after().unwrap();
    assert!(blind.still_to_come(warm) >= 0.35, "warm after {warm} windows");
}
