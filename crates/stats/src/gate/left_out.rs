//! Starts that do not count for times and rates, and why not.
use pippin_model::text::units::counted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::Doubt;

/// Why a start does not count. The first that applies is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The compiler of the target's runtime worked.
    Compiler,
    /// The target was not steady: its throughput still changed.
    Unsteady,
    /// The hypervisor took time.
    Hypervisor,
    /// Other programs ran, and the sides were not measured within the same rounds.
    OtherPrograms,
}

impl Why {
    /// The kind of doubt.
    #[must_use]
    pub const fn doubt(self) -> Doubt {
        match self {
            Self::Compiler | Self::Unsteady => Doubt::NotWarm,
            Self::Hypervisor | Self::OtherPrograms => Doubt::NotCalm,
        }
    }

    /// `the compiler worked in 9`.
    fn words(self, starts: u32) -> String {
        match self {
            Self::Compiler => format!("the compiler worked in {starts}"),
            Self::Unsteady => format!("the throughput still changed in {starts}"),
            Self::Hypervisor => format!("the hypervisor took time in {starts}"),
            Self::OtherPrograms => format!("other programs ran in {starts}"),
        }
    }

    /// What to do.
    const fn advice(self) -> &'static str {
        match self {
            Self::Compiler | Self::Unsteady => {
                "warm up longer (warm_up = \"30s\" in the plan), and measure for longer (--for 20m)"
            }
            Self::Hypervisor => "use a machine whose processors nobody else uses",
            Self::OtherPrograms => "stop the other programs, or use another machine",
        }
    }
}

/// How many starts do not count, of how many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Starts in all.
    pub made: u32,
    /// How many do not count for each reason.
    pub why: BTreeMap<Why, u32>,
}

impl LeftOut {
    /// Of so many starts, one reason for each that does not count.
    #[must_use]
    pub fn from_reasons(made: usize, reasons: impl IntoIterator<Item = Why>) -> Self {
        let mut why: BTreeMap<Why, u32> = BTreeMap::new();
        reasons.into_iter().for_each(|one| *why.entry(one).or_default() += 1);
        Self { made: made as u32, why }
    }

    /// Starts that do not count.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.why.values().sum()
    }

    /// Starts that count.
    #[must_use]
    pub fn counting(&self) -> u32 {
        self.made.saturating_sub(self.count())
    }

    /// The reason of most of them; `None` if all count.
    #[must_use]
    pub fn main(&self) -> Option<Why> {
        self.why
            .iter()
            .max_by_key(|(why, starts)| (**starts, std::cmp::Reverse(**why)))
            .map(|it| *it.0)
    }

    /// `14 of 16 starts do not count: the compiler worked in 9, other programs ran in 5`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut why: Vec<(&Why, &u32)> = self.why.iter().collect();
        why.sort_by_key(|(why, starts)| (std::cmp::Reverse(**starts), **why));
        let reasons: Vec<String> =
            why.into_iter().map(|(why, starts)| why.words(*starts)).collect();
        let (out, verb) = (self.count(), if self.count() == 1 { "does" } else { "do" });
        let made = counted(self.made.into(), "start");
        format!("{out} of {made} {verb} not count: {}", reasons.join(", "))
    }

    /// `9 of 16 starts were not warm`.
    #[must_use]
    pub fn not_warm(&self) -> String {
        let cold = self.why.iter().filter(|(why, _)| why.doubt() == Doubt::NotWarm);
        let cold: u32 = cold.map(|(_, starts)| starts).sum();
        let verb = if cold == 1 { "was" } else { "were" };
        format!("{cold} of {} {verb} not warm", counted(self.made.into(), "start"))
    }

    /// What to do, by the reason of most of them.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        self.main().map(Why::advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_that_do_not_count_are_counted_by_reason() {
        let why = [(Why::OtherPrograms, 5), (Why::Compiler, 9)];
        let out = LeftOut { made: 16, why: why.into() };
        assert_eq!((out.count(), out.counting()), (14, 2));
        assert_eq!(
            out.words(),
            "14 of 16 starts do not count: the compiler worked in 9, other programs ran in 5"
        );
        assert_eq!(out.main(), Some(Why::Compiler));
        let one = LeftOut { made: 6, why: [(Why::Unsteady, 1)].into() };
        assert_eq!(one.words(), "1 of 6 starts does not count: the throughput still changed in 1");
        assert_eq!(LeftOut::default().advice(), None);
    }
}
