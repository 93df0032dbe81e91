//! Prometheus' text format
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>): how a metric is written.
use std::fmt::Write as _;

/// Its media type.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Prometheus' word for a value that goes up and down.
pub const GAUGE: &str = "gauge";
/// Prometheus' word for quantiles with their count and sum.
pub const SUMMARY: &str = "summary";

/// One line: the suffix of the metric's name, the labels, the value.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// `_sum` and `_count` of a summary; empty for others.
    pub suffix: &'static str,
    /// Names and values.
    pub labels: Vec<(&'static str, String)>,
    /// The value, in Prometheus' base units: seconds and bytes.
    pub value: f64,
}

/// Writes a metric, or nothing if it has no samples.
pub fn write(out: &mut String, name: &str, kind: &str, help: &str, samples: &[Sample]) {
    if samples.is_empty() {
        return;
    }
    // Writing into a String cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for Sample { suffix, labels, value } in samples {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(out, "{name}{suffix}{labels} {value}");
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_metrics_without_a_sample_left_out() {
        let mut out = String::new();
        let sample = |labels, value| Sample { suffix: "", labels, value };
        write(
            &mut out,
            "a",
            GAUGE,
            "A.",
            &[sample(vec![], 1.5), sample(vec![("x", "\"\\\n".into())], 2.0)],
        );
        write(&mut out, "b", GAUGE, "B.", &[]);
        assert_eq!(out, "# HELP a A.\n# TYPE a gauge\na 1.5\na{x=\"\\\"\\\\\\n\"} 2\n");
    }
}
