//! Sets of processors, as in `"0"`, `"0-3,6"`, and the processors of each role.
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

use crate::text::units::UnitError;

/// Numbers of logical processors, as the kernel counts them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CpuSet(pub BTreeSet<u32>);

impl CpuSet {
    /// Reads the kernel's list format (cpuset(7), "List format"): `"0-3,6"`.
    ///
    /// # Errors
    /// If the text is not such a list, is empty, or names a processor above 4095.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError {
            text: text.into(),
            expected: "a list of processors",
            example: "\"0\" or \"0-3,6\"",
        };
        let mut set = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number =
                |t: &str| t.trim().parse::<u32>().ok().filter(|n| *n < 4096).ok_or_else(error);
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(error());
            }
            set.extend(first..=last);
        }
        Ok(Self(set))
    }

    /// The number of processors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no processor.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the two have a processor in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.0.is_disjoint(&other.0)
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for &cpu in &self.0 {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        let parts: Vec<String> = ranges
            .iter()
            .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
            .collect();
        f.write_str(&parts.join(","))
    }
}

/// The processors of each role, resolved for one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSplit {
    /// The target's processors.
    pub target: CpuSet,
    /// The generator's, with a thread on each.
    pub generator: CpuSet,
    /// The services' (database, upstream).
    pub services: CpuSet,
}

impl CpuSplit {
    /// Whether the target shares a processor with the generator or a service.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.target.overlaps(&self.generator) || self.target.overlaps(&self.services)
    }

    /// The default split of the available processors. A single one is shared by all. Of two, the
    /// target gets the first, and generator and services the second. Of more, the target gets the
    /// first half, the services the last one (from four on), the generator those between.
    #[must_use]
    pub fn default_for(available: &CpuSet) -> Self {
        let all: Vec<u32> = available.0.iter().copied().collect();
        let set = |cpus: &[u32]| CpuSet(cpus.iter().copied().collect());
        match all.len() {
            0 | 1 => Self { target: set(&all), generator: set(&all), services: set(&all) },
            2 | 3 => {
                Self { target: set(&all[..1]), generator: set(&all[1..]), services: set(&all[1..]) }
            }
            n => Self {
                target: set(&all[..n / 2]),
                generator: set(&all[n / 2..n - 1]),
                services: set(&all[n - 1..]),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_and_print_alike() {
        for text in ["0", "0-3,6", "1,3,5-7"] {
            assert_eq!(CpuSet::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "3-1", "a", "0,", "5000"] {
            assert!(CpuSet::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_default_split_keeps_the_target_apart_where_it_can() {
        for n in 2..=64 {
            let split = CpuSplit::default_for(&CpuSet((0..n).collect()));
            assert!(!split.is_shared(), "{n}");
            assert!(!split.generator.is_empty() && !split.services.is_empty(), "{n}");
        }
        assert!(CpuSplit::default_for(&CpuSet([0].into())).is_shared());
    }
}
