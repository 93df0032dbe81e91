//! A scan: a line for each value of the parameter.
use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::view::scan::ScanView;

/// Columns that a narrow terminal has no room for, by place: the interval, the ratio to the best
/// (which the ranked table has too), and the processor time of a request.
const ONLY_WIDE: [usize; 3] = [3, 5, 7];
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
    let is_wide = page.style.width >= WIDE;
    let shown = |cells: Vec<String>| -> Vec<String> {
        let places = cells.into_iter().enumerate();
        places
            .filter(|(place, _)| is_wide || !ONLY_WIDE.contains(place))
            .map(|(_, cell)| cell)
            .collect()
    };
    let mut grid = Grid::default();
    for title in shown(scan.titles()) {
        grid = if title == "verdict" { grid.left(&title) } else { grid.right(&title) };
    }
    scan.points.iter().for_each(|point| grid.row(shown(scan.cells(point))));
    grid.write(page, 2);
}
