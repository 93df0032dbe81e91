//! Quantiles of plain samples.

/// The quantile `q` (0 to 1) of the samples, interpolated linearly between the two nearest order
/// statistics (Hyndman and Fan 1996, type 7: the default of NumPy and R); `None` without samples or
/// if one is not a number.
#[must_use]
pub fn quantile(samples: &[f64], q: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    quantile_in_place(&mut sorted, q)
}

/// The median; see [`quantile`].
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The arithmetic mean; `None` without samples.
#[must_use]
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// The unbiased variance (divided by n - 1); `None` below two samples.
#[must_use]
pub fn variance(samples: &[f64]) -> Option<f64> {
    let centre = mean(samples)?;
    let n = samples.len();
    (n > 1).then(|| samples.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (n - 1) as f64)
}

/// As [`quantile`], but sorts the samples in place.
pub(crate) fn quantile_in_place(samples: &mut [f64], q: f64) -> Option<f64> {
    if samples.is_empty() || samples.iter().any(|x| x.is_nan()) || !(0.0..=1.0).contains(&q) {
        return None;
    }
    samples.sort_unstable_by(f64::total_cmp);
    let at = q * (samples.len() - 1) as f64;
    let (below, above) = (samples[at.floor() as usize], samples[at.ceil() as usize]);
    // Two equal infinities have no difference.
    Some(if below == above { below } else { below + (above - below) * at.fract() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_quantiles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.9), Some(4.6));
        assert_eq!((quantile(&[7.0], 0.0), quantile(&[7.0], 1.0)), (Some(7.0), Some(7.0)));
        assert_eq!(variance(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), Some(32.0 / 7.0));
    }

    #[test]
    fn what_is_unknown_is_none() {
        assert_eq!((median(&[]), mean(&[]), variance(&[1.0])), (None, None, None));
        assert_eq!((median(&[1.0, f64::NAN]), quantile(&[1.0], 1.5)), (None, None));
    }

    proptest! {
        #[test]
        fn a_quantile_lies_within_and_rises(samples in prop::collection::vec(-1e9..1e9f64, 1..50), a in 0.0..1.0f64, b in 0.0..1.0f64) {
            let (low, high) = (quantile(&samples, a.min(b)).unwrap(), quantile(&samples, a.max(b)).unwrap());
            prop_assert!(low <= high);
            let (least, most) = samples.iter().fold((f64::MAX, f64::MIN), |(l, m), x| (l.min(*x), m.max(*x)));
            prop_assert!(least <= low && high <= most);
        }
    }
}
