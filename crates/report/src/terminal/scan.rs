//! A scan: a line for each value of the parameter.
use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::view::scan::ScanView;

/// Columns that a narrow terminal has no room for.
const ONLY_WIDE: [&str; 2] = ["95 % interval", "CPU a request"];
/// From this width on, there is room for them.
const WIDE: usize = 110;

pub fn write(page: &mut Page, view: &View) {
    let Some(scan) = &view.scan else { return };
    page.heading(&format!("By {}", scan.parameter));
    table(page, scan);
    let knee = scan.words();
    if !knee.is_empty() {
        page.paragraph("  ", &knee);
    }
}

fn table(page: &mut Page, scan: &ScanView) {
    let titles = scan.titles();
    let is_shown =
        |title: &String| page.style.width >= WIDE || !ONLY_WIDE.contains(&title.as_str());
    let mut grid = Grid::default();
    for title in titles.iter().filter(|title| is_shown(title)) {
        grid = if title == "verdict" { grid.left(title) } else { grid.right(title) };
    }
    for point in &scan.points {
        let cells = titles.iter().zip(scan.cells(point));
        grid.row(cells.filter(|(title, _)| is_shown(title)).map(|(_, cell)| cell).collect());
    }
    grid.write(page, 2);
}
