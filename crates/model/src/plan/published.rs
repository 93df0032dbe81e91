//! Published figures, shown beside your own as ratios to the same reference target.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::target::TargetId;

/// The published table of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The lines above the table: what was measured, where and how.
    pub notes: Vec<String>,
    /// What differs between the published experiment and the plan.
    pub differs: Vec<String>,
    /// The target to which ratios are taken, with its name in the table.
    pub reference: Option<String>,
    /// The names of all columns, in the order of the table. The column with the names of the rows is one of them.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The rows in the order of the table.
    pub rows: Vec<PublishedRow>,
}

/// One published row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedRow {
    /// The name in the table.
    // Stored runs have it as `printed`.
    #[serde(rename = "printed")]
    pub name: String,
    /// The target in this repository that corresponds to it.
    pub target: Option<TargetId>,
    /// What each column says of it, by column name. Empty cells are absent.
    #[serde(default)]
    pub values: BTreeMap<String, PublishedValue>,
}

/// A published cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PublishedValue {
    /// A figure.
    Figure(f64),
    /// From one figure to another: `38-56`.
    Range([f64; 2]),
    /// Words in place of a figure, or a remark: `failed`.
    Words(String),
}

impl PublishedValue {
    /// What a cell says; `None` if it is empty.
    fn parse(cell: &str) -> Option<Self> {
        let range = || {
            let (from, to) = cell.split_once('-')?;
            Some(Self::Range([from.parse().ok()?, to.parse().ok()?]))
        };
        let figure = || Some(Self::Figure(cell.parse().ok()?));
        (!cell.is_empty())
            .then(|| figure().or_else(range).unwrap_or_else(|| Self::Words(cell.into())))
    }
}

impl PublishedRow {
    /// The figure in this column; `None` if there is none, or only a range or words.
    #[must_use]
    pub fn figure(&self, column: &str) -> Option<f64> {
        match self.values.get(column)? {
            PublishedValue::Figure(figure) => Some(*figure),
            _ => None,
        }
    }

    /// The words in this column, if that is what was published.
    #[must_use]
    pub fn words(&self, column: &str) -> Option<&str> {
        match self.values.get(column)? {
            PublishedValue::Words(words) => Some(words),
            _ => None,
        }
    }
}

impl Published {
    /// Reads a table with comment lines (`# ...`), a header line and comma-separated rows. The
    /// first column names the row.
    ///
    /// # Errors
    /// If a row does not have as many cells as the header.
    pub fn parse_csv(text: &str) -> Result<Self, String> {
        let notes = text
            .lines()
            .filter_map(|line| line.strip_prefix('#'))
            .map(|line| line.trim().to_string())
            .collect();
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
        let columns: Vec<&str> =
            lines.next().map(|(_, line)| line.split(',').collect()).unwrap_or_default();
        let mut rows = Vec::new();
        for (index, line) in lines {
            let cells: Vec<&str> = line.split(',').collect();
            if cells.len() != columns.len() {
                return Err(format!(
                    "line {}: {} cells, but the header has {}",
                    index + 1,
                    cells.len(),
                    columns.len()
                ));
            }
            rows.push(row_of(&columns, &cells));
        }
        let columns = columns.into_iter().map(Into::into).collect();
        Ok(Self { notes, columns, rows, ..Self::default() })
    }
}

fn row_of(columns: &[&str], cells: &[&str]) -> PublishedRow {
    // A row of a table of targets has the name of its target. A row of a sweep has the name of its
    // point: `connections 8`.
    let name = if columns[0] == "target" {
        cells[0].to_string()
    } else {
        format!("{} {}", columns[0], cells[0])
    };
    // The first column is the row's name. If rows are points of a sweep, it is a figure too.
    let value = |(column, cell): (&&str, &&str)| {
        let value = PublishedValue::parse(cell)?;
        let is_name = *column == columns[0] && !matches!(value, PublishedValue::Figure(_));
        (!is_name).then(|| ((*column).to_string(), value))
    };
    let values = columns.iter().zip(cells).filter_map(value).collect();
    PublishedRow { name, target: None, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_table_keeps_figures_ranges_words_and_gaps_apart() {
        let text = "# by hand\ntarget,rate,cpu\ngo,10.5,\ncsharp,failed,38-56\nnode,-2,re-run\n";
        let table = Published::parse_csv(text).unwrap();
        assert_eq!(table.notes, ["by hand"]);
        assert_eq!(table.columns, ["target", "rate", "cpu"]);
        let [go, csharp, node] = table.rows.as_slice() else { panic!("{table:?}") };
        assert_eq!((go.figure("rate"), go.values.get("cpu")), (Some(10.5), None));
        assert_eq!(csharp.words("rate"), Some("failed"));
        assert_eq!(csharp.values["cpu"], PublishedValue::Range([38.0, 56.0]));
        assert_eq!((node.figure("rate"), node.words("cpu")), (Some(-2.0), Some("re-run")));
        assert!(Published::parse_csv("a,b\n1\n").is_err());
    }

    #[test]
    fn the_points_of_a_published_sweep_are_named_by_what_was_swept() {
        let table = Published::parse_csv("connections,requests_per_s\n1,2075\n512,4090\n").unwrap();
        assert_eq!(table.rows[1].name, "connections 512");
        assert_eq!(table.rows[1].figure("connections"), Some(512.0));
    }
}
