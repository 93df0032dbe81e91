//! What each of several rates cost a target, as text: the same cells in every form.
use pippin_model::verdict::Verdict;
use pippin_stats::scalability::ladder::Ladder;

use super::sweep::{Point, Sweep};
use crate::words;

/// The cells of one line.
pub struct RateCells(pub [String; 8]);

impl RateCells {
    /// What the cells are.
    pub const TITLES: [&str; 8] =
        ["offered/s", "right/s", "achieved", "p50", "p99", "CPU", "CPU per request", "memory"];

    /// A line for the use at no load, and one for each rate.
    pub fn all(sweep: &Sweep, ladder: &Ladder) -> impl Iterator<Item = Self> {
        let points: Vec<Self> = sweep.points.iter().map(Self::from_point).collect();
        std::iter::once(Self::at_rest(ladder)).chain(points)
    }

    fn at_rest(ladder: &Ladder) -> Self {
        let none = String::new;
        Self([
            "0".into(),
            none(),
            none(),
            none(),
            none(),
            cpu(ladder.rest_cores),
            none(),
            words::bytes(ladder.rest_memory_bytes.map(|bytes| bytes as u64)),
        ])
    }

    fn from_point(point: &Point) -> Self {
        let times = &point.response_time;
        let right = words::count(point.goodput_per_s);
        let doubt = match point.verdict {
            Verdict::Valid => String::new(),
            other => format!(" {other}"),
        };
        Self([
            words::count(Some(point.at.size())),
            format!("{right}{doubt}"),
            point.achieved.map_or_else(|| words::UNKNOWN.into(), words::percent),
            words::ns(times.p50_ns),
            words::ns(times.p99_ns),
            cpu(point.target_cores),
            words::cpu_a_request(point.cpu_s_per_million),
            words::bytes(point.memory_bytes.map(|bytes| bytes as u64)),
        ])
    }
}

/// Processors kept busy. Low rates and no load use less than 1 % of one, which is what is asked
/// here.
fn cpu(cores: Option<f64>) -> String {
    cores.map_or_else(|| words::UNKNOWN.into(), words::percent)
}
