//! Which part of a load each agent takes.
use pippin_model::load::Part;

/// The part of the agent with the highest ceiling has this width, so shares are exact to a
/// hundredth of it.
const WIDEST: f64 = 100.0;

/// The parts of agents with these ceilings, in requests per second: proportional to them if all are
/// known, otherwise equal.
#[must_use]
pub fn parts(ceilings: &[Option<f64>]) -> Vec<Part> {
    let known: Vec<f64> = ceilings.iter().flatten().copied().filter(|rate| *rate > 0.0).collect();
    let most = known.iter().copied().fold(0.0, f64::max);
    let is_even = known.len() < ceilings.len()
        || known.iter().all(|rate| (rate / most * WIDEST).round() >= WIDEST);
    let width = |rate: f64| (rate / most * WIDEST).round().max(1.0) as u32;
    let widths: Vec<u32> = if is_even {
        vec![1; ceilings.len()]
    } else {
        known.iter().map(|rate| width(*rate)).collect()
    };
    let of = widths.iter().sum();
    let mut next = 0;
    let part = |width: u32| {
        let nth = next;
        next += width;
        Part { nth, width, of }
    };
    widths.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_decide_and_unknown_ones_make_all_equal() {
        let widths = |ceilings: &[Option<f64>]| -> Vec<(u32, u32)> {
            parts(ceilings).iter().map(|part| (part.width, part.of)).collect()
        };
        assert_eq!(widths(&[Some(2e5), Some(1e5)]), [(100, 150), (50, 150)]);
        assert_eq!(widths(&[Some(2e5), Some(2e5)]), [(1, 2), (1, 2)]);
        assert_eq!(widths(&[Some(2e5), None, Some(1e5)]), [(1, 3), (1, 3), (1, 3)]);
        assert_eq!(widths(&[Some(2e5), Some(1.0)]), [(100, 101), (1, 101)]);
        let parts = parts(&[Some(3e4), Some(1e5), Some(7e4)]);
        assert_eq!(parts.iter().map(|part| part.share(2_000)).sum::<u64>(), 2_000);
        assert_eq!(parts.iter().map(|part| part.share(20)).collect::<Vec<_>>(), [3, 10, 7]);
    }
}
