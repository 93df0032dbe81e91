//! The life of the targets: starts, memory, and their end.
use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::view::life::FIGURES;

pub fn write(page: &mut Page, view: &View) {
    if view.lives.is_empty() {
        return;
    }
    page.heading("Life: start, memory, end");
    let short = || FIGURES.iter().filter(|figure| figure.is_short);
    let mut grid = short().fold(Grid::default().left("target"), |grid, figure| {
        grid.right(&figure.title.to_lowercase().replace("stopped: ", ""))
    });
    for life in &view.lives {
        let figures = short().map(|figure| figure.words(life));
        grid.row(std::iter::once(life.target.to_string()).chain(figures).collect());
    }
    grid.write(page, 2);
    for life in &view.lives {
        if let Some(failure) = &life.failure {
            page.paragraph("  ", &format!("{}: not complete: {failure}", life.target));
        }
    }
    page.paragraph(
        "  ",
        "One start each, without an interval. Cut off: requests that were sent and never answered, while 16 users asked it and it was stopped.",
    );
}
