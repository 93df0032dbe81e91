//! The result in Prometheus' text format
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>), for the textfile collector of
//! the node exporter or a push gateway. Units are Prometheus' base units: seconds and bytes. Time
//! spans and counters are those of the register of figures.
use pippin_model::figure::{Counter, Span, counters};
use pippin_model::result::histogram::Summary;
use pippin_model::verdict::Verdict;
use pippin_stats::interval::Interval;
use pippin_stats::summary::Estimate;

use crate::exposition::{self, GAUGE, MEDIA_TYPE, SUMMARY, Sample};
use crate::form::{Form, Write};
use crate::view::View;
use crate::view::row::Row;

/// This form.
pub const FORM: Form = Form {
    name: "prometheus",
    about: "Prometheus' text format",
    media_type: MEDIA_TYPE,
    extension: "prom",
    write: Write::View(|view| Ok(render(view).into_bytes())),
};

/// The run as metrics.
#[must_use]
pub fn render(view: &View) -> String {
    let mut out = String::new();
    for Metric { name, kind, help, samples } in METRICS {
        write(&mut out, view, (name, kind, help), samples);
    }
    for span in Span::ALL {
        let name = format!("pippin_{}_seconds", span.name());
        let head = (name.as_str(), SUMMARY, span.help());
        write(&mut out, view, head, |_, row| quantiles(span.summary(&row.spans)));
    }
    for counter in counters() {
        let name = format!("pippin_{}", counter.name);
        write(&mut out, view, (&name, GAUGE, counter.help), |_, row| counted(counter, row));
    }
    out
}

/// Writes a metric, given by its name, kind and help, with its samples of all rows.
fn write(
    out: &mut String,
    view: &View,
    (name, kind, help): (&str, &str, &str),
    samples: impl Fn(&View, &Row) -> Samples,
) {
    let of_row = |row| {
        samples(view, row).into_iter().map(move |sample| Sample {
            labels: common(view, row).into_iter().chain(sample.labels).collect(),
            ..sample
        })
    };
    let samples: Vec<Sample> = view.rows.iter().flat_map(of_row).collect();
    exposition::write(out, name, kind, help, &samples);
}

type Samples = Vec<Sample>;
type Label = (&'static str, String);

/// A metric that is no time span and no counter. Add new ones to [`METRICS`].
struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    samples: fn(&View, &Row) -> Samples,
}

const METRICS: [Metric; 21] = [
    Metric {
        name: "pippin_goodput_per_second",
        kind: GAUGE,
        help: "Complete and right answers per second, median over repetitions.",
        samples: |_, row| one(row.goodput_per_s.map(|f| f.median)),
    },
    Metric {
        name: "pippin_goodput_low_per_second",
        kind: GAUGE,
        help: "Lower end of its 95 % interval.",
        samples: |_, row| one(row.goodput_per_s.and_then(|f| f.interval).map(|i| i.low)),
    },
    Metric {
        name: "pippin_goodput_high_per_second",
        kind: GAUGE,
        help: "Upper end of its 95 % interval.",
        samples: |_, row| one(row.goodput_per_s.and_then(|f| f.interval).map(|i| i.high)),
    },
    Metric {
        name: "pippin_rank",
        kind: GAUGE,
        help: "Rank among the targets of the run; absent if INVALID or without a result.",
        samples: rank,
    },
    Metric {
        name: "pippin_verdict",
        kind: GAUGE,
        help: "1 for the verdict that the target has.",
        samples: verdict,
    },
    Metric {
        name: "pippin_answers",
        kind: GAUGE,
        help: "Complete answers by status code, over all repetitions.",
        samples: statuses,
    },
    Metric {
        name: "pippin_errors",
        kind: GAUGE,
        help: "Errors by kind, over all repetitions.",
        samples: errors,
    },
    Metric {
        name: "pippin_cpu_cores",
        kind: GAUGE,
        help: "Cores kept busy by role.",
        samples: cores,
    },
    Metric {
        name: "pippin_target_memory_bytes",
        kind: GAUGE,
        help: "Memory of the target's process tree at its highest: shared pages count once.",
        samples: |_, row| one(row.usage.target_memory_bytes),
    },
    Metric {
        name: "pippin_target_cpu_seconds_per_million",
        kind: GAUGE,
        help: "CPU-seconds of the target for a million requests.",
        samples: |_, row| one(row.cost.target_cpu_s_per_million),
    },
    Metric {
        name: "pippin_target_cpu_seconds_per_million_low",
        kind: GAUGE,
        help: "Lower end of the 95 % interval of its median over repetitions.",
        samples: |_, row| one(row.cpu_s_per_million.and_then(|f| f.interval).map(|i| i.low)),
    },
    Metric {
        name: "pippin_target_cpu_seconds_per_million_high",
        kind: GAUGE,
        help: "Upper end of the 95 % interval of its median over repetitions.",
        samples: |_, row| one(row.cpu_s_per_million.and_then(|f| f.interval).map(|i| i.high)),
    },
    Metric {
        name: "pippin_response_time_p50_low_seconds",
        kind: GAUGE,
        help: "Lower end of the 95 % interval of the median response time over repetitions.",
        samples: |_, row| one(seconds(row.response_p50_ns, |i| i.low)),
    },
    Metric {
        name: "pippin_response_time_p50_high_seconds",
        kind: GAUGE,
        help: "Upper end of the 95 % interval of the median response time over repetitions.",
        samples: |_, row| one(seconds(row.response_p50_ns, |i| i.high)),
    },
    Metric {
        name: "pippin_response_time_p99_low_seconds",
        kind: GAUGE,
        help: "Lower end of the 95 % interval of the response time's 99th percentile over repetitions.",
        samples: |_, row| one(seconds(row.response_p99_ns, |i| i.low)),
    },
    Metric {
        name: "pippin_response_time_p99_high_seconds",
        kind: GAUGE,
        help: "Upper end of the 95 % interval of the response time's 99th percentile over repetitions.",
        samples: |_, row| one(seconds(row.response_p99_ns, |i| i.high)),
    },
    Metric {
        name: "pippin_kept_requests_per_second",
        kind: GAUGE,
        help: "At several rates: the highest one with which every repetition kept up.",
        samples: |_, row| one(row.at_rates().and_then(|(_, ladder)| ladder.kept_per_s)),
    },
    Metric {
        name: "pippin_knee_requests_per_second",
        kind: GAUGE,
        help: "At several rates: the first one from which no higher one surely brings more than 10 % more right answers.",
        samples: |_, row| one(row.knee().map(|knee| knee.per_s)),
    },
    Metric {
        name: "pippin_knee_low_requests_per_second",
        kind: GAUGE,
        help: "Lower end of its 95 % interval.",
        samples: |_, row| one(row.knee().and_then(|knee| knee.low_per_s)),
    },
    Metric {
        name: "pippin_knee_high_requests_per_second",
        kind: GAUGE,
        help: "Upper end of its 95 % interval.",
        samples: |_, row| one(row.knee().and_then(|knee| knee.high_per_s)),
    },
    Metric {
        name: "pippin_caveats",
        kind: GAUGE,
        help: "1 for each caveat that the target has.",
        samples: caveats,
    },
];

fn sample(labels: Vec<Label>, value: f64) -> Sample {
    Sample { suffix: "", labels, value }
}

fn one(value: Option<f64>) -> Samples {
    value.map(|value| sample(Vec::new(), value)).into_iter().collect()
}

/// An end of the interval of a time in nanoseconds.
fn seconds(found: Option<Estimate>, end: fn(Interval) -> f64) -> Option<f64> {
    found?.interval.map(|interval| end(interval) / 1e9)
}

fn common(view: &View, row: &Row) -> [Label; 4] {
    [
        ("plan", view.plan.id.clone()),
        ("workload", view.workload.id.clone()),
        ("run", view.run.id.clone()),
        ("target", row.target.to_string()),
    ]
}

fn label(name: &'static str, value: &str) -> Vec<Label> {
    vec![(name, value.into())]
}

fn rank(view: &View, row: &Row) -> Samples {
    row.standing
        .rank
        .map(|rank| sample(label("ranked_by", view.run.ranked_by.name()), f64::from(rank)))
        .into_iter()
        .collect()
}

fn verdict(_: &View, row: &Row) -> Samples {
    let name = |verdict: Verdict| verdict.to_string().to_lowercase();
    row.verdict.map(|verdict| sample(label("verdict", &name(verdict)), 1.0)).into_iter().collect()
}

fn quantiles(summary: &Summary) -> Samples {
    let named = [
        ("0.5", summary.p50_ns),
        ("0.9", summary.p90_ns),
        ("0.99", summary.p99_ns),
        ("0.999", summary.p999_ns),
        ("1", summary.max_ns),
    ];
    if summary.count == 0 {
        return Samples::new();
    }
    let quantiles = named
        .into_iter()
        .filter_map(|(q, ns)| Some(sample(label("quantile", q), ns? as f64 / 1e9)));
    let count = summary.count as f64;
    let sum = summary.mean_ns.map(|mean| mean * count / 1e9);
    let totals = [("_sum", sum), ("_count", Some(count))]
        .into_iter()
        .filter_map(|(suffix, value)| Some(Sample { suffix, labels: Vec::new(), value: value? }));
    quantiles.chain(totals).collect()
}

/// A counter of all repetitions; nothing of a target without a result.
fn counted(counter: &Counter, row: &Row) -> Samples {
    let count = (counter.read)(&row.counter_sets()) as f64;
    one(row.goodput_per_s.is_some().then_some(count))
}

fn statuses(_: &View, row: &Row) -> Samples {
    row.status
        .codes
        .iter()
        .map(|(code, count)| sample(label("status", &code.to_string()), *count as f64))
        .collect()
}

fn errors(_: &View, row: &Row) -> Samples {
    row.errors
        .iter()
        .map(|(kind, count)| sample(label("kind", kind.name()), *count as f64))
        .collect()
}

fn cores(_: &View, row: &Row) -> Samples {
    let named = [
        ("target", row.usage.target_cores),
        ("services", row.usage.services_cores),
        ("generator", row.usage.generator_cores),
    ];
    named
        .into_iter()
        .filter_map(|(role, cores)| Some(sample(label("role", role), cores?)))
        .collect()
}

fn caveats(_: &View, row: &Row) -> Samples {
    row.caveats.iter().map(|counted| sample(label("caveat", &counted.caveat.id), 1.0)).collect()
}
