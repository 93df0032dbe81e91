//! What a target burns while others are measured.

/// Processors that a target may keep busy while nobody asks it: half a percent of one.
pub const LIMIT: f64 = 0.005;
/// What all targets that are up may use together while nobody asks them: a twentieth of a
/// processor, which every target lacks when its turn comes.
pub const LIMIT_TOGETHER: f64 = 0.05;

/// What targets may use while nobody asks them, in processors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Each of them.
    pub alone: f64,
    /// All that are up.
    pub together: f64,
}

impl Limits {
    /// Of targets that are ranked: each may meet many others.
    pub const RANKED: Self = Self { alone: LIMIT, together: LIMIT_TOGETHER };
    /// Of the two sides of a comparison, which meet nobody else: each may use half of what all may. A JVM
    /// or a Node.js that rests uses up to 1.5 % of a processor. Measured by itself, it would share no round
    /// with the side that it is compared with, which makes every change less sure by far more.
    pub const COMPARED: Self = Self { alone: LIMIT_TOGETHER / 2.0, together: LIMIT_TOGETHER };
}

/// How long to watch at least: right after its slice, a target may still tidy up.
const FEWEST_NS: u64 = 2_000_000_000;

/// What a target used over a stretch, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// CPU time, that of its compiler included.
    pub cpu_ns: u64,
    /// CPU time of its compiler; 0 if it has none that can be told.
    pub compiler_ns: u64,
}

impl Used {
    /// What it used since then.
    #[must_use]
    pub const fn since(self, then: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(then.cpu_ns),
            compiler_ns: self.compiler_ns.saturating_sub(then.compiler_ns),
        }
    }
}

/// What one target used while others were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Idle {
    used: Used,
    watched_ns: u64,
}

impl Idle {
    /// Adds a slice of another target.
    pub const fn add(&mut self, used: Used, watched_ns: u64) {
        self.used.cpu_ns += used.cpu_ns;
        self.used.compiler_ns += used.compiler_ns;
        self.watched_ns += watched_ns;
    }

    /// Processors that it kept busy; `None` if it was never watched.
    #[must_use]
    pub fn cores(&self) -> Option<f64> {
        (self.watched_ns > 0).then(|| self.used.cpu_ns as f64 / self.watched_ns as f64)
    }

    /// Processors kept busy; `None` also if it was watched for too short a time to judge it.
    #[must_use]
    pub fn judged_cores(&self) -> Option<f64> {
        self.cores().filter(|_| self.watched_ns >= FEWEST_NS)
    }

    /// Whether what it used is its compiler's work for the greater part: then it is not a target
    /// that never rests, but one that is not warm.
    #[must_use]
    pub const fn compiles(&self) -> bool {
        self.used.compiler_ns > 0 && 2 * self.used.compiler_ns >= self.used.cpu_ns
    }

    /// What it takes from every other target alike, in processors; 0 unless it is known to be idle,
    /// because a target that is not idle disturbs.
    #[must_use]
    pub fn shared_cores(&self, limits: Limits) -> f64 {
        self.judged_cores().filter(|cores| *cores <= limits.alone).unwrap_or(0.0)
    }
}

/// What becomes of a target that is not idle while others are measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restless {
    /// Its compiler makes the noise, and there is time: it is warmed on, and then judged. In words.
    WarmsOn(String),
    /// It is measured by itself. Why, in words.
    Leaves(String),
}

/// Which of these targets are not idle while others are measured, and what becomes of each.
/// `may_warm_on` says whether the limit of its warm-up leaves a target some time.
#[must_use]
pub fn judge<T>(
    watched: Vec<(T, Idle)>,
    limits: Limits,
    mut may_warm_on: impl FnMut(&T) -> bool,
) -> Vec<(T, Restless)> {
    let used = |(target, idle): (T, Idle)| Some(((target, idle.compiles()), idle.judged_cores()?));
    let restless = restless(watched.into_iter().filter_map(used).collect(), limits);
    let fate = |((target, compiles), cores, limit): ((T, bool), f64, String)| {
        let percent = cores * 100.0;
        let seen = format!("it used {percent:.1} % of a processor while others were measured");
        let fate = if compiles && may_warm_on(&target) {
            Restless::WarmsOn(format!(
                "{seen}, most of it its compiler: it is warmed up for longer"
            ))
        } else {
            let compiler = if compiles { ", most of it its compiler" } else { "" };
            Restless::Leaves(format!("{seen}{compiler} ({limit}), so it is measured by itself"))
        };
        (target, fate)
    };
    restless.into_iter().map(fate).collect()
}

/// Which of these targets are not idle while others are measured, by what each uses in processors:
/// each that uses too much, and those that use most if all together use too much. Each comes with
/// what it uses and the limit.
#[must_use]
fn restless<T>(mut used: Vec<(T, f64)>, limits: Limits) -> Vec<(T, f64, String)> {
    used.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut leaving = Vec::new();
    while let Some((target, cores)) = used.pop() {
        let together = cores + used.iter().map(|(_, cores)| cores).sum::<f64>();
        let limit = match cores {
            _ if cores > limits.alone => format!("limit {:.1} %", limits.alone * 100.0),
            _ if together > limits.together => {
                format!("limit of all together {:.1} %", limits.together * 100.0)
            }
            _ => break,
        };
        leaving.push((target, cores, limit));
    }
    leaving
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_use_most_leave_until_the_others_are_idle_together() {
        let few = vec![("a", LIMIT), ("b", 0.00501), ("c", 0.001)];
        let left = |used| restless(used, Limits::RANKED);
        assert_eq!(left(few), [("b", 0.00501, "limit 0.5 %".into())], "half a percent is idle");
        let many: Vec<(usize, f64)> = (0..14).map(|n| (n, 0.003 + 0.0001 * n as f64)).collect();
        let found = restless(many, Limits::RANKED);
        let [(13, _, limit)] = &found[..] else { panic!("13 of 14 use 4.7 %: {found:?}") };
        assert_eq!(limit, "limit of all together 5.0 %");
        assert_eq!(restless(Vec::<(u8, f64)>::new(), Limits::RANKED), []);
    }

    /// The recorded case: Spring Boot used 1.0 % on one side and 0.6 % on the other.
    #[test]
    fn two_sides_that_rest_as_a_jvm_does_stay_in_their_rounds() {
        let left = |used: [f64; 2]| {
            let used = used.into_iter().enumerate().collect();
            let left = restless(used, Limits::COMPARED);
            left.into_iter().map(|(side, ..)| side).collect::<Vec<_>>()
        };
        assert!(left([0.010, 0.006]).is_empty());
        assert!(left([0.025, 0.025]).is_empty());
        assert_eq!(left([0.010, 0.026]), [1], "one that works all the time is no side that rests");
        assert_eq!(left([0.2, 0.3]), [1, 0]);
    }

    const S: u64 = 1_000_000_000;

    const fn used(cpu_ns: u64) -> Used {
        Used { cpu_ns, compiler_ns: 0 }
    }

    /// A target watched for 10 s in which it used so many milliseconds, so many by its compiler.
    fn watched(cpu_ms: u64, compiler_ms: u64) -> Idle {
        let mut idle = Idle::default();
        let ms = 1_000_000;
        idle.add(Used { cpu_ns: cpu_ms * ms, compiler_ns: compiler_ms * ms }, 10 * S);
        idle
    }

    #[test]
    fn one_whose_compiler_makes_the_noise_is_warmed_on_while_there_is_time() {
        // The recorded case: 9.7 % of a processor.
        let all = || {
            vec![
                (".NET", watched(970, 960)),
                ("late", watched(970, 960)),
                ("timer", watched(970, 0)),
                ("both", watched(970, 400)),
                ("quiet", watched(20, 10)),
            ]
        };
        let mut found = judge(all(), Limits::RANKED, |target| *target != "late");
        found.sort_by_key(|(target, _)| *target);
        let seen = "it used 9.7 % of a processor while others were measured";
        let leaves = |why: &str| {
            Restless::Leaves(format!("{seen}{why} (limit 0.5 %), so it is measured by itself"))
        };
        let warms_on = format!("{seen}, most of it its compiler: it is warmed up for longer");
        let wanted = [
            (".NET", Restless::WarmsOn(warms_on)),
            ("both", leaves("")),
            ("late", leaves(", most of it its compiler")),
            ("timer", leaves("")),
        ];
        assert_eq!(found, wanted);
        let early =
            judge(vec![("a", Idle { watched_ns: S, ..watched(970, 960) })], Limits::RANKED, |_| {
                true
            });
        assert_eq!(early, [], "too early to tell");
    }

    #[test]
    fn a_target_is_judged_after_two_seconds() {
        let mut idle = Idle::default();
        assert_eq!((idle.cores(), idle.judged_cores()), (None, None));
        idle.add(used(500_000_000), S);
        assert_eq!((idle.cores(), idle.judged_cores()), (Some(0.5), None), "too early to tell");
        idle.add(used(0), 99 * S);
        assert_eq!(idle.judged_cores(), Some(LIMIT));
    }

    #[test]
    fn only_what_a_target_that_is_known_to_be_idle_uses_is_shared() {
        let mut idle = Idle::default();
        idle.add(used(1_000_000), S);
        assert_eq!(idle.shared_cores(Limits::RANKED), 0.0, "too early to tell");
        idle.add(used(9_000_000), S);
        assert_eq!(idle.shared_cores(Limits::RANKED), LIMIT);
        idle.add(used(1_000_000), 0);
        assert_eq!(idle.shared_cores(Limits::RANKED), 0.0, "it disturbs");
        assert!(idle.shared_cores(Limits::COMPARED) > LIMIT, "its one neighbour allows it");
    }
}
