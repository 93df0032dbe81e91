//! Student's t: the 97.5 % quantile, which widens intervals of few observations, and p-values.
use crate::interval::special::incomplete_beta;

/// Degrees of freedom and quantile (Abramowitz and Stegun 1964, table 26.10).
const TABLE: [(f64, f64); 17] = [
    (1.0, 12.706),
    (1.25, 8.028),
    (1.5, 6.017),
    (2.0, 4.303),
    (2.5, 3.575),
    (3.0, 3.182),
    (4.0, 2.776),
    (5.0, 2.571),
    (6.0, 2.447),
    (7.0, 2.365),
    (8.0, 2.306),
    (10.0, 2.228),
    (12.0, 2.179),
    (15.0, 2.131),
    (20.0, 2.086),
    (30.0, 2.042),
    (60.0, 2.000),
];

/// The 97.5 % quantile of the normal distribution.
pub(crate) const NORMAL_975: f64 = 1.959_964;

/// The 97.5 % quantile of Student's t for any number of degrees of freedom from 1 on, interpolated
/// in 1/df.
pub(crate) fn t_975(degrees: f64) -> f64 {
    let degrees = degrees.max(1.0);
    let above = TABLE.partition_point(|(df, _)| *df < degrees);
    let (high_df, high_t) = TABLE.get(above).map_or((f64::INFINITY, NORMAL_975), |row| *row);
    let (low_df, low_t) = TABLE[above.saturating_sub(1)];
    if high_df == low_df {
        return high_t;
    }
    let share = (1.0 / low_df - 1.0 / degrees) / (1.0 / low_df - 1.0 / high_df);
    low_t + share * (high_t - low_t)
}

/// How likely chance alone gives a value of t at least this far from 0, on either side (Abramowitz
/// and Stegun 1964, 26.7.1).
pub(crate) fn two_sided_p(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The value of t that chance alone exceeds on either side with this probability, from 1 degree of freedom
/// on.
pub(crate) fn t_at(two_sided: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e4);
    // Enough halvings for all digits of a double.
    for _ in 0..70 {
        let middle = f64::midpoint(low, high);
        if two_sided_p(middle, degrees) > two_sided {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_p_value_of_the_quantile_is_five_percent() {
        for (df, t) in TABLE {
            assert!((two_sided_p(t, df) - 0.05).abs() < 1e-3, "{df}: {}", two_sided_p(t, df));
        }
        assert!((two_sided_p(1.0, 1.0) - 0.5).abs() < 1e-9);
        assert_eq!(two_sided_p(0.0, 3.0), 1.0);
    }

    #[test]
    fn a_quantile_is_where_its_p_value_is() {
        for (df, t) in TABLE {
            let found = t_at(0.05, df);
            assert!((found / t - 1.0).abs() < 0.01, "{df}: {found}");
            assert!((two_sided_p(found, df) - 0.05).abs() < 1e-9, "{df}: {found}");
        }
        assert!((t_at(0.2, 4.0) - 1.533).abs() < 1e-3, "{}", t_at(0.2, 4.0));
    }

    #[test]
    fn the_table_and_what_lies_between() {
        for (df, want, tolerance) in [
            (1.0, 12.706, 1e-9),
            (2.0, 4.303, 1e-9),
            (9.0, 2.262, 0.005),
            (25.0, 2.060, 0.005),
            (120.0, 1.980, 0.005),
            (1e9, 1.96, 0.001),
        ] {
            assert!((t_975(df) - want).abs() < tolerance, "{df}: {}", t_975(df));
        }
        assert_eq!(t_975(0.1), 12.706);
    }
}
