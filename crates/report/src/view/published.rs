//! Published figures beside your own, both as ratios to the same reference target.
use pippin_model::plan::published::{Published, PublishedRow, PublishedValue};
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::Verdict;
use pippin_stats::series::quantile::median;
use serde::{Deserialize, Serialize};

use super::published_column;
use super::row::Row;
use crate::words;

/// A published table beside your own figures. The JSON keys are those of schema 1, which used the
/// word `printed` ([why](../../../../docs/decisions/published.md)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedTable {
    /// What was measured there, where and how.
    pub notes: Vec<String>,
    /// What differs between the published experiment and the plan.
    pub differs: Vec<String>,
    /// The target to which ratios are taken; `None` if there are no ratios.
    pub reference: Option<String>,
    /// Its name in the published table.
    #[serde(rename = "reference_printed")]
    pub reference_name: Option<String>,
    /// The published column that is compared: `requests_per_s`.
    pub column: String,
    /// All published columns but the rows' names, in their order.
    pub columns: Vec<String>,
    /// The published rows.
    pub rows: Vec<PublishedComparison>,
}

impl PublishedTable {
    /// The columns beside the headline: their titles, and up to two lines for each row, what was published
    /// and your own figures. Remarks in words are left out. `None` if there is nothing else.
    #[must_use]
    pub fn other_columns(&self) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        let is_shown = |nth: &usize| {
            let mut of_rows = self.rows.iter().filter_map(|row| row.cells[*nth].published.as_ref());
            let is_remark = of_rows.all(|value| matches!(value, PublishedValue::Words(_)));
            !is_remark && self.columns[*nth] != self.column
        };
        let shown: Vec<usize> = (0..self.columns.len()).filter(is_shown).collect();
        let titles = shown.iter().map(|nth| published_column::title(&self.columns[*nth]));
        let titles = ["name".into(), "figures".into()].into_iter().chain(titles).collect();
        let line =
            |row: &PublishedComparison, whose: &str, of: &dyn Fn(&PublishedCell) -> String| {
                let cells = shown.iter().map(|nth| of(&row.cells[*nth]));
                [row.name.clone(), whose.into()].into_iter().chain(cells).collect()
            };
        let lines = self.rows.iter().flat_map(|row| {
            [
                line(row, "published", &|cell| in_words(cell.published.as_ref())),
                line(row, "here", &|cell| words::count(cell.own)),
            ]
        });
        let says_something =
            |line: &Vec<String>| line.iter().skip(2).any(|cell| cell != words::UNKNOWN);
        let lines: Vec<Vec<String>> = lines.filter(says_something).collect();
        (!lines.is_empty()).then_some((titles, lines))
    }
}

/// `38 to 56`, `failed`.
fn in_words(value: Option<&PublishedValue>) -> String {
    match value {
        None => words::UNKNOWN.into(),
        Some(PublishedValue::Figure(figure)) => words::count(Some(*figure)),
        Some(PublishedValue::Range([from, to])) => format!("{from} to {to}"),
        Some(PublishedValue::Words(words)) => words.clone(),
    }
}

/// One published row and your own figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedComparison {
    /// Its name in the published table.
    #[serde(rename = "printed")]
    pub name: String,
    /// The target in the plan that corresponds to it.
    pub target: Option<TargetId>,
    /// The published figure.
    #[serde(rename = "print")]
    pub published: Option<f64>,
    /// Your own figure, if it is not INVALID.
    pub own: Option<f64>,
    /// The published figure divided by that of the reference.
    #[serde(rename = "print_ratio")]
    pub published_ratio: Option<f64>,
    /// Your own figure divided by your own of the reference.
    pub own_ratio: Option<f64>,
    /// The word that was published in place of a figure: `failed`.
    #[serde(rename = "print_word")]
    pub published_word: Option<String>,
    /// Published remarks about it.
    pub remarks: Vec<String>,
    /// What each of the table's columns says of it, and your own figure.
    pub cells: Vec<PublishedCell>,
}

/// A published cell and your own figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedCell {
    /// What was published, if anything: a figure, from one figure to another, or words.
    pub published: Option<PublishedValue>,
    /// Your own figure in the column's unit; `None` where it is unknown, INVALID, or no figure of
    /// Pippin says what the column says.
    pub own: Option<f64>,
}

/// The columns that may be the headline, in order.
const COLUMNS: [&str; 2] = ["requests_per_s", "peak_requests_per_s"];

/// The plan's published table beside your own figures; `None` if the plan has none.
#[must_use]
pub fn from_record(record: &RunRecord, rows: &[Row]) -> Option<PublishedTable> {
    let published = record.header.plan.published.as_ref().filter(|it| !it.rows.is_empty())?;
    let column = COLUMNS
        .iter()
        .find(|column| published.rows.iter().any(|row| row.figure(column).is_some()))?;
    let reference = published
        .reference
        .as_ref()
        .and_then(|name| published.rows.iter().find(|row| row.name == *name));
    // In a sweep, the figure at the same number of connections.
    let own_reference = reference.and_then(|row| own_figure_for(published, row, rows));
    let published_reference = reference.and_then(|row| row.figure(column));
    let columns: Vec<String> = published.columns.iter().skip(1).cloned().collect();
    let made = published.rows.iter().map(|row| {
        let own = own_figure_for(published, row, rows);
        let trials = own_trials(published, row, &record.trials);
        PublishedComparison {
            name: row.name.clone(),
            target: row.target.clone(),
            published: row.figure(column),
            own,
            published_ratio: over(row.figure(column), published_reference),
            own_ratio: over(own, own_reference),
            published_word: row.words(column).map(Into::into),
            remarks: remarks(row, column),
            cells: columns.iter().map(|name| cell(row, name, &trials)).collect(),
        }
    });
    Some(PublishedTable {
        notes: published.notes.clone(),
        differs: published.differs.clone(),
        reference: reference.and_then(|row| row.target.as_ref()).map(ToString::to_string),
        reference_name: published.reference.clone(),
        column: (*column).into(),
        rows: made.collect(),
        columns,
    })
}

/// The words of a row, without those in place of its headline.
fn remarks(row: &PublishedRow, headline: &str) -> Vec<String> {
    let others = row.values.keys().filter(|name| *name != headline);
    others.filter_map(|name| row.words(name)).map(Into::into).collect()
}

fn cell(row: &PublishedRow, column: &str, trials: &[&TrialRecord]) -> PublishedCell {
    let own = trials.iter().filter_map(|trial| published_column::own(column, trial));
    PublishedCell {
        published: row.values.get(column).cloned(),
        own: median(&own.collect::<Vec<_>>()),
    }
}

/// Your own trials that say what a published row says; none if one of them is INVALID.
fn own_trials<'a>(
    published: &Published,
    row: &PublishedRow,
    trials: &'a [TrialRecord],
) -> Vec<&'a TrialRecord> {
    let Some(target) = target_of(published, row) else { return Vec::new() };
    let point = row.figure(CONNECTIONS);
    let is_there = |step: Option<Step>| {
        let size = |count: f64| step.is_some_and(|step| is_at(step, count));
        point.map_or(step.is_none(), size)
    };
    let is_one = |trial: &&TrialRecord| trial.spec.target == *target && is_there(trial.spec.step);
    let own: Vec<&TrialRecord> = trials.iter().filter(is_one).collect();
    let is_invalid = own.iter().any(|trial| trial.verdict == Verdict::Invalid);
    if is_invalid { Vec::new() } else { own }
}

fn over(figure: Option<f64>, reference: Option<f64>) -> Option<f64> {
    reference.filter(|r| *r > 0.0).and_then(|r| figure.map(|f| f / r))
}

fn own_figure(rows: &[Row], target: &TargetId) -> Option<f64> {
    let is_one = |row: &&Row| row.target == *target && row.verdict != Some(Verdict::Invalid);
    rows.iter().find(is_one)?.goodput_per_s.as_ref().map(|figure| figure.median)
}

/// Your own figure for a published row: that of the corresponding target. If the rows are points of
/// a sweep, that of the point of the one target the table is about.
fn own_figure_for(published: &Published, row: &PublishedRow, rows: &[Row]) -> Option<f64> {
    let target = target_of(published, row)?;
    let Some(connections) = row.figure(CONNECTIONS) else { return own_figure(rows, target) };
    let points = &rows.iter().find(|row| row.target == *target)?.sweep.as_ref()?.points;
    points.iter().find(|point| is_at(point.at, connections))?.goodput_per_s
}

/// The target of a row; for a point of a sweep, the one target the table is about.
fn target_of<'a>(published: &'a Published, row: &'a PublishedRow) -> Option<&'a TargetId> {
    let of_table = || published.rows.iter().find_map(|row| row.target.as_ref());
    row.target.as_ref().or_else(|| row.figure(CONNECTIONS).and_then(|_| of_table()))
}

/// The column whose figures are the points of a sweep.
const CONNECTIONS: &str = "connections";

fn is_at(step: Step, connections: f64) -> bool {
    matches!(step, Step::Connections { .. }) && step.size() == connections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;
    use pippin_model::example::{caveat, run};
    use pippin_model::verdict::Severity;

    #[test]
    fn rows_of_a_sweep_are_held_against_the_reference_rows_own_number_of_connections() {
        let mut record = run::sweep();
        let csv = "connections,requests_per_s\n1,5000\n64,20000\n";
        let mut published = Published::parse_csv(csv).unwrap();
        published.reference = Some("connections 1".into());
        for row in &mut published.rows {
            row.target = Some("go/net-http".parse().unwrap());
        }
        record.header.plan.published = Some(published);
        let table = View::of(&record).published.unwrap();
        let [one, many] = table.rows.as_slice() else { panic!("{table:?}") };
        assert_eq!((one.published_ratio, one.own_ratio), (Some(1.0), Some(1.0)));
        assert_eq!(many.published_ratio, Some(4.0));
        assert_eq!(many.own_ratio, Some(many.own.unwrap() / one.own.unwrap()));
        assert!(many.own_ratio.unwrap() > 5.0, "64 connections serve more than 1: {many:?}");
    }

    #[test]
    fn each_other_column_stands_beside_the_own_figure_that_says_the_same() {
        let mut record = run::hello();
        let csv = "target,requests_per_s,p50_ms,cpu_percent,latency_stdev_ms,note\n\
                   go,5000,0.5,38-56,0.2,quick\ngone,failed,,,,\n";
        let mut published = Published::parse_csv(csv).unwrap();
        published.rows[0].target = Some("go/net-http".parse().unwrap());
        record.header.plan.published = Some(published);
        let view = View::of(&record);
        let table = view.published.as_ref().unwrap();
        let (titles, rows) = table.other_columns().unwrap();
        assert_eq!(titles, ["name", "figures", "p50, ms", "cpu, %", "latency stdev, ms"]);
        assert_eq!(rows[0], ["go", "published", "0.50", "38 to 56", "0.20"]);
        assert_eq!(rows[1][..2], ["go", "here"]);
        // One idea, one figure: it is that of the main table.
        let row = view.rows.iter().find(|row| row.target.to_string() == "go/net-http").unwrap();
        assert_eq!(
            rows[1][2],
            words::count(row.response_p50_ns.as_ref().map(|it| it.median / 1e6))
        );
        assert_eq!(rows[1][4], words::UNKNOWN);
        assert_eq!(rows.len(), 2, "of the one that failed nothing else is known");
        assert_eq!(table.rows[0].remarks, ["quick"]);
        // What is INVALID has no figure in any column, as in the headline's.
        let go = |trial: &&mut TrialRecord| trial.spec.target.to_string() == "go/net-http";
        let trial = record.trials.iter_mut().find(go).unwrap();
        trial.caveats.push(caveat("wrong_answers", Severity::Invalid, "half of them", "mend it"));
        trial.verdict = Verdict::Invalid;
        let table = View::of(&record).published.unwrap();
        assert_eq!(table.rows[0].own, None);
        assert!(table.rows[0].cells.iter().all(|cell| cell.own.is_none()), "{table:?}");
    }
}
