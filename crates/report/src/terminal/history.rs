//! How a target started, warmed up and ended in its runs.
use super::grid::Grid;
use super::{Page, Style};
use crate::history::{ABOUT_LIVES, Column, Run};

/// A row for each of these runs, in their order; no text where nothing is known of any.
#[must_use]
pub fn lives(runs: &[&Run], style: &Style) -> String {
    let columns = Column::known(runs);
    let mut page = Page::new(style);
    if columns.is_empty() {
        return page.out;
    }
    page.heading("Starts, memory and ends");
    let mut grid = columns.iter().fold(Grid::default().left("run"), |grid, column| {
        grid.right(&column.title().to_lowercase())
    });
    for run in runs {
        let figures = columns.iter().map(|column| column.words(run));
        grid.row(std::iter::once(run.id.clone()).chain(figures).collect());
    }
    grid.write(&mut page, 2);
    page.paragraph("  ", ABOUT_LIVES);
    page.out
}
