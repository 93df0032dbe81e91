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
    /// Figures by column name; empty cells are absent.
    pub figures: BTreeMap<String, f64>,
    /// Cells that are words ("failed", "38-56"), by column name.
    pub words: BTreeMap<String, String>,
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
        Ok(Self { notes, rows, ..Self::default() })
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
    let mut row =
        PublishedRow { name, target: None, figures: BTreeMap::new(), words: BTreeMap::new() };
    // The first column is the row's name. If rows are points of a sweep, it is a figure too.
    for (column, cell) in columns.iter().zip(cells) {
        match cell.parse::<f64>() {
            Ok(figure) => drop(row.figures.insert((*column).to_string(), figure)),
            Err(_) if cell.is_empty() || *column == columns[0] => {}
            Err(_) => drop(row.words.insert((*column).to_string(), (*cell).to_string())),
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_table_keeps_figures_words_and_gaps_apart() {
        let table =
            Published::parse_csv("# by hand\ntarget,rate,cpu\ngo,10.5,\ncsharp,failed,38-56\n")
                .unwrap();
        assert_eq!(table.notes, ["by hand"]);
        assert_eq!(table.rows[0].figures.get("rate"), Some(&10.5));
        assert_eq!(table.rows[0].figures.get("cpu"), None);
        assert_eq!(table.rows[1].words.get("cpu").map(String::as_str), Some("38-56"));
        assert!(Published::parse_csv("a,b\n1\n").is_err());
    }

    #[test]
    fn the_points_of_a_published_sweep_are_named_by_what_was_swept() {
        let table = Published::parse_csv("connections,requests_per_s\n1,2075\n512,4090\n").unwrap();
        assert_eq!(table.rows[1].name, "connections 512");
        assert_eq!(table.rows[1].figures.get("connections"), Some(&512.0));
    }
}
