//! What targets do beyond their capacity.
use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::view::overload::OverloadView;
use crate::view::row::Row;
use crate::words;
use pippin_stats::capacity::overload::multiple_in_words;

pub fn write(page: &mut Page, view: &View) {
    for row in &view.rows {
        if let Some(overload) = &row.overload {
            one(page, row, overload);
        }
    }
}

fn one(page: &mut Page, row: &Row, overload: &OverloadView) {
    let capacity = words::count(Some(overload.seen.capacity_per_s));
    page.heading(&format!("{} beyond its capacity of {capacity} requests/s", row.target));
    let mut grid = Grid::default();
    for title in ["times", "offered/s", "right/s", "errors/s", "p50", "p99", "memory"] {
        grid = grid.right(title);
    }
    for level in &overload.seen.levels {
        grid.row(vec![
            multiple_in_words(level.multiple),
            words::count(Some(level.offered_per_s)),
            words::count(Some(level.goodput_per_s)),
            words::count(Some(level.errors_per_s)),
            words::ns(level.response_p50_ns),
            words::ns(level.response_p99_ns),
            words::bytes(level.target_memory_bytes),
        ]);
    }
    grid.write(page, 2);
}
