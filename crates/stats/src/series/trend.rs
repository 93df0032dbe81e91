//! Whether a series has a trend: Theil-Sen slope and Mann-Kendall test, which are both robust to a
//! few outliers.
//!
//! Sources: Sen, "Estimates of the regression coefficient based on Kendall's tau" (1968); Kendall,
//! "Rank correlation methods" (1975); the correction of the variance for autocorrelation follows
//! the idea of Yue and Wang (2004) with a lag of one.
use crate::series::quantile::{median, quantile_in_place};

/// The trend of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change over the whole series along the fitted line, as a fraction of the median: 0.1 is a
    /// rise by 10 %.
    pub relative_change: f64,
    /// The Mann-Kendall statistic in standard deviations. Beyond 1.96 the trend is significant at 5
    /// %, beyond 2.58 at 1 %.
    pub z: f64,
}

/// The trend of equally spaced values; `None` with fewer than 4 values, if the median is not above
/// 0, or if a value is not finite.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < 4 || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let centre = median(values).filter(|centre| *centre > 0.0)?;
    let slope = sen_slope(values)?;
    Some(Trend {
        relative_change: slope * (values.len() - 1) as f64 / centre,
        z: mann_kendall_z(values, slope),
    })
}

fn pairs(values: &[f64]) -> impl Iterator<Item = (usize, usize)> {
    let n = values.len();
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

fn sen_slope(values: &[f64]) -> Option<f64> {
    let mut slopes: Vec<f64> =
        pairs(values).map(|(i, j)| (values[j] - values[i]) / (j - i) as f64).collect();
    quantile_in_place(&mut slopes, 0.5)
}

fn mann_kendall_z(values: &[f64], slope: f64) -> f64 {
    let n = values.len() as f64;
    let score: f64 = pairs(values).map(|(i, j)| sign(values[j] - values[i])).sum();
    let variance =
        (n * (n - 1.0) * (2.0 * n + 5.0) - tie_term(values)) / 18.0 * inflation(values, slope);
    if variance > 0.0 { (score - sign(score)) / variance.sqrt() } else { 0.0 }
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

fn tie_term(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
        .chunk_by(|a, b| a == b)
        .map(|ties| ties.len() as f64)
        .map(|t| t * (t - 1.0) * (2.0 * t + 5.0))
        .sum()
}

/// The factor by which positive autocorrelation of the detrended values inflates the variance:
/// `(1 + r) / (1 - r)`. After detrending, the estimate of r is too low by about (2 + 4 r) / n
/// (Kendall 1954). With fewer than 8 values, the correction would be larger than what it corrects.
fn inflation(values: &[f64], slope: f64) -> f64 {
    let n = values.len() as f64;
    let residuals: Vec<f64> =
        values.iter().enumerate().map(|(i, x)| x - slope * i as f64).collect();
    let r = lag_one_autocorrelation(&residuals);
    let r = if n < 8.0 { r } else { r + (2.0 + 4.0 * r) / n }.clamp(0.0, 0.9);
    (1.0 + r) / (1.0 - r)
}

/// The correlation of neighbouring values; 0 for a constant series.
pub(crate) fn lag_one_autocorrelation(values: &[f64]) -> f64 {
    let centre = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let square: f64 = values.iter().map(|x| (x - centre).powi(2)).sum();
    let product: f64 = values.windows(2).map(|w| (w[0] - centre) * (w[1] - centre)).sum();
    if square > 0.0 { product / square } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_has_its_slope() {
        let line: Vec<f64> = (0..11).map(|i| 95.0 + f64::from(i)).collect();
        let found = trend(&line).unwrap();
        assert!((found.relative_change - 0.1).abs() < 1e-12);
        assert!(found.z > 3.0);
    }

    #[test]
    fn one_outlier_makes_no_trend() {
        let mut flat = vec![100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1, 100.4, 99.6];
        flat[9] = 0.0;
        let found = trend(&flat).unwrap();
        assert!(found.relative_change.abs() < 0.01 && found.z.abs() < 1.96, "{found:?}");
    }

    #[test]
    fn what_cannot_be_told_is_none() {
        assert_eq!(trend(&[1.0, 2.0, 3.0]), None);
        assert_eq!(trend(&[0.0; 9]), None);
        assert_eq!(trend(&[1.0, 2.0, f64::NAN, 4.0, 5.0]), None);
        assert_eq!(trend(&[5.0; 9]).unwrap(), Trend { relative_change: 0.0, z: 0.0 });
    }
}
