//! Published figures beside your own, both as ratios to the same reference target.
use pippin_model::plan::Plan;
use pippin_model::plan::published::{Published, PublishedRow};
use pippin_model::target::TargetId;
use pippin_model::trial::Step;
use serde::{Deserialize, Serialize};

use super::row::Row;
use super::sweep::Point;

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
    /// The published rows.
    pub rows: Vec<PublishedComparison>,
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
}

/// The columns that may be the headline, in order.
const COLUMNS: [&str; 2] = ["requests_per_s", "peak_requests_per_s"];

/// The plan's published table beside your own figures; `None` if the plan has none.
#[must_use]
pub fn of(plan: &Plan, rows: &[Row]) -> Option<PublishedTable> {
    let published = plan.published.as_ref().filter(|published| !published.rows.is_empty())?;
    let column = COLUMNS
        .iter()
        .find(|column| published.rows.iter().any(|row| row.figures.contains_key(**column)))?;
    let reference_row = published
        .reference
        .as_ref()
        .and_then(|name| published.rows.iter().find(|row| row.name == *name));
    let reference = reference_row.and_then(|row| row.target.clone());
    // Your own figure of the reference row. In a sweep, the figure at the same number of
    // connections.
    let own_reference = reference_row.and_then(|row| own_figure_for(published, row, rows));
    let published_reference = reference_row.and_then(|row| row.figures.get(*column)).copied();
    let made = published.rows.iter().map(|row| {
        let published_figure = row.figures.get(*column).copied();
        let own = own_figure_for(published, row, rows);
        PublishedComparison {
            name: row.name.clone(),
            target: row.target.clone(),
            published: published_figure,
            own,
            published_ratio: over(published_figure, published_reference),
            own_ratio: over(own, own_reference),
            published_word: row.words.get(*column).cloned(),
            remarks: row
                .words
                .iter()
                .filter(|(name, _)| *name != column)
                .map(|(_, word)| word.clone())
                .collect(),
        }
    });
    Some(PublishedTable {
        notes: published.notes.clone(),
        differs: published.differs.clone(),
        reference: reference.map(|target| target.to_string()),
        reference_name: published.reference.clone(),
        column: (*column).into(),
        rows: made.collect(),
    })
}

fn over(figure: Option<f64>, reference: Option<f64>) -> Option<f64> {
    reference.filter(|r| *r > 0.0).and_then(|r| figure.map(|f| f / r))
}

fn own_figure(rows: &[Row], target: &TargetId) -> Option<f64> {
    let row = rows.iter().find(|row| {
        row.target == *target && row.verdict != Some(pippin_model::verdict::Verdict::Invalid)
    })?;
    row.goodput_per_s.as_ref().map(|figure| figure.median)
}

/// Your own figure for a published row: that of the corresponding target. If the rows are points of
/// a sweep, that of the point of the one target the table is about.
fn own_figure_for(published: &Published, row: &PublishedRow, rows: &[Row]) -> Option<f64> {
    let Some(connections) = row.figures.get("connections") else {
        return own_figure(rows, row.target.as_ref()?);
    };
    let target = row
        .target
        .as_ref()
        .or_else(|| published.rows.iter().find_map(|row| row.target.as_ref()))?;
    let points = &rows.iter().find(|row| row.target == *target)?.sweep.as_ref()?.points;
    let same = |point: &&Point| {
        matches!(point.at, Step::Connections { .. }) && point.at.size() == *connections
    };
    points.iter().find(same)?.goodput_per_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;
    use pippin_model::example::run;

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
}
