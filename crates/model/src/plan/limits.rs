//! What a target may use at the most, as its control group holds it.
use serde::{Deserialize, Serialize};

/// The limits of each target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time per second of wall time, so 0.5 is half of one processor; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Memory of all its processes together, page cache included, in bytes; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// The kernel gives out processor time in periods of 100 ms, of which a group gets at least 1 ms.
const LEAST_CPUS: f64 = 0.01;
/// The least that runtimes of containers take.
const LEAST_MEMORY: u64 = 6 << 20;

impl Limits {
    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.cpus.is_none() && self.memory_bytes.is_none()
    }

    /// These limits, and where they say nothing those of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            cpus: self.cpus.or(other.cpus),
            memory_bytes: self.memory_bytes.or(other.memory_bytes),
        }
    }

    /// In words: `0.5 processors and 256 MiB of memory`.
    #[must_use]
    pub fn words(&self) -> String {
        let cpus = self.cpus.map(|cpus| match cpus {
            1.0 => "1 processor".to_string(),
            cpus => format!("{cpus} processors"),
        });
        let memory = self.memory_bytes.map(|bytes| format!("{} of memory", memory_words(bytes)));
        cpus.into_iter().chain(memory).collect::<Vec<_>>().join(" and ")
    }

    /// The options of the command line that ask for them.
    #[must_use]
    pub const fn options(&self) -> &'static str {
        match (self.cpus, self.memory_bytes) {
            (Some(_), None) => "--cpu",
            (None, _) => "--memory",
            (Some(_), Some(_)) => "--cpu, --memory",
        }
    }
}

/// Exactly, as runs with other limits are not compared.
fn memory_words(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

/// Processors as a person writes them: `0.5`.
///
/// # Errors
/// If it is no number, or below what the kernel can hold.
pub fn parse_cpus(text: &str) -> Result<f64, String> {
    let cpus = text.trim().parse().map_err(|_| {
        format!("`{text}` is not a number of processors: write 0.5 for half of one")
    })?;
    checked_cpus(cpus)
}

/// Processors that the kernel can hold a group to.
///
/// # Errors
/// If they are too few, or no number.
pub fn checked_cpus(cpus: f64) -> Result<f64, String> {
    if !(LEAST_CPUS..=4_096.0).contains(&cpus) {
        return Err(format!("`{cpus}` is not between {LEAST_CPUS} and 4096 processors"));
    }
    Ok(cpus)
}

/// Memory as a person writes it, in bytes: `256M`, `256 MiB` and `1G` count in steps of 1,024, as
/// service managers and containers do.
///
/// # Errors
/// If it is no number with a unit, or too little to start anything.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    let error = || format!("`{text}` is not an amount of memory: write 256M or 1G");
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "k" | "kib" => 1_u64 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return Err(error()),
    };
    let number: f64 = number.parse().map_err(|_| error())?;
    let bytes = (number * factor as f64).round() as u64;
    if bytes < LEAST_MEMORY {
        return Err(format!("`{text}` is too little to start a process: at least 6M"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_write_them() {
        assert_eq!(parse_cpus("0.5"), Ok(0.5));
        assert_eq!(parse_cpus(" 2 "), Ok(2.0));
        for wrong in ["", "half", "0", "-1", "0.001", "NaN", "inf", "50%", "5000"] {
            assert!(parse_cpus(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_memory("256M"), Ok(256 << 20));
        assert_eq!(parse_memory("256 MiB"), Ok(256 << 20));
        assert_eq!(parse_memory("1.5g"), Ok(3 << 29));
        assert_eq!(parse_memory("8192k"), Ok(8 << 20));
        for wrong in ["", "M", "256", "256MB", "-1M", "1M", "1..5M", "many"] {
            assert!(parse_memory(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_are_said_in_words() {
        let words = |cpus, memory_bytes| Limits { cpus, memory_bytes }.words();
        assert_eq!(words(Some(0.5), Some(256 << 20)), "0.5 processors and 256 MiB of memory");
        assert_eq!(words(Some(1.0), None), "1 processor");
        assert_eq!(words(None, Some(3 << 29)), "1536 MiB of memory");
        assert_eq!(words(None, None), "");
        let half = Limits { cpus: Some(0.5), memory_bytes: None };
        let both = Limits { cpus: Some(2.0), memory_bytes: Some(1 << 30) };
        assert_eq!(half.or(both), Limits { cpus: Some(0.5), ..both });
        assert_eq!((half.options(), both.options()), ("--cpu", "--cpu, --memory"));
    }
}
