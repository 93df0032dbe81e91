//! The steps of scenarios, or the paths of another load, with what was wrong in each.
use super::Page;
use super::grid::Grid;
use super::paint::cut;
use crate::view::walks::{self, StepView, WayView};
use crate::words;

/// Writes them, if there are any, and the redirections that were followed below. The scenarios of a
/// mix come first.
pub fn write(
    page: &mut Page,
    steps: &[StepView],
    (mix, followed): (&[WayView], Option<&StepView>),
) {
    if steps.is_empty() {
        return;
    }
    write_mix(page, mix);
    table(page, "Step", steps.iter().chain(followed));
    page.paragraph("  ", &walks::whole_walks(steps));
    errors(page, steps);
}

/// Writes the paths of a load, the worst first, if it has more than one.
pub fn write_paths(page: &mut Page, paths: &[StepView]) {
    if paths.is_empty() {
        return;
    }
    table(page, "Path", paths.iter());
    errors(page, paths);
}

/// A row for each scenario, and one for all.
fn write_mix(page: &mut Page, mix: &[WayView]) {
    if mix.is_empty() {
        return;
    }
    page.line("");
    let [first, others @ ..] = WayView::TITLES;
    let mut grid = Grid::default().left(&format!("{}{}", first[..1].to_uppercase(), &first[1..]));
    for title in others {
        grid = grid.right(title);
    }
    for way in mix {
        let [name, cells @ ..] = way.cells();
        grid.row(std::iter::once(format!("  {name}")).chain(cells).collect());
    }
    grid.fit(0, page.style.width);
    grid.write(page, 0);
}

fn table<'a>(page: &mut Page, title: &str, steps: impl Iterator<Item = &'a StepView>) {
    page.line("");
    let mut grid = Grid::default().left(title);
    for title in ["requests", "errors", "p50", "p99", "max"] {
        grid = grid.right(title);
    }
    for step in steps {
        let times = &step.response_time;
        grid.row(vec![
            format!("  {}", step.title()),
            words::whole(step.requests),
            words::whole(step.errors_total()),
            words::ns(times.p50_ns),
            words::ns(times.p99_ns),
            words::ns(times.max_ns),
        ]);
    }
    grid.fit(0, page.style.width);
    grid.write(page, 0);
}

/// What went wrong in each of them.
fn errors(page: &mut Page, steps: &[StepView]) {
    for step in steps.iter().filter(|step| step.errors_total() > 0) {
        let kinds: Vec<String> = step
            .errors
            .iter()
            .map(|(kind, count)| format!("{} {}", words::whole(*count), kind.name()))
            .collect();
        let kinds = kinds.join(", ");
        page.paragraph("  ", &format!("{}: {kinds}", step.title()));
        if let Some(example) = &step.example {
            let example = cut(example, page.style.width.saturating_sub(4));
            page.line(&format!("    {example}"));
        }
    }
}
