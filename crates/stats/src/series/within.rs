//! The windows of a stretch of time, in one load or in several.
use pippin_model::result::{LoadResult, Window};

use super::quantile::median;

/// The windows that lie as a whole within a stretch of time.
#[derive(Debug, Clone)]
pub struct Within<'a> {
    /// The windows, load by load.
    pub windows: Vec<&'a Window>,
}

impl<'a> Within<'a> {
    /// Those of these loads between two instants, nanoseconds after the start of the measured part.
    pub fn from_loads(
        loads: impl IntoIterator<Item = &'a LoadResult>,
        from_ns: u64,
        to_ns: u64,
    ) -> Self {
        let bounds = from_ns as i64..to_ns as i64;
        let lies_within = |window: &&Window| {
            let end = window.from_ns + window.duration_ns as i64;
            bounds.contains(&window.from_ns) && end <= bounds.end
        };
        let windows = loads.into_iter().flat_map(|load| &load.windows);
        Self { windows: windows.filter(lies_within).collect() }
    }

    /// How much of something there is in all of them; `None` without a window.
    #[must_use]
    pub fn sum(&self, count: fn(&Window) -> u64) -> Option<u64> {
        (!self.windows.is_empty()).then(|| self.windows.iter().map(|window| count(window)).sum())
    }

    /// How much of it there is per second; `None` if they last no time.
    #[must_use]
    pub fn per_s(&self, count: fn(&Window) -> u64) -> Option<f64> {
        let seconds = self.sum(|window| window.duration_ns)? as f64 / 1e9;
        (seconds > 0.0).then_some(self.sum(count)? as f64 / seconds)
    }

    /// The median of a time over the windows that have it, nanoseconds.
    #[must_use]
    pub fn median(&self, figure: fn(&Window) -> Option<u64>) -> Option<u64> {
        let values: Vec<f64> =
            self.windows.iter().filter_map(|window| figure(window)).map(|ns| ns as f64).collect();
        median(&values).map(|ns| ns as u64)
    }
}
