//! Whether memory and descriptors of a process stay constant.
use pippin_stats::series::quantile::median;
use pippin_stats::series::trend::trend;
use serde::Serialize;

/// The first part of a series is left out: threads, connections and buffers are still being
/// created.
const BEGINNING: f64 = 0.2;
/// Standard deviations beyond which a trend is significant at 1 %.
const SIGNIFICANT: f64 = 2.576;
/// A load keeps a window for each second and samples of processes, so this growth per second is not
/// a leak.
const MOST_BYTES_A_SECOND: f64 = 16.0 * 1024.0;
/// Up to this many descriptors may come and go.
const FEW_DESCRIPTORS: u64 = 8;

/// One look at a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Look {
    /// Milliseconds since the first look.
    pub at_ms: u64,
    /// Resident memory.
    pub rss_bytes: u64,
    /// Open descriptors.
    pub descriptors: u64,
}

/// The result of a series of looks, without its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Flatness {
    pub looks: usize,
    pub rss_first_bytes: u64,
    pub rss_last_bytes: u64,
    pub rss_most_bytes: u64,
    /// The slope of the fitted line (Theil and Sen).
    pub bytes_a_second: f64,
    /// The trend in standard deviations (Mann and Kendall).
    pub z: f64,
    /// The highest number of open descriptors in the first third and in the last.
    pub descriptors: (u64, u64),
    /// Whether neither grows.
    pub is_flat: bool,
}

/// `None` for fewer than ten looks.
pub fn from_looks(looks: &[Look]) -> Option<Flatness> {
    let looks = &looks[(looks.len() as f64 * BEGINNING) as usize..];
    let (first, last) = (looks.first()?, looks.last()?);
    let seconds = (last.at_ms - first.at_ms) as f64 / 1e3;
    if looks.len() < 10 || seconds <= 0.0 {
        return None;
    }
    let sizes: Vec<f64> = looks.iter().map(|look| look.rss_bytes as f64).collect();
    let found = trend(&sizes)?;
    let bytes_a_second = found.relative_change * median(&sizes)? / seconds;
    let most = |part: &[Look]| part.iter().map(|look| look.descriptors).max().unwrap_or(0);
    let third = looks.len() / 3;
    let descriptors = (most(&looks[..third]), most(&looks[looks.len() - third..]));
    let grows = found.z > SIGNIFICANT && bytes_a_second > MOST_BYTES_A_SECOND;
    Some(Flatness {
        looks: looks.len(),
        rss_first_bytes: first.rss_bytes,
        rss_last_bytes: last.rss_bytes,
        rss_most_bytes: looks.iter().map(|look| look.rss_bytes).max().unwrap_or(0),
        bytes_a_second,
        z: found.z,
        descriptors,
        is_flat: !grows && descriptors.1 <= descriptors.0 + FEW_DESCRIPTORS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rss: impl Fn(u64) -> u64, descriptors: impl Fn(u64) -> u64) -> Vec<Look> {
        let look =
            |at| Look { at_ms: at * 1_000, rss_bytes: rss(at), descriptors: descriptors(at) };
        (0..200).map(look).collect()
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_fills_up_and_stays_is_flat() {
        let fills = series(|at| 50 * MIB + at.min(30) * MIB + at % 7 * 4096, |at| 20 + at % 5);
        let found = from_looks(&fills).unwrap();
        assert!(found.is_flat, "{found:?}");
        // The growth from one window each second.
        assert!(from_looks(&series(|at| 50 * MIB + at * 4096, |_| 20)).unwrap().is_flat);
    }

    #[test]
    fn a_leak_of_memory_or_descriptors_is_seen() {
        let leaks = from_looks(&series(|at| 50 * MIB + at * 64 * 1024, |_| 20)).unwrap();
        assert!(!leaks.is_flat && (leaks.bytes_a_second - 65_536.0).abs() < 1.0, "{leaks:?}");
        let opens = from_looks(&series(|_| 50 * MIB, |at| 20 + at / 10)).unwrap();
        assert!(!opens.is_flat, "{opens:?}");
    }

    #[test]
    fn a_few_looks_say_nothing() {
        assert_eq!(from_looks(&series(|_| MIB, |_| 1)[..9]), None);
    }
}
