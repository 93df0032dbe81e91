//! The columns of published tables: what they are called here, and which figure of a trial says what
//! they say.
//!
//! A column is named by its figure and its unit: `p50_ms`, `latency_mean_us`, `cpu_percent`.
use pippin_model::figure::cost::cores_of;
use pippin_model::figure::{Figure, Point, Span};
use pippin_model::host::usage::Role;
use pippin_model::trial::TrialRecord;
use pippin_stats::summary::sample::value;

/// The units in which columns are published: how a name ends, in words, and how many of it are one of
/// Pippin's own (nanoseconds, processors, bytes).
const UNITS: [(&str, &str, f64); 6] = [
    ("_per_s", "/s", 1.0),
    ("_us", " µs", 1e-3),
    ("_ms", " ms", 1e-6),
    ("_percent", " %", 100.0),
    ("_mb", " MB", 1e-6),
    ("", "", 1.0),
];

/// The name of the figure, the unit in words, and its factor.
fn parts(column: &str) -> (&str, &str, f64) {
    let unit = UNITS
        .iter()
        .find_map(|(end, words, factor)| Some((column.strip_suffix(end)?, *words, *factor)));
    unit.unwrap_or((column, "", 1.0))
}

/// The title of a column: `latency mean, ms`.
#[must_use]
pub fn title(column: &str) -> String {
    let (figure, unit, _) = parts(column);
    let figure = figure.replace('_', " ");
    match unit {
        "" => figure,
        "/s" => format!("{figure}/s"),
        unit => format!("{figure},{unit}"),
    }
}

/// The figure of a trial that says what a column says, in the column's unit; `None` if it is unknown, or
/// there is none: Pippin has no standard deviations, because times are not normally distributed.
#[must_use]
pub fn own(column: &str, trial: &TrialRecord) -> Option<f64> {
    let (name, _, factor) = parts(column);
    let found = match name {
        "cpu" | "target_cpu" => cores(trial, Role::Target),
        "generator_cpu" => cores(trial, Role::Generator),
        "peak_connections" => peak_connections(trial),
        _ => value(figure(name)?, trial).filter(|value| value.is_finite()),
    };
    found.map(|value| value * factor)
}

/// The figure of the register with this published name.
fn figure(name: &str) -> Option<Figure> {
    let response = |point| Figure::Span(Span::ResponseTime, point);
    Some(match name {
        "requests" | "peak_requests" => Figure::Goodput,
        "errors" => Figure::Errors,
        "rss" => Figure::MemoryRss,
        "latency_mean" => response(Point::Mean),
        "latency_max" | "max" => response(Point::Max),
        _ => {
            let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
            response(Point::Quantile(percent / 100.0))
        }
    })
}

fn cores(trial: &TrialRecord, role: Role) -> Option<f64> {
    cores_of(trial.usage.as_ref()?, role)
}

/// The most connections that were open at the end of a window.
fn peak_connections(trial: &TrialRecord) -> Option<f64> {
    let windows = trial.load.as_ref()?.windows.iter();
    windows.map(|window| window.live_connections).max().map(|most| most as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn names_are_read_with_their_units() {
        assert_eq!(title("latency_mean_us"), "latency mean, µs");
        assert_eq!(title("peak_requests_per_s"), "peak requests/s");
        assert_eq!(title("note"), "note");
        let trial = ExampleTrial::hello().answers_per_s(1_000.0).target_cores(0.5, 1).build();
        let near = |column: &str, wanted: f64| {
            let own = own(column, &trial).unwrap_or(f64::NAN);
            assert!((own / wanted - 1.0).abs() < 0.05, "{column}: {own}, not {wanted}");
        };
        near("requests_per_s", 1_000.0);
        near("cpu_percent", 50.0);
        let p50_ns = Figure::Span(Span::ResponseTime, Point::Quantile(0.5)).read(&trial).unwrap();
        near("p50_us", p50_ns / 1e3);
        near("p50_ms", p50_ns / 1e6);
        for unknown in ["latency_stdev_ms", "concurrency", "note", "pages"] {
            assert_eq!(own(unknown, &trial), None, "{unknown}");
        }
    }
}
