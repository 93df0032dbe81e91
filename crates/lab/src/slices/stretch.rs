//! What the host did, over a stretch that is long enough. Its counters have ticks of 10 ms, too
//! coarse for a short slice.
use pippin_model::trial::slice::SliceHost;
use std::collections::VecDeque;

/// A stretch lasts at least so long: on two processors a tick is then 1.25 % of it.
const LEAST_NS: u64 = 400_000_000;

/// The newest slices of a group, whoever was measured in them.
#[derive(Debug, Default)]
pub struct Stretch {
    slices: VecDeque<(SliceHost, u64)>,
}

impl Stretch {
    /// Adds a slice of `length_ns`. Returns what the host did in it and in the slices before it,
    /// over 0.4 s together. Values that are unknown for the slice itself stay unknown.
    pub fn with(&mut self, own: SliceHost, length_ns: u64) -> SliceHost {
        self.slices.push_back((own, length_ns));
        let all_ns =
            |slices: &VecDeque<(SliceHost, u64)>| -> u64 { slices.iter().map(|(_, ns)| ns).sum() };
        while let Some((_, oldest_ns)) = self.slices.front()
            && all_ns(&self.slices) - oldest_ns >= LEAST_NS
        {
            self.slices.pop_front();
        }
        SliceHost {
            steal: self.mean(|host| host.steal),
            others: self.mean(|host| host.others),
            kernel_network: self.mean(|host| host.kernel_network),
            waiting: self.mean(|host| host.waiting),
        }
    }

    /// The mean over the time of those of which it is known; `None` if it is unknown of the newest.
    fn mean(&self, figure: impl Fn(&SliceHost) -> Option<f64>) -> Option<f64> {
        figure(&self.slices.back()?.0)?;
        let known =
            || self.slices.iter().filter_map(|(host, ns)| Some((figure(host)?, *ns as f64)));
        let all: f64 = known().map(|(_, ns)| ns).sum();
        (all > 0.0).then(|| known().map(|(share, ns)| share * ns).sum::<f64>() / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn steal(share: f64) -> SliceHost {
        SliceHost { steal: Some(share), ..SliceHost::default() }
    }

    #[test]
    fn short_slices_are_judged_with_those_before_them() {
        let mut stretch = Stretch::default();
        let shares: Vec<f64> = [0.0, 0.08, 0.0, 0.0, 0.0, 0.0]
            .into_iter()
            .map(|share| stretch.with(steal(share), 100 * MS).steal.unwrap())
            .collect();
        for (found, wanted) in shares.iter().zip([0.0, 0.04, 0.08 / 3.0, 0.02, 0.02, 0.0]) {
            assert!((found - wanted).abs() < 1e-9, "{shares:?}");
        }
    }

    #[test]
    fn a_long_slice_is_judged_by_itself_and_the_unknown_stays_so() {
        let mut stretch = Stretch::default();
        stretch.with(steal(0.5), 400 * MS);
        assert_eq!(stretch.with(steal(0.1), 400 * MS).steal, Some(0.1));
        assert_eq!(stretch.with(SliceHost::default(), 100 * MS), SliceHost::default());
    }
}
