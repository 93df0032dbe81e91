//! Special functions behind p-values and moderated variances.

/// The natural logarithm of the gamma function for `x` above 0: Stirling's series, after the
/// recurrence has raised `x` to at least 8 (NIST DLMF 5.5.1, 5.11.1). Its error is below 1e-10.
pub(crate) fn ln_gamma(mut x: f64) -> f64 {
    let mut raised = 0.0;
    while x < 8.0 {
        raised += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1_260.0 - square / 1_680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - raised
}

/// The derivative of [`ln_gamma`] (NIST DLMF 5.5.2, 5.11.2).
pub(crate) fn digamma(mut x: f64) -> f64 {
    let mut raised = 0.0;
    while x < 8.0 {
        raised += 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    x.ln() - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0)) - raised
}

/// The derivative of [`digamma`] (NIST DLMF 5.15.1, 5.15.8).
pub(crate) fn trigamma(mut x: f64) -> f64 {
    let mut raised = 0.0;
    while x < 8.0 {
        raised += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    raised
        + 1.0 / x
        + 0.5 * square
        + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// The regularised incomplete beta function `I_x(a, b)` for `a` and `b` above 0, by its continued
/// fraction (NIST DLMF 8.17.22), evaluated with Lentz's method.
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast on this side only (8.17.4 gives the other).
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    front / continued_fraction(a, b, x)
}

fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const TERMS: u32 = 300;
    let (mut value, mut above, mut below) = (1.0_f64, 1.0_f64, 0.0_f64);
    for term in 1..TERMS {
        let m = f64::from(term / 2);
        let coefficient = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        below = 1.0 / non_zero(1.0 + coefficient * below, TINY);
        above = non_zero(1.0 + coefficient / above, TINY);
        value *= above * below;
        if (above * below - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

fn non_zero(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, want: f64) {
        assert!((found - want).abs() < 1e-9 * (1.0 + want.abs()), "{found} for {want}");
    }

    #[test]
    fn known_values() {
        near(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln());
        near(ln_gamma(11.0), 3_628_800.0_f64.ln());
        near(digamma(1.0), -0.577_215_664_901_533);
        near(trigamma(1.0), std::f64::consts::PI.powi(2) / 6.0);
        near(trigamma(0.5), std::f64::consts::PI.powi(2) / 2.0);
    }

    #[test]
    fn the_beta_function_has_its_closed_forms() {
        near(incomplete_beta(1.0, 1.0, 0.3), 0.3);
        near(incomplete_beta(2.0, 1.0, 0.3), 0.09);
        near(incomplete_beta(1.0, 3.0, 0.2), 1.0 - 0.8_f64.powi(3));
        near(incomplete_beta(0.5, 0.5, 0.25), 2.0 / std::f64::consts::PI * 0.5_f64.asin());
        near(incomplete_beta(4.0, 4.0, 0.5), 0.5);
        assert_eq!((incomplete_beta(2.0, 3.0, 0.0), incomplete_beta(2.0, 3.0, 1.0)), (0.0, 1.0));
    }
}
