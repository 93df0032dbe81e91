//! Where the user says what is measured. Advice names what can be changed there: a flag of the
//! command that was typed, or a key of the plan.
use pippin_model::trial::TrialSpec;

/// Where it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionSource {
    /// By the flags of `pippin load`.
    Load,
    /// By those of `pippin compare`, which measures servers that no catalog has.
    Compare,
    /// By the keys of a plan.
    Plan,
}

impl OptionSource {
    /// Where it is said of a trial.
    #[must_use]
    pub fn from_spec(spec: &TrialSpec) -> Self {
        match spec.target.language.as_str() {
            // A load finds its server running and asks for no workers.
            "url" if spec.workers == 0 => Self::Load,
            "url" | "command" | "image" => Self::Compare,
            _ => Self::Plan,
        }
    }

    /// The words with flags, which both commands have, or those with keys.
    #[must_use]
    pub const fn words<'a>(self, flags: &'a str, keys: &'a str) -> &'a str {
        match self {
            Self::Load | Self::Compare => flags,
            Self::Plan => keys,
        }
    }

    /// How the generator gets more processors.
    #[must_use]
    pub const fn more_processors(self) -> &'static str {
        match self {
            Self::Load => "--cpus, --threads",
            Self::Compare => "cpus.generator in a plan of your own, `pippin init`",
            Self::Plan => "cpus.generator in the plan",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::{Context, judge_trial};
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::ErrorKind;
    use pippin_model::trial::TrialRecord;
    use pippin_model::verdict::Caveat;

    fn trials() -> Vec<TrialRecord> {
        vec![
            ExampleTrial::hello().generator_busy(0.99).error(ErrorKind::Timeout, 3_000).build(),
            ExampleTrial::hello().windows(|i| 10_000.0 - 30.0 * f64::from(i)).build(),
            ExampleTrial::open(10_000.0).unsent(6_000).build(),
        ]
    }

    /// All advice that these trials get if they were asked for like this.
    fn advice(target: &str, has_workers: bool) -> String {
        let judged = trials().into_iter().flat_map(|mut trial| {
            trial.spec.target = target.parse().unwrap();
            if !has_workers {
                trial.spec.workers = 0;
            }
            judge_trial(&trial, &Context { may_be_unproved: true, ..Context::default() })
        });
        let lines: Vec<String> =
            judged.map(|Caveat { id, advice, .. }| format!("{id}: {advice}")).collect();
        for id in ["generator_limit", "errors", "no_steady_state", "rate_not_achieved"] {
            assert!(lines.iter().any(|line| line.starts_with(id)), "{id}: {lines:?}");
        }
        lines.join("\n")
    }

    /// Keys as plans write them.
    const KEYS: [&str; 5] =
        ["in the plan", "cpus.generator", "warm_up", "errors_allowed", "kind ="];

    #[test]
    fn a_load_hears_of_flags() {
        let told = advice("url/localhost-8080", false);
        for flag in ["--cpus, --threads", "-d", "--warm-up", "-R", "-c", "--objective"] {
            assert!(told.contains(flag), "{flag}: {told}");
        }
        assert!(!KEYS.iter().any(|key| told.contains(key)), "{told}");
    }

    #[test]
    fn a_plan_hears_of_keys() {
        let told = advice("go/net-http", true);
        assert!(KEYS.iter().all(|key| told.contains(key)), "{told}");
        assert!(!told.contains("--") && !told.contains("(-"), "{told}");
    }

    #[test]
    fn a_comparison_hears_of_the_flags_that_it_has() {
        for target in ["url/localhost-8080", "command/node-old-js", "image/shop"] {
            let told = advice(target, true);
            assert!(told.contains("--warm-up") && told.contains("-R"), "{told}");
            for flag in ["--threads", "--cpus", "--objective", "errors_allowed"] {
                assert!(!told.contains(flag), "{flag}: {told}");
            }
        }
    }
}
