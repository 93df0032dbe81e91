//! A scan: the figures of a parameter's values, in their order, with the knee of the curve.
use pippin_model::figure::{Better, RankedBy};
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Verdict;
use pippin_stats::interval::ratio::Ratio;
use pippin_stats::rank::RankInterval;
use pippin_stats::scalability::scan::{Compared, Shape, compared, shape};
use pippin_stats::summary::Estimate;
use serde::{Deserialize, Serialize};

use super::row::Row;
use crate::words;

/// The values of a parameter, compared within one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScanView {
    /// The parameter: `pool`.
    pub parameter: String,
    /// The value with which the others are compared: the first that was written.
    pub base: String,
    /// The value with the best median; `None` if none has a rank.
    pub best: Option<String>,
    /// The figure that is compared.
    pub ranked_by: RankedBy,
    /// The values: in ascending order if all are numbers, or else as they were written.
    pub points: Vec<Point>,
    /// Where the curve over the values bends. It is known of three numbers and more only.
    pub shape: CurveShape,
}

/// One value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The value as it was written.
    pub value: String,
    /// The value as a number; `None` if it is none.
    pub number: Option<f64>,
    /// The target with this value.
    pub target: TargetId,
    /// The best rank that is possible.
    pub rank: Option<u32>,
    /// The ranks that are possible.
    pub rank_interval: Option<RankInterval>,
    /// The figure that is compared: right answers per second, or nanoseconds.
    pub ranked: Option<Estimate>,
    /// That figure over the base's: within rounds, or by trials where loads were too short for them.
    pub to_base: Option<Ratio>,
    /// That figure over the best value's.
    pub to_best: Option<Ratio>,
    /// Right answers per second, median.
    pub goodput_per_s: Option<f64>,
    /// 99th percentile of the response time in nanoseconds, median.
    pub response_p99_ns: Option<f64>,
    /// CPU-seconds of a million complete answers, median.
    pub cpu_s_per_million: Option<f64>,
    /// The verdict; `None` without a trial.
    pub verdict: Option<Verdict>,
}

/// Where the curve over the values bends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CurveShape {
    /// It bends at one of the values.
    Knee {
        /// The first value from which no larger one is surely more than 10 % better.
        at: String,
        /// The first value from which every larger one is surely at most 10 % better. The knee lies
        /// between both.
        at_most: String,
        /// Whether `at_most` is the largest value with a result, and either is not `at` or larger values
        /// have none: nothing shows then that the knee does not lie beyond it.
        is_open: bool,
    },
    /// The largest value is surely more than 10 % better than every other.
    Rises {
        /// The largest value.
        at: String,
    },
    /// There are three numbers and more, and nobody can tell.
    Unknown,
    /// The values are no curve: some are not numbers, or fewer than three have a result that counts.
    NoCurve,
}

/// Fewest values that make a curve.
pub const FEWEST: usize = 3;

/// The view of a run's scan; `None` if it is none. `rows` are those of the run.
#[must_use]
pub fn from_record(record: &RunRecord, rows: &[Row]) -> Option<ScanView> {
    let scan = record.header.plan.scan.as_ref()?;
    let ranked_by = RankedBy::from_profile(&record.header.plan.profile);
    let mut points: Vec<Point> = scan
        .points
        .iter()
        .map(|one| {
            let row = rows.iter().find(|row| row.target == one.target);
            Point {
                value: one.value.clone(),
                number: one.number(),
                ..point(one.target.clone(), row)
            }
        })
        .collect();
    compare(&mut points, record, ranked_by);
    let best = best(&points, ranked_by).map(|place| points[place].value.clone());
    if points.iter().all(|point| point.number.is_some()) {
        points.sort_by(|a, b| a.number.partial_cmp(&b.number).unwrap_or(std::cmp::Ordering::Equal));
    }
    let shape = curve(&points, record, ranked_by);
    let base = scan.points.first().map(|first| first.value.clone()).unwrap_or_default();
    Some(ScanView { parameter: scan.parameter.clone(), base, best, ranked_by, points, shape })
}

fn point(target: TargetId, row: Option<&Row>) -> Point {
    let median = |figure: fn(&Row) -> Option<Estimate>| Some(figure(row?)?.median);
    Point {
        value: String::new(),
        number: None,
        target,
        rank: row.and_then(|row| row.standing.rank),
        rank_interval: row.and_then(|row| row.standing.rank_interval),
        ranked: row.and_then(|row| row.ranked),
        to_base: None,
        to_best: None,
        goodput_per_s: median(|row| row.goodput_per_s),
        response_p99_ns: median(|row| row.response_p99_ns),
        cpu_s_per_million: median(|row| row.cpu_s_per_million),
        verdict: row.and_then(|row| row.verdict),
    }
}

impl Point {
    /// Whether its figure counts: it has one, and is not INVALID.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.ranked.is_some() && self.verdict.is_some_and(|verdict| verdict != Verdict::Invalid)
    }

    fn trials<'a>(&self, record: &'a RunRecord) -> Vec<&'a TrialRecord> {
        record.trials.iter().filter(|trial| trial.spec.target == self.target).collect()
    }
}

/// The place of the best value that counts.
fn best(points: &[Point], by: RankedBy) -> Option<usize> {
    let median = |place: &usize| points[*place].ranked.map_or(0.0, |figure| figure.median);
    let places = (0..points.len()).filter(|place| points[*place].counts());
    match by.better() {
        // The first of equal ones.
        Better::More => places.rev().max_by(|a, b| median(a).total_cmp(&median(b))),
        Better::Less => places.min_by(|a, b| median(a).total_cmp(&median(b))),
    }
}

/// Fills in the ratios of the values that count.
fn compare(points: &mut [Point], record: &RunRecord, by: RankedBy) {
    let members: Vec<usize> = (0..points.len()).filter(|place| points[*place].counts()).collect();
    let trials: Vec<Vec<&TrialRecord>> =
        members.iter().map(|place| points[*place].trials(record)).collect();
    let own: Vec<&[&TrialRecord]> = trials.iter().map(Vec::as_slice).collect();
    let among = |wanted: usize| members.iter().position(|place| *place == wanted);
    let best = best(points, by).and_then(among);
    let Compared { to_base, to_best } = compared(&own, by, among(0), best);
    for ((place, to_base), to_best) in members.iter().zip(to_base).zip(to_best) {
        (points[*place].to_base, points[*place].to_best) = (to_base, to_best);
    }
}

fn curve(points: &[Point], record: &RunRecord, by: RankedBy) -> CurveShape {
    let members: Vec<&Point> = points.iter().filter(|point| point.counts()).collect();
    let is_curve = members.len() >= FEWEST && points.iter().all(|point| point.number.is_some());
    if !is_curve {
        return CurveShape::NoCurve;
    }
    let trials: Vec<Vec<&TrialRecord>> = members.iter().map(|it| it.trials(record)).collect();
    let own: Vec<&[&TrialRecord]> = trials.iter().map(Vec::as_slice).collect();
    let value = |place: usize| members[place].value.clone();
    let is_last_known = points.last().is_some_and(Point::counts);
    match shape(&own, by) {
        Shape::Knee { at, at_most } => CurveShape::Knee {
            at: value(at),
            at_most: value(at_most),
            is_open: at_most + 1 == members.len() && (at_most > at || !is_last_known),
        },
        Shape::Rises => CurveShape::Rises { at: value(members.len() - 1) },
        Shape::Unknown => CurveShape::Unknown,
    }
}

impl ScanView {
    /// The knee in a sentence; empty if the values are no curve.
    #[must_use]
    pub fn words(&self) -> String {
        let parameter = &self.parameter;
        let (better, rises) = match self.ranked_by {
            RankedBy::Goodput => {
                ("is shown to bring more than 10 % more requests/s", "requests/s still rise")
            }
            RankedBy::ResponseP99 => {
                ("is shown to make the p99 more than 9 % lower", "the p99 still falls")
            }
        };
        let without = self.without_result();
        match &self.shape {
            CurveShape::Knee { at, at_most, is_open } => {
                let or_more = if *is_open { " or more" } else { "" };
                let within = match at == at_most {
                    true if !is_open => String::new(),
                    true => format!(" ({at}{or_more})"),
                    false => format!(" ({at} to {at_most}{or_more})"),
                };
                format!("Knee at {parameter}={at}{within}: no larger value {better}.{without}")
            }
            CurveShape::Rises { at } => words::capital(&format!(
                "{rises} at {parameter}={at}, the largest value{}: larger ones may bring more.{without}",
                if without.is_empty() { "" } else { " with a result" }
            )),
            CurveShape::Unknown => format!(
                "This run cannot tell where the curve bends: its repetitions scatter too much, or there are too few.{without}"
            ),
            CurveShape::NoCurve => String::new(),
        }
    }

    /// The values of which nothing is said, in a sentence; empty if there are none.
    fn without_result(&self) -> String {
        let values: Vec<&str> =
            self.points.iter().filter(|it| !it.counts()).map(|it| it.value.as_str()).collect();
        if values.is_empty() {
            return String::new();
        }
        format!(" Without a result that counts: {}={}.", self.parameter, values.join(", "))
    }

    /// The titles of [`Self::cells`].
    #[must_use]
    pub fn titles(&self) -> Vec<String> {
        let best = self.best.as_ref().map_or_else(String::new, |best| format!(" {best}"));
        let (figure, other) = match self.ranked_by {
            RankedBy::Goodput => ("requests/s", "p99"),
            RankedBy::ResponseP99 => ("p99", "requests/s"),
        };
        vec![
            self.parameter.clone(),
            "rank".into(),
            figure.into(),
            "95 % interval".into(),
            format!("ratio to {}", self.base),
            format!("ratio to{best}, the best"),
            other.into(),
            "CPU per request".into(),
            "verdict".into(),
        ]
    }

    /// The cells of a value.
    #[must_use]
    pub fn cells(&self, point: &Point) -> Vec<String> {
        let figure = |value: Option<f64>| match self.ranked_by {
            RankedBy::Goodput => words::count(value),
            RankedBy::ResponseP99 => words::ns_f(value),
        };
        let within = point.ranked.and_then(|figure| figure.interval).map_or_else(
            || words::UNKNOWN.into(),
            |it| format!("{} to {}", figure(Some(it.low)), figure(Some(it.high))),
        );
        let times = |ratio: &Option<Ratio>, is_own: bool| match ratio {
            _ if is_own => "1".into(),
            Some(ratio) => words::ratio_within(ratio),
            None => words::UNKNOWN.into(),
        };
        vec![
            point.value.clone(),
            words::rank(point.rank, point.rank_interval),
            figure(point.ranked.map(|figure| figure.median)),
            within,
            times(&point.to_base, point.value == self.base && point.counts()),
            times(&point.to_best, Some(&point.value) == self.best.as_ref()),
            match self.ranked_by {
                RankedBy::Goodput => words::ns_f(point.response_p99_ns),
                RankedBy::ResponseP99 => words::count(point.goodput_per_s),
            },
            words::cpu_a_request(point.cpu_s_per_million),
            point.verdict.map_or_else(|| "no result".into(), |verdict| verdict.to_string()),
        ]
    }

    /// The side of a target in words: `pool=20`.
    #[must_use]
    pub fn side(&self, target: &TargetId) -> String {
        let point = self.points.iter().find(|point| point.target == *target);
        point.map_or_else(|| target.to_string(), |it| format!("{}={}", self.parameter, it.value))
    }

    /// The target with the best value; `None` if none has a rank.
    #[must_use]
    pub fn best_target(&self) -> Option<&TargetId> {
        let best = self.points.iter().find(|point| Some(&point.value) == self.best.as_ref());
        best.map(|point| &point.target)
    }

    /// Whether the values are a curve that can be drawn.
    #[must_use]
    pub fn is_curve(&self) -> bool {
        self.shape != CurveShape::NoCurve
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;
    use pippin_model::example::run as example;
    use pippin_model::example::slices::Rounds;
    use pippin_model::plan::scan::Values;

    /// A server with so many slots of 100 requests/s each, under eight users.
    fn scanned(values: &str, per_s: impl Fn(&str) -> f64) -> ScanView {
        view(values, per_s).scan.unwrap()
    }

    fn view(values: &str, per_s: impl Fn(&str) -> f64) -> View {
        View::of(&example::scanned(&Values::parse(values).unwrap(), &Rounds::default(), per_s))
    }

    fn slots(value: &str) -> f64 {
        100.0 * value.parse::<f64>().unwrap().min(8.0)
    }

    #[test]
    fn values_are_in_ascending_order_and_compared_with_the_first_that_was_written() {
        let scan = scanned("pool=4,1,16,8,2", slots);
        let values: Vec<&str> = scan.points.iter().map(|point| point.value.as_str()).collect();
        assert_eq!(values, ["1", "2", "4", "8", "16"]);
        assert_eq!((scan.base.as_str(), scan.points[2].to_base), ("4", None));
        let ratio = scan.points[0].to_base.unwrap();
        assert!(ratio.interval.covers(0.25), "{ratio:?}");
        assert_eq!(
            scan.shape,
            CurveShape::Knee { at: "8".into(), at_most: "8".into(), is_open: false }
        );
        assert_eq!(
            scan.words(),
            "Knee at pool=8: no larger value is shown to bring more than 10 % more requests/s."
        );
        let ranks: Vec<String> =
            scan.points.iter().map(|it| words::rank(it.rank, it.rank_interval)).collect();
        assert_eq!(ranks[..3], ["5", "4", "3"], "{ranks:?}");
        assert_eq!(scan.cells(&scan.points[2])[4], "1");
    }

    #[test]
    fn a_curve_that_rises_and_values_that_are_none() {
        let scan = scanned("pool=1,2,4", slots);
        assert_eq!(
            scan.words(),
            "Requests/s still rise at pool=4, the largest value: larger ones may bring more."
        );
        for no_curve in ["pool=1,2", "mode=b,a,c"] {
            let scan = scanned(no_curve, |value| value.parse().unwrap_or(7.0) * 100.0);
            assert_eq!((scan.shape.clone(), scan.words()), (CurveShape::NoCurve, String::new()));
            let first = no_curve.split_once('=').unwrap().1.split(',').next().unwrap();
            assert_eq!(scan.points[0].value, first, "as they were written");
        }
    }

    #[test]
    fn a_value_without_a_result_is_named_and_nothing_is_said_of_it() {
        let mut record =
            example::scanned(&Values::parse("pool=1,2,4,8,16").unwrap(), &Rounds::default(), slots);
        record.trials.retain(|trial| trial.spec.target.revision() != Some("pool=16"));
        let words = View::of(&record).scan.unwrap().words();
        assert_eq!(
            words,
            "Requests/s still rise at pool=8, the largest value with a result: larger ones may bring more. Without a result that counts: pool=16."
        );
        record.trials.retain(|trial| trial.spec.target.revision() != Some("pool=8"));
        let words = View::of(&record).scan.unwrap().words();
        assert!(words.ends_with("counts: pool=8, 16."), "{words}");
    }

    #[test]
    fn an_open_end_is_said() {
        let shape = CurveShape::Knee { at: "4".into(), at_most: "8".into(), is_open: true };
        let scan = ScanView { shape, ..scanned("pool=1,2,4,8", slots) };
        assert!(
            scan.words().starts_with("Knee at pool=4 (4 to 8 or more): no"),
            "{}",
            scan.words()
        );
    }

    #[test]
    fn the_run_says_it_first_and_the_record_keeps_it() {
        let view = view("pool=1,2,4,8,16,32", slots);
        assert!(view.conclusion.starts_with("Knee at pool=8: "), "{}", view.conclusion);
        let again: View = serde_json::from_value(serde_json::to_value(&view).unwrap()).unwrap();
        assert_eq!(again.scan, view.scan);
    }
}
