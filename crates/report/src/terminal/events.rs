//! Streams of server-sent events.
use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::view::events::{FIGURES, rows};

pub fn write(page: &mut Page, view: &View) {
    if rows(view).next().is_none() {
        return;
    }
    page.heading("Server-sent events");
    let short = || FIGURES.iter().filter(|figure| figure.is_short);
    let mut grid = short().fold(Grid::default().left("target"), |grid, figure| {
        grid.right(&figure.title.to_lowercase())
    });
    for row in rows(view) {
        let figures = short().map(|figure| (figure.words)(row));
        grid.row(std::iter::once(row.target.to_string()).chain(figures).collect());
    }
    grid.write(page, 2);
}
