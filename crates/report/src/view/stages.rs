//! The stages of a load whose rate, or whose number of users, changes by plan: a row for each.
use pippin_model::plan::profile::Profile;
use pippin_model::text::units::{format_count, format_whole};
use pippin_model::trial::TrialRecord;
use pippin_stats::series::within::Within;
use serde::{Deserialize, Serialize};

use crate::words;

/// A stage of one target, all repetitions together. It has the windows that lie within it as a whole;
/// a stage without one has no figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRow {
    /// How the load goes: `0 to 100 users`, `1,000 requests/s`.
    pub name: String,
    /// Where it begins, in seconds after the start of the measured part.
    pub from_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// Complete answers per second.
    pub throughput_per_s: Option<f64>,
    /// Complete and right answers per second.
    pub goodput_per_s: Option<f64>,
    /// Errors; null if no window lies within it.
    pub errors: Option<u64>,
    /// Median of the response time; the median of its seconds.
    pub response_p50_ns: Option<u64>,
    /// 99th percentile of the response time; the median of its seconds.
    pub response_p99_ns: Option<u64>,
}

impl StageRow {
    /// The titles of [`Self::cells`].
    pub const TITLES: [&'static str; 7] =
        ["stage", "s", "requests/s", "right/s", "errors", "p50", "p99"];

    /// Its figures in words.
    #[must_use]
    pub fn cells(&self) -> [String; 7] {
        [
            self.name.clone(),
            format_count(self.length_s),
            words::count(self.throughput_per_s),
            words::count(self.goodput_per_s),
            self.errors.map_or_else(|| words::UNKNOWN.into(), words::whole),
            words::ns(self.response_p50_ns),
            words::ns(self.response_p99_ns),
        ]
    }
}

/// The stages of these trials of one target, if there are several; an overload has rows of its own.
#[must_use]
pub fn from_trials(trials: &[&TrialRecord]) -> Vec<StageRow> {
    let Some(first) = trials.first() else { return Vec::new() };
    let stretches = stretches(&first.spec.profile);
    if stretches.len() < 2 {
        return Vec::new();
    }
    let mut from_ns = 0;
    let mut rows = Vec::new();
    for (name, length_ns) in stretches {
        rows.push(row(trials, name, (from_ns, length_ns)));
        from_ns += length_ns;
    }
    rows
}

/// The name of each stage, and its length in nanoseconds.
fn stretches(profile: &Profile) -> Vec<(String, u64)> {
    let between = |from: String, to: String, unit: &str| {
        if from == to { format!("{to} {unit}") } else { format!("{from} to {to} {unit}") }
    };
    if let Some(stages) = profile.schedule.user_stages() {
        let whole = |users: u32| format_whole(users.into());
        let each = stages.iter();
        return each
            .map(|it| (between(whole(it.from), whole(it.to), "users"), it.duration_ns))
            .collect();
    }
    let unit = format!("{}/s", profile.arrivals());
    let rates = profile.shape().filter(|_| !profile.is_overload()).unwrap_or_default().iter();
    let name = |from, to| between(format_count(from), format_count(to), &unit);
    rates.map(|it| (name(it.from_per_s, it.to_per_s), it.duration_ns)).collect()
}

fn row(trials: &[&TrialRecord], name: String, (from_ns, length_ns): (u64, u64)) -> StageRow {
    let loads = trials.iter().filter_map(|trial| trial.load.as_ref());
    let within = Within::from_loads(loads, from_ns, from_ns + length_ns);
    StageRow {
        name,
        from_s: from_ns as f64 / 1e9,
        length_s: length_ns as f64 / 1e9,
        throughput_per_s: within.per_s(|window| window.completed),
        goodput_per_s: within.per_s(|window| window.good),
        errors: within.sum(|window| window.errors),
        response_p50_ns: within.median(|window| window.response_p50_ns),
        response_p99_ns: within.median(|window| window.response_p99_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::Window;
    use pippin_model::schedule::users;

    const S: i64 = 1_000_000_000;

    fn window(from_ns: i64, completed: u64, p99_ns: u64) -> Window {
        Window {
            from_ns,
            duration_ns: S as u64,
            completed,
            good: completed - 1,
            errors: 1,
            response_p99_ns: Some(p99_ns),
            ..Window::default()
        }
    }

    /// 2.5 s, 2 s and half a second: the third second lies in two stages and counts in none.
    #[test]
    fn a_stage_has_the_seconds_that_lie_within_it() {
        let mut record = ExampleTrial::hello().build();
        let stages = users::parse("10@2500ms,10@2s,0@500ms").unwrap();
        record.spec.profile = Profile::users(stages, None);
        let seconds = [(100, 1), (200, 3), (900, 9), (400, 5), (900, 9)];
        record.load.as_mut().unwrap().windows =
            (0..).zip(seconds).map(|(nth, (count, ns))| window(nth * S, count, ns)).collect();
        let rows = from_trials(&[&record, &record]);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["0 to 10 users", "10 users", "10 to 0 users"]);
        let figures = |row: &StageRow| (row.throughput_per_s, row.goodput_per_s, row.errors);
        assert_eq!(figures(&rows[0]), (Some(150.0), Some(149.0), Some(4)));
        assert_eq!(figures(&rows[1]), (Some(400.0), Some(399.0), Some(2)));
        assert_eq!(figures(&rows[2]), (None, None, None), "no second lies within it");
        assert_eq!(
            rows.iter().map(|row| row.response_p99_ns).collect::<Vec<_>>(),
            [Some(2), Some(5), None,]
        );
    }

    #[test]
    fn one_stage_and_a_load_that_stays_have_no_rows() {
        let mut record = ExampleTrial::hello().build();
        assert_eq!(from_trials(&[&record]), []);
        record.spec.profile = Profile::users(users::parse("10@5s").unwrap(), None);
        assert_eq!(from_trials(&[&record]), []);
    }
}
