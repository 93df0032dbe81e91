//! When enough repetitions have been made.
use crate::bootstrap::Basis;
use crate::interval::Interval;

/// Fewest repetitions before measuring may end early. Differences from start to start must have had
/// a chance to show.
pub const FEWEST_REPETITIONS: u32 = 3;

/// Whether the interval around `median` is narrower than `precision`, a fraction of the median.
/// Then no more repetitions are needed.
///
/// An interval from the windows of one trial is never enough.
#[must_use]
pub fn is_precise_enough(
    median: f64,
    interval: Option<&Interval>,
    repetitions: u32,
    precision: f64,
) -> bool {
    repetitions >= FEWEST_REPETITIONS
        && interval.is_some_and(|found| {
            found.basis == Basis::Trials && found.relative_width(median) < precision
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_three_trials_and_a_narrow_interval() {
        let narrow = Interval { low: 99.6, high: 100.5, basis: Basis::Trials };
        assert!(is_precise_enough(100.0, Some(&narrow), 3, 0.01));
        assert!(!is_precise_enough(100.0, Some(&narrow), 2, 0.01));
        assert!(!is_precise_enough(100.0, Some(&narrow), 3, 0.009));
        assert!(!is_precise_enough(
            100.0,
            Some(&Interval { basis: Basis::Windows, ..narrow }),
            3,
            0.01
        ));
        assert!(!is_precise_enough(100.0, None, 9, 0.5));
    }
}
