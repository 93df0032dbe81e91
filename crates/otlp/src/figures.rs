//! The instruments and their figures.
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Gauge, Meter, MeterProvider};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use pippin_model::result::time_series::Moment;

/// A figure of a window; `None` if it is not known.
type Of = fn(&Moment) -> Option<f64>;

/// Name, unit (UCUM), description and value of each.
const FIGURES: &[(&str, &str, &str, Of)] = &[
    ("pippin.offered", "{request}/s", "what the schedule asked for", |it| it.offered_per_s),
    ("pippin.sent", "{request}/s", "requests that were sent", |it| it.sent_per_s),
    ("pippin.throughput", "{request}/s", "complete answers", |it| it.throughput_per_s),
    ("pippin.goodput", "{request}/s", "right answers", |it| it.goodput_per_s),
    ("pippin.errors", "{error}", "errors in this window", |it| Some(it.errors as f64)),
    ("pippin.connections", "{connection}", "open connections", |it| {
        Some(it.live_connections as f64)
    }),
    ("pippin.target.cpu", "{cpu}", "cores that the target kept busy", |it| it.target_cores),
    ("pippin.target.memory", "By", "memory of the target: shared pages count once", |it| {
        it.target_memory_bytes.map(|bytes| bytes as f64)
    }),
    ("pippin.generator.cpu", "{cpu}", "cores that the generator kept busy", |it| {
        it.generator_cores
    }),
];

/// The response time, seconds, at these quantiles.
const QUANTILES: &[(&str, Of)] = &[
    ("0.5", |it| seconds(it.response_p50_ns)),
    ("0.9", |it| seconds(it.response_p90_ns)),
    ("0.99", |it| seconds(it.response_p99_ns)),
    ("1", |it| seconds(it.response_max_ns)),
];

fn seconds(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e9)
}

/// The instruments of all figures.
pub struct Figures {
    figures: Vec<(Gauge<f64>, Of)>,
    response_time: Gauge<f64>,
}

impl Figures {
    pub fn from_provider(provider: &SdkMeterProvider) -> Self {
        let meter = provider.meter("pippin");
        let gauge = |meter: &Meter, name: &'static str, unit: &'static str, about: &'static str| {
            meter.f64_gauge(name).with_unit(unit).with_description(about).build()
        };
        let about = "from the instant at which a request was due to the arrival of its answer";
        Self {
            response_time: gauge(&meter, "pippin.response_time", "s", about),
            figures: FIGURES
                .iter()
                .map(|(name, unit, about, of)| (gauge(&meter, name, unit, about), *of))
                .collect(),
        }
    }

    /// Records the known figures of a window.
    pub fn record(&self, moment: &Moment) {
        let attributes = [
            KeyValue::new("pippin.run", moment.run.clone()),
            KeyValue::new("pippin.target", moment.target.to_string()),
            KeyValue::new("pippin.repetition", i64::from(moment.repetition)),
        ];
        for (gauge, of) in &self.figures {
            if let Some(value) = of(moment) {
                gauge.record(value, &attributes);
            }
        }
        for (quantile, of) in QUANTILES {
            let Some(value) = of(moment) else { continue };
            let at = KeyValue::new("quantile", *quantile);
            self.response_time.record(value, &[&attributes[..], &[at]].concat());
        }
    }
}
