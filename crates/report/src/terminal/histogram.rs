//! A distribution as a few bars of text.
use crate::view::curve::Bin;

/// The maximum number of bars.
const BARS: usize = 8;
/// The widest bar, in columns.
pub const WIDTH: usize = 24;
/// The fraction of the slowest requests that share the last bar. Otherwise a long tail would
/// squeeze all others into one bar.
const TAIL: f64 = 0.005;

/// The requests from one value to that of the next bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The lower end, in nanoseconds.
    pub from_ns: f64,
    /// The fraction of all requests in it.
    pub fraction: f64,
}

/// Joins neighbouring bins, so that there are few bars. Everything slower than the last edge is in
/// the last bar.
pub fn bars(bins: &[Bin]) -> Vec<Bar> {
    let mut below = 0.0;
    let body = bins
        .iter()
        .take_while(|bin| {
            let is_body = below < 1.0 - TAIL;
            below += bin.fraction;
            is_body
        })
        .count();
    let (body, tail) = bins.split_at(body);
    let together = body.len().div_ceil(BARS - 1).max(1);
    let bar = |bins: &[Bin]| Bar {
        from_ns: bins[0].from_ns,
        fraction: bins.iter().map(|bin| bin.fraction).sum(),
    };
    let mut bars: Vec<Bar> = body.chunks(together).map(bar).collect();
    bars.extend(Some(tail).filter(|tail| !tail.is_empty()).map(bar));
    bars
}

/// A bar of this length, from 0 to 1, in at most so many columns.
pub fn drawn(length: f64, room: usize) -> String {
    let columns = (length.clamp(0.0, 1.0) * room as f64).round() as usize;
    if columns == 0 && length > 0.0 { "▏".into() } else { "█".repeat(columns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(fractions: &[f64]) -> Vec<Bin> {
        let bin = |(place, fraction): (usize, &f64)| {
            let from_ns = 10f64.powi(place as i32);
            Bin { from_ns, to_ns: from_ns * 10.0, fraction: *fraction }
        };
        fractions.iter().enumerate().map(bin).collect()
    }

    #[test]
    fn nothing_is_lost_and_the_tail_is_one_bar() {
        let all = bins(&[0.4, 0.3, 0.2, 0.096, 0.001, 0.0, 0.0, 0.002, 0.0, 0.001]);
        let found = bars(&all);
        assert!((found.iter().map(|bar| bar.fraction).sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(found.len(), 5, "{found:?}");
        assert!((found[4].fraction - 0.004).abs() < 1e-9 && found[4].from_ns == 1e4);
    }

    #[test]
    fn many_bins_are_few_bars_and_none_are_none() {
        assert_eq!(bars(&bins(&[0.025; 40])).len(), 7);
        assert_eq!(bars(&[]), []);
    }

    #[test]
    fn what_is_there_is_seen() {
        assert_eq!(drawn(0.0, WIDTH), "");
        assert_eq!(drawn(0.001, WIDTH), "▏");
        assert_eq!(drawn(1.0, WIDTH).chars().count(), 24);
        assert_eq!(drawn(0.5, 10).chars().count(), 5);
    }
}
