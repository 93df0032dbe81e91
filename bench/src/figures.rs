//! A tool's figures about its own run.
use serde::{Deserialize, Serialize};

/// Quantiles of a span in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantiles {
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
}

impl Quantiles {
    /// All three from this function, if it has them.
    pub fn from_fn(mut quantile: impl FnMut(f64) -> Option<u64>) -> Option<Self> {
        Some(Self { p50: quantile(0.5)?, p90: quantile(0.9)?, p99: quantile(0.99)? })
    }
}

/// A tool's own figures; `None` if it does not print them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub completed: Option<u64>,
    pub errors: Option<u64>,
    pub p50_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p95_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
    /// From a request to its answer, if the tool reports this separately from the times above.
    pub service: Option<Quantiles>,
    /// The tool's own lateness in sending.
    pub send_lag_p99_ns: Option<u64>,
    /// CPU time that it spent waiting for deadlines by polling.
    pub spin_ns: Option<u64>,
    /// Processor time of its threads per answer, without polling for deadlines.
    pub threads_cpu_per_request_ns: Option<f64>,
    pub syscalls: Option<u64>,
    /// The kind of event loop, if the tool has a choice and reports it.
    pub io: Option<String>,
    /// Answers per second in the measured part, if that is not the whole run.
    pub measured_per_s: Option<f64>,
}

/// Nanoseconds from a number and a unit as tools print them: `1.5ms`, `12us`, `3s`, `0.2 secs`.
pub fn nanoseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|character: char| character != '.' && !character.is_ascii_digit())?;
    let number: f64 = text[..split].parse().ok()?;
    let factor = match text[split..].trim() {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" | "secs" => 1e9,
        "m" => 60e9,
        _ => return None,
    };
    Some((number * factor).round() as u64)
}

/// The text after `label`, on the first line that has it.
pub fn after<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.split_once(label).map(|(_, rest)| rest.trim()))
}

/// The number at the start of a text.
pub fn leading_number(text: &str) -> Option<u64> {
    let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The sum of the counts in an object of a tool's JSON, by kind of answer or of error.
pub fn sum_of_counts(json: &serde_json::Value, pointer: &str) -> Option<u64> {
    Some(json.pointer(pointer)?.as_object()?.values().filter_map(serde_json::Value::as_u64).sum())
}

/// Seconds as a float to nanoseconds.
pub fn from_seconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::{after, leading_number, nanoseconds};

    #[test]
    fn units_of_tools() {
        assert_eq!(nanoseconds("1.50ms"), Some(1_500_000));
        assert_eq!(nanoseconds("12.00us"), Some(12_000));
        assert_eq!(nanoseconds("0.0012 secs"), Some(1_200_000));
        assert_eq!(nanoseconds("1.5"), None);
        assert_eq!(nanoseconds("-nan%"), None);
    }

    #[test]
    fn labels() {
        assert_eq!(
            after("a\n  Complete requests:   1234\n", "Complete requests:")
                .and_then(leading_number),
            Some(1_234)
        );
        assert_eq!(after("a", "b"), None);
    }
}
