//! The figure by which targets are ranked: goodput, or the response time if the schedule sets the
//! rate.
use pippin_model::figure::RankedBy;
use pippin_model::result::{LoadResult, Window};

use crate::interval::bootstrap::Sample;
use crate::rank::due;
use crate::series::steady::{measured_rates, measured_windows};

/// The figure of one trial by which it is ranked, with the windows behind it: answers per second, or
/// nanoseconds. `None` if the trial does not have it.
#[must_use]
pub fn ranked_sample(by: RankedBy, load: &LoadResult) -> Option<Sample> {
    match by {
        RankedBy::Goodput => Some(Sample {
            value: load.measured.goodput_per_s()?,
            windows: measured_rates(load, |window: &Window| window.good),
        }),
        RankedBy::ResponseP99 => Some(Sample {
            value: due::quantile_ns(&load.measured, 0.99)? as f64,
            windows: measured_windows(load)
                .filter_map(|window| window.response_p99_ns)
                .map(|ns| ns as f64)
                .collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::ratio::ratio_of;
    use crate::simulated::test_noise::Noise;
    use pippin_model::example::ExampleTrial;

    fn ranking(record: ExampleTrial) -> RankedBy {
        RankedBy::from_profile(&record.build().spec.profile)
    }

    #[test]
    fn the_schedule_sets_the_goodput_of_open_loops_and_devices_only() {
        assert_eq!(
            [ranking(ExampleTrial::open(10.0)), ranking(ExampleTrial::devices(10))],
            [RankedBy::ResponseP99; 2]
        );
        assert_eq!(
            [
                ranking(ExampleTrial::hello()),
                ranking(ExampleTrial::hello().sweep_point(1, &[1, 2])),
                ranking(ExampleTrial::search_step(10.0))
            ],
            [RankedBy::Goodput; 3]
        );
    }

    /// One trial of 30 windows of 300 log-normal response times each, as [`ranked_sample`] makes
    /// it from a load.
    fn simulated(noise: &mut Noise, scale: f64) -> Sample {
        let p99 = |times: &mut Vec<f64>| {
            times.sort_unstable_by(f64::total_cmp);
            times[(0.99 * times.len() as f64).ceil() as usize - 1]
        };
        let mut all = Vec::new();
        let windows = (0..30)
            .map(|_| {
                let mut times: Vec<f64> =
                    (0..300).map(|_| scale * (0.3 * noise.normal()).exp()).collect();
                all.extend_from_slice(&times);
                p99(&mut times)
            })
            .collect();
        Sample { value: p99(&mut all), windows }
    }

    #[test]
    fn the_scatter_of_the_windows_p99_tells_how_sure_the_trials_is() {
        let mut noise = Noise::new(8);
        let mut told_apart = |scale: f64| {
            (0..100)
                .filter(|_| {
                    let (a, b) = (simulated(&mut noise, scale), simulated(&mut noise, 1.0));
                    ratio_of(&[a], &[b], 200, &mut noise.0).unwrap().is_significant()
                })
                .count()
        };
        let (equal, slower) = (told_apart(1.0), told_apart(1.1));
        println!(
            "of 100 pairs of single trials: equal ones told apart {equal} times, those 10 % slower {slower} times"
        );
        assert!(equal <= 12, "equal targets were told apart in {equal} of 100");
        assert!(slower >= 80, "10 % were seen in {slower} of 100");
    }

    #[test]
    fn windows_without_an_answer_have_no_time() {
        let mut load = ExampleTrial::open(1_000.0).seconds(5).build().load.unwrap();
        for (window, ms) in load.windows.iter_mut().zip([1, 2, 3, 4]) {
            window.response_p99_ns = Some(ms * 1_000_000);
        }
        let sample = ranked_sample(RankedBy::ResponseP99, &load).unwrap();
        assert_eq!(sample.windows, [1e6, 2e6, 3e6, 4e6]);
        assert_eq!(ranked_sample(RankedBy::Goodput, &load).unwrap().windows.len(), 5);
    }
}
