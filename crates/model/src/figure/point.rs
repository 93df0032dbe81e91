//! A point of a time span's distribution.
use std::fmt;

use crate::result::histogram::Histogram;

/// A point of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Point {
    /// The least value.
    Min,
    /// The arithmetic mean.
    Mean,
    /// The greatest value.
    Max,
    /// A quantile, from 0 to 1.
    Quantile(f64),
}

impl Point {
    /// The point of this name: `min`, `mean`, `max`, `p99`, `p99.9`; `None` if it is none.
    ///
    /// # Errors
    /// If it is a quantile outside of 0 to 100.
    pub fn named(name: &str) -> Result<Option<Self>, String> {
        Ok(Some(match name {
            "min" => Self::Min,
            "mean" => Self::Mean,
            "max" => Self::Max,
            _ => {
                let Some(percent) = name.strip_prefix('p').and_then(|p| p.parse::<f64>().ok())
                else {
                    return Ok(None);
                };
                if !(0.0..=100.0).contains(&percent) {
                    return Err(format!("`{name}` is not a quantile: give one between 0 and 100"));
                }
                Self::Quantile(percent / 100.0)
            }
        }))
    }

    /// This point of a histogram, in nanoseconds; `None` if it is empty.
    #[must_use]
    pub fn read(self, histogram: &Histogram) -> Option<f64> {
        let summary = || histogram.summary();
        match self {
            Self::Min => summary().min_ns.map(|ns| ns as f64),
            Self::Mean => summary().mean_ns,
            Self::Max => summary().max_ns.map(|ns| ns as f64),
            Self::Quantile(q) => histogram.quantile_ns(q).map(|ns| ns as f64),
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Min => f.write_str("min"),
            Self::Mean => f.write_str("mean"),
            Self::Max => f.write_str("max"),
            // Rounded, because a share such as 0.999 is no exact number.
            Self::Quantile(q) => write!(f, "p{}", (q * 1e8).round() / 1e6),
        }
    }
}
