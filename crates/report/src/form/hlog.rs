//! All histograms of a run as an HdrHistogram interval log (`.hlog`). HdrHistogram's own tools and
//! its libraries in Java, Python, JavaScript, Go and C can read it. It has one line for each trial
//! and time span, tagged `<target>/<step>/<repetition>/<span>`.
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{LoadResult, Span, Spans};
use pippin_model::run::RunRecord;
use pippin_model::trial::{Step, TrialRecord};
use std::time::{Duration, SystemTime};

use crate::form::{Form, FormError, Write};

/// This form.
pub const FORM: Form = Form {
    name: "hlog",
    about: "An HdrHistogram interval log",
    media_type: "text/plain; charset=utf-8",
    extension: "hlog",
    write: Write::Record(|record| {
        render(record)
            .map(String::into_bytes)
            .map_err(|error| FormError::Encoding { form: "hlog", reason: error.to_string() })
    }),
};

/// A log that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("the histogram `{tag}` cannot be written as an interval log: {reason}")]
pub struct HlogError {
    /// The histogram.
    pub tag: String,
    /// Why.
    pub reason: String,
}

/// The log has maxima in milliseconds, as HdrHistogram's own logs of nanoseconds do; the histograms
/// are in nanoseconds.
const NS_PER_MS: f64 = 1e6;

/// The run as an interval log. Spans without samples are left out.
///
/// # Errors
/// If a histogram cannot be encoded. None of Pippin's is known to cause this.
pub fn render(record: &RunRecord) -> Result<String, HlogError> {
    let start = SystemTime::UNIX_EPOCH + Duration::from_nanos(record.header.started_unix_ns);
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment(&format!("Pippin {}, run {}", record.header.pippin_version, record.header.id))
        .add_comment(
            "Tags: target/step/repetition/span; values in nanoseconds, maxima in milliseconds",
        )
        .with_start_time(start)
        .with_base_time(start)
        .with_max_value_divisor(NS_PER_MS);
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let head =
        |reason: std::io::Error| HlogError { tag: "head".into(), reason: reason.to_string() };
    let mut writer = builder.begin_log_with(&mut bytes, &mut serializer).map_err(head)?;
    for trial in &record.trials {
        let Some(load) = &trial.load else { continue };
        let from =
            Duration::from_nanos(measured_from(load).saturating_sub(record.header.started_unix_ns));
        for (span, histogram) in spans(&load.measured.spans) {
            let tag = tag_of(trial, span);
            let error = |reason: String| HlogError { tag: tag.clone(), reason };
            let plain: hdrhistogram::Histogram<u64> = Deserializer::new()
                .deserialize(&mut histogram.to_v2_bytes().as_slice())
                .map_err(|reason| error(reason.to_string()))?;
            let length = Duration::from_nanos(load.measured.duration_ns);
            writer
                .write_histogram(&plain, from, length, Tag::new(&tag))
                .map_err(|reason| error(format!("{reason:?}")))?;
        }
    }
    drop(writer);
    String::from_utf8(bytes)
        .map_err(|reason| HlogError { tag: "log".into(), reason: reason.to_string() })
}

/// When the measured part began, nanoseconds since 1970.
fn measured_from(load: &LoadResult) -> u64 {
    load.started_unix_ns + load.measured_from_ns.saturating_sub(load.started_ns)
}

fn tag_of(trial: &TrialRecord, span: &str) -> String {
    let step = match trial.spec.step {
        None => "-".into(),
        Some(Step::Connections { count }) => format!("{count}-connections"),
        Some(Step::Rate { per_s }) => format!("{per_s}-per-s"),
        Some(Step::Devices { count }) => format!("{count}-devices"),
    };
    format!("{}/{step}/{}/{span}", trial.spec.target, trial.spec.repetition + 1)
}

/// The time spans that have samples, with their names in JSON.
fn spans(spans: &Spans) -> impl Iterator<Item = (&'static str, &Histogram)> {
    let all = Span::ALL.iter().map(|span| (span.name(), span.histogram(spans)));
    all.filter(|(_, histogram)| histogram.count() > 0)
}
