//! Two order statistics that bound a median.
//!
//! The median of n independent values lies between the k-th lowest and the k-th highest with a chance
//! that follows from the binomial distribution alone (David and Nagaraja, "Order statistics", 2003,
//! section 7.1).

/// Fewest values that bound a median with 95 %: `1 - 2 / 2^6` is 96.9 %.
pub const FEWEST: usize = 6;
/// The chance that the interval misses.
const MISS: f64 = 0.05;

/// The narrowest such pair that holds the median of independent values in at least 95 % of cases; `None`
/// with fewer than [`FEWEST`]. The values are left in order.
#[must_use]
pub fn median_bounds(values: &mut [f64]) -> Option<(f64, f64)> {
    let n = values.len();
    if n < FEWEST {
        return None;
    }
    values.sort_by(f64::total_cmp);
    // The chance that at most `below` of n values lie on one side of the median.
    let (mut term, mut tail, mut below) = (0.5_f64.powi(n as i32), 0.0, 0);
    while 2.0 * (tail + term) <= MISS && below < n / 2 {
        tail += term;
        below += 1;
        term *= (n - below + 1) as f64 / below as f64;
    }
    Some((values[below - 1], values[n - below]))
}

#[cfg(test)]
mod tests {
    use super::median_bounds;

    #[test]
    fn ten_values_are_bound_by_the_second_and_the_ninth() {
        let values = [5.0, 1.0, 9.0, 3.0, 7.0, 2.0, 10.0, 4.0, 8.0, 6.0];
        assert_eq!(median_bounds(&mut values.clone()), Some((2.0, 9.0)));
        assert_eq!(median_bounds(&mut [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Some((1.0, 6.0)));
        assert_eq!(median_bounds(&mut [1.0; 5]), None);
    }
}
