//! What a profiler saw of the targets.
use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::words;

pub fn write(page: &mut Page, view: &View) {
    if view.explained.is_empty() {
        return;
    }
    page.heading("Where the processor time goes (perf; the page has flame graphs)");
    let mut grid = Grid::default().left("target").right("calls").right("switches").left("hottest");
    for one in &view.explained {
        let hottest = one.hottest(1).into_iter().next();
        let hottest = hottest.map(|(name, share)| format!("{} {name}", words::percent(share)));
        grid.row(vec![
            one.target.to_string(),
            words::count(one.syscalls_per_request),
            words::count(one.switches_per_request),
            one.failure.clone().or(hottest).unwrap_or_else(|| words::UNKNOWN.into()),
        ]);
    }
    grid.write(page, 2);
    page.paragraph("  ", "System calls and context switches per request.");
}
