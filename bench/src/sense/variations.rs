//! What differs between the targets, and what must be seen of it.
use pippin_model::run::RunRecord;
use pippin_stats::compare::Metric;
use serde::Serialize;

use super::tally::{Observed, observed};

/// The target from which the others differ.
pub const BASE: &str = "go/sense";
/// The copy that burns much, which tells what a step costs.
const BURNT: &str = "go/sense:burnt";
/// Steps that it burns: some tens of microseconds.
const BURNT_STEPS: u32 = 20_000;

/// A copy of the base that differs in a known way.
#[derive(Debug, Clone, Copy)]
pub struct Variation {
    /// The name of the variant.
    pub name: &'static str,
    /// What differs.
    pub about: &'static str,
    /// From what it differs: the base, or another variant.
    pub from: &'static str,
    /// What it does to a request.
    pub does: Does,
    /// How often it must be told apart, and by what.
    pub wanted: &'static [Wanted],
}

/// What a copy does to a request beside answering.
#[derive(Debug, Clone, Copy)]
pub enum Does {
    /// Nothing.
    Nothing,
    /// Burns this part of the base's CPU time of a request.
    Burns(f64),
    /// Waits for so many microseconds, at most so many requests at a time.
    Waits { us: u32, pool: u32 },
}

/// A bound on how often a variation is told apart.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Wanted {
    pub metric: Metric,
    /// Whether this is the least or the most.
    pub at_least: bool,
    pub share: f64,
    /// Whether it holds for the full form of the plan only.
    pub full_only: bool,
}

const fn at_most(metric: Metric, share: f64) -> Wanted {
    Wanted { metric, at_least: false, share, full_only: false }
}

const fn at_least(metric: Metric, share: f64, full_only: bool) -> Wanted {
    Wanted { metric, at_least: true, share, full_only }
}

/// All of them.
pub const VARIATIONS: [Variation; 6] = [
    Variation {
        name: "twin",
        about: "the same",
        from: BASE,
        does: Does::Nothing,
        wanted: &[at_most(Metric::Goodput, 0.05), at_most(Metric::Cpu, 0.05)],
    },
    Variation {
        name: "cpu5",
        about: "5 % more CPU time",
        from: BASE,
        does: Does::Burns(0.05),
        wanted: &[at_least(Metric::Cpu, 0.9, true)],
    },
    Variation {
        name: "cpu10",
        about: "10 % more CPU time",
        from: BASE,
        does: Does::Burns(0.10),
        wanted: &[at_least(Metric::Cpu, 0.9, false)],
    },
    Variation {
        name: "wait02",
        about: "0.2 ms of wait",
        from: BASE,
        does: Does::Waits { us: 200, pool: 100 },
        wanted: &[],
    },
    Variation {
        name: "wait1",
        about: "1 ms of wait",
        from: BASE,
        does: Does::Waits { us: 1_000, pool: 100 },
        wanted: &[],
    },
    Variation {
        name: "pool",
        about: "1 ms of wait, 8 at a time",
        from: "go/sense:wait1",
        does: Does::Waits { us: 1_000, pool: 8 },
        wanted: &[],
    },
];

impl Variation {
    /// Its target.
    pub fn target(&self) -> String {
        format!("{BASE}:{}", self.name)
    }

    /// Its variables, if a step of burning costs this part of the base's CPU time of a request.
    fn variables(&self, step: f64) -> Vec<(&'static str, u32)> {
        match self.does {
            Does::Nothing => Vec::new(),
            Does::Burns(share) => vec![("SENSE_BURN", (share / step).round() as u32)],
            Does::Waits { us, pool } => vec![("SENSE_WAIT_US", us), ("SENSE_POOL", pool)],
        }
    }
}

/// The targets of the plan.
pub fn names() -> Vec<String> {
    std::iter::once(BASE.into()).chain(VARIATIONS.iter().map(Variation::target)).collect()
}

/// The targets that tell what burning costs.
pub fn for_scale() -> Vec<String> {
    vec![BASE.into(), BURNT.into()]
}

/// The variants as they stand in a manifest.
pub fn manifest(step: Option<f64>) -> String {
    let variant = |name: &str, about: &str, variables: &[(&str, u32)]| {
        let variables: Vec<String> =
            variables.iter().map(|(name, value)| format!("{name} = \"{value}\"")).collect();
        let (about, variables) = (toml::Value::from(about), variables.join(", "));
        format!("\n[[variant]]\nname = \"{name}\"\nabout = {about}\nenv = {{ {variables} }}\n")
    };
    let all = step.into_iter().flat_map(|step| {
        VARIATIONS.iter().map(move |of| variant(of.name, of.about, &of.variables(step)))
    });
    let burnt = variant("burnt", "burns much", &[("SENSE_BURN", BURNT_STEPS)]);
    all.chain([burnt]).collect()
}

/// What one step of burning costs, as a part of the base's CPU time of a request.
pub fn cpu_of_a_step(record: &RunRecord) -> Result<f64, String> {
    let found: Option<Observed> = observed(record, Metric::Cpu, BURNT, BASE)?;
    let more = found.map(|observed| observed.ratio - 1.0).filter(|more| *more > 0.0);
    more.map(|more| more / f64::from(BURNT_STEPS)).ok_or_else(|| {
        "the copy that burns CPU time was not measured, or needs none: see its log".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variation_differs_from_a_target_of_the_plan() {
        let names = names();
        assert!(VARIATIONS.iter().all(|of| names.contains(&of.from.to_string())));
        assert_eq!(names.len(), 1 + VARIATIONS.len());
    }

    #[test]
    fn five_percent_are_as_many_steps_as_cost_five_percent() {
        let cpu5 = VARIATIONS.iter().find(|of| of.name == "cpu5").unwrap();
        assert_eq!(cpu5.variables(0.000_05), [("SENSE_BURN", 1_000)]);
        let text = manifest(Some(0.000_05));
        let manifest: toml::Table = text.parse().unwrap();
        assert_eq!(manifest["variant"].as_array().unwrap().len(), VARIATIONS.len() + 1);
    }
}
