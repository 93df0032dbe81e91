//! The differences between the targets, and how often they must be found.
use pippin_model::figure::Figure;
use pippin_model::run::RunRecord;
use serde::Serialize;

use super::tally::{Observed, observed};

/// The target from which the others differ.
pub const BASE: &str = "go/sense";
/// The copy that burns much CPU time, to measure the cost of a step.
const BURNT: &str = "go/sense:burnt";
/// Its number of steps: some tens of microseconds.
const BURNT_STEPS: u32 = 20_000;

/// A copy of the base that differs in a known way.
#[derive(Debug, Clone, Copy)]
pub struct Variation {
    /// The name of the variant.
    pub name: &'static str,
    /// The difference.
    pub about: &'static str,
    /// The base or the variant that it differs from.
    pub from: &'static str,
    /// Its additional work for each request.
    pub does: Does,
    /// How often, and by which figure, it must be told apart.
    pub wanted: &'static [Wanted],
}

/// The additional work of a copy for each request.
#[derive(Debug, Clone, Copy)]
pub enum Does {
    /// None.
    Nothing,
    /// Burns this fraction of the base's CPU time per request.
    Burns(f64),
    /// Waits this many microseconds, with at most this many requests at a time.
    Waits { us: u32, pool: u32 },
}

/// A bound on how often a variation is told apart.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Wanted {
    pub figure: Figure,
    /// Whether `share` is the lowest allowed value; otherwise it is the highest.
    pub at_least: bool,
    pub share: f64,
    /// Whether it only applies to the full form of the plan.
    pub full_only: bool,
}

const fn at_most(figure: Figure, share: f64) -> Wanted {
    Wanted { figure, at_least: false, share, full_only: false }
}

const fn at_least(figure: Figure, share: f64, full_only: bool) -> Wanted {
    Wanted { figure, at_least: true, share, full_only }
}

/// All of them.
pub const VARIATIONS: [Variation; 6] = [
    Variation {
        name: "twin",
        about: "the same",
        from: BASE,
        does: Does::Nothing,
        wanted: &[at_most(Figure::Goodput, 0.05), at_most(Figure::Cpu, 0.05)],
    },
    Variation {
        name: "cpu5",
        about: "5 % more CPU time",
        from: BASE,
        does: Does::Burns(0.05),
        wanted: &[at_least(Figure::Cpu, 0.9, true)],
    },
    Variation {
        name: "cpu10",
        about: "10 % more CPU time",
        from: BASE,
        does: Does::Burns(0.10),
        wanted: &[at_least(Figure::Cpu, 0.9, false)],
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
    /// The name of its target.
    pub fn target(&self) -> String {
        format!("{BASE}:{}", self.name)
    }

    /// Its variables, if a step of burning costs this fraction of the base's CPU time per request.
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

/// The targets that measure the cost of burning.
pub fn for_scale() -> Vec<String> {
    vec![BASE.into(), BURNT.into()]
}

/// The variants in the form of a manifest.
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

/// The cost of one step of burning, as a fraction of the base's CPU time per request.
pub fn cpu_of_a_step(record: &RunRecord) -> Result<f64, String> {
    let found: Option<Observed> = observed(record, Figure::Cpu, BURNT, BASE)?;
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
