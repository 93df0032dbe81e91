//! A figure of one trial, with the windows that show how certain it is.
use pippin_model::figure::Figure;
use pippin_model::result::Window;
use pippin_model::trial::TrialRecord;

use crate::interval::bootstrap::Sample;
use crate::rank::due;
use crate::series::steady::measured_rates;

/// A figure of one trial in the unit of the register; `None` if it is unknown. In quantiles, mean
/// and maximum of the response time, a request without an answer is as old as it is ([`due`]). A
/// quantile that so many requests never reached is infinite.
#[must_use]
pub fn value(figure: Figure, record: &TrialRecord) -> Option<f64> {
    match figure {
        Figure::Span(span, point) => due::point(&record.load.as_ref()?.measured, span, point),
        _ => figure.read(record),
    }
}

/// The figure of one trial as a whole, in the unit of the register; `None` if it is unknown or
/// infinite. Rates have the windows of the trial behind them.
pub(crate) fn sample(figure: Figure, record: &TrialRecord) -> Option<Sample> {
    let value = value(figure, record).filter(|value| value.is_finite())?;
    let count: fn(&Window) -> u64 = match figure {
        Figure::Goodput => |window| window.good,
        Figure::Throughput => |window| window.completed,
        _ => return Some(Sample::alone(value)),
    };
    let windows = measured_rates(record.load.as_ref()?, count);
    Some(with_chance(record, Sample { value, windows }))
}

/// A figure with its windows. If the load changes by plan, their scatter does not show chance.
pub(crate) fn with_chance(record: &TrialRecord, sample: Sample) -> Sample {
    if record.spec.profile.changes() { Sample::alone(sample.value) } else { sample }
}
