//! The planned length of a trial's load, and its progress.
use pippin_model::plan::profile::Profile;
use pippin_model::result::Window;
use std::time::Duration;

/// The planned length of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// The time before the measured part. For an automatic warm-up, the longest time it may take.
    pub warm_up: Duration,
    /// What ends the measured part.
    pub end: End,
}

/// What ends the measured part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A time.
    After(Duration),
    /// A number of requests.
    Requests(u64),
}

impl Length {
    /// The length of one load of this profile.
    pub fn from_profile(profile: &Profile) -> Self {
        let ns = Duration::from_nanos;
        let end = match (profile.schedule.phases(), profile.stop.requests) {
            (Some(phases), _) => End::After(ns(phases.iter().map(|(_, phase_ns)| phase_ns).sum())),
            (None, Some(count)) => End::Requests(count),
            (None, None) => End::After(ns(profile.stop.duration_ns.unwrap_or(0))),
        };
        Self { warm_up: ns(profile.warm_up.usual_ns()), end }
    }

    /// The length of the whole load, if time ends it.
    pub fn whole(&self) -> Option<Duration> {
        match self.end {
            End::After(measured) => Some(self.warm_up + measured),
            End::Requests(_) => None,
        }
    }
}

/// The progress of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// From 0 to 1, for the measured part only. So it starts again after the warm-up.
    pub fraction: f64,
    /// The remaining time; `None` if it is not known yet.
    pub left: Option<Duration>,
    /// Whether it is still in the warm-up.
    pub warming_up: bool,
    /// Time spent in the measured part, or in the warm-up if it is still there.
    pub spent: Duration,
}

/// The progress of a load, from its windows, the time since it began, and the time since the last
/// window.
pub fn progress(
    length: &Length,
    windows: &[Window],
    since_begin: Duration,
    since_window: Duration,
) -> Progress {
    let end_ns = windows.last().map(|window| window.from_ns + window.duration_ns as i64);
    let measured = match end_ns {
        Some(end_ns) => {
            Duration::from_nanos((end_ns + since_window.as_nanos() as i64).max(0) as u64)
        }
        None => since_begin.saturating_sub(length.warm_up),
    };
    // Only the windows know when an automatic warm-up ended; the clock does not.
    let warming_up = match end_ns {
        Some(end_ns) => end_ns < 0,
        None => !length.warm_up.is_zero(),
    };
    let spent = if warming_up { since_begin.min(length.warm_up) } else { measured };
    match length.end {
        End::After(whole) => {
            let spent = spent.min(if warming_up { length.warm_up } else { whole });
            let of = if warming_up { length.warm_up } else { whole };
            let left = if warming_up {
                length.warm_up.saturating_sub(spent) + whole
            } else {
                whole.saturating_sub(spent)
            };
            Progress {
                fraction: ratio(spent.as_secs_f64(), of.as_secs_f64()),
                left: Some(left),
                warming_up,
                spent,
            }
        }
        End::Requests(count) => {
            let completed: u64 = windows
                .iter()
                .filter(|window| window.from_ns >= 0)
                .map(|window| window.completed)
                .sum();
            let seconds: f64 = windows
                .iter()
                .filter(|window| window.from_ns >= 0)
                .map(|window| window.duration_ns as f64 / 1e9)
                .sum();
            let rate = if seconds > 0.0 { completed as f64 / seconds } else { 0.0 };
            let left = (rate > 0.0).then(|| {
                Duration::from_secs_f64((count.saturating_sub(completed) as f64 / rate).min(1e9))
                    .saturating_sub(since_window)
            });
            Progress { fraction: ratio(completed as f64, count as f64), left, warming_up, spent }
        }
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn window(from_s: i64, completed: u64) -> Window {
        Window {
            from_ns: from_s * 1_000_000_000,
            duration_ns: 1_000_000_000,
            completed,
            ..Window::default()
        }
    }

    #[test]
    fn a_timed_load_goes_from_its_warm_up_to_its_end() {
        let length = Length { warm_up: 5 * SECOND, end: End::After(10 * SECOND) };
        let begun = progress(&length, &[], SECOND, Duration::ZERO);
        assert_eq!(
            begun,
            Progress { fraction: 0.2, left: Some(14 * SECOND), warming_up: true, spent: SECOND }
        );
        // The warm-up was shorter than its limit: the windows decide, not the clock.
        let measuring =
            progress(&length, &[window(-1, 5), window(0, 5), window(1, 5)], 4 * SECOND, SECOND / 2);
        assert_eq!(
            measuring,
            Progress {
                fraction: 0.25,
                left: Some(Duration::from_millis(7_500)),
                warming_up: false,
                spent: Duration::from_millis(2_500)
            }
        );
        let over = progress(&length, &[window(9, 5)], 16 * SECOND, 3 * SECOND);
        assert_eq!((over.fraction, over.left), (1.0, Some(Duration::ZERO)));
    }

    #[test]
    fn a_counted_load_is_known_by_its_rate() {
        let length = Length { warm_up: Duration::ZERO, end: End::Requests(1_000) };
        assert_eq!(progress(&length, &[], SECOND, Duration::ZERO).left, None);
        let half = progress(&length, &[window(0, 300), window(1, 200)], 2 * SECOND, Duration::ZERO);
        assert_eq!((half.fraction, half.left), (0.5, Some(2 * SECOND)));
        let stalled = progress(&length, &[window(0, 0)], SECOND, Duration::ZERO);
        assert_eq!((stalled.fraction, stalled.left), (0.0, None));
    }

    #[test]
    fn every_profile_has_a_length() {
        let sweep = Profile::sweep(vec![1, 2], 3_000_000_000);
        assert_eq!(
            Length::from_profile(&sweep),
            Length { warm_up: 5 * SECOND, end: End::After(3 * SECOND) }
        );
        assert_eq!(Length::from_profile(&sweep).whole(), Some(8 * SECOND));
    }
}
