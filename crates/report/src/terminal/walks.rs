//! The steps of a scenario, or the paths of another load, with what was wrong in each.
use super::Page;
use super::grid::Grid;
use super::paint::cut;
use crate::view::walks::{self, StepView};
use crate::words;

/// Writes them, if there are any, and the redirections that were followed below.
pub fn write(page: &mut Page, steps: &[StepView], followed: Option<&StepView>) {
    if steps.is_empty() {
        return;
    }
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

fn table<'a>(page: &mut Page, title: &str, steps: impl Iterator<Item = &'a StepView>) {
    page.line("");
    let mut grid = Grid::default().left(title);
    for title in ["requests", "errors", "p50", "p99", "max"] {
        grid = grid.right(title);
    }
    for step in steps {
        let times = &step.response_time;
        grid.row(vec![
            format!("  {}", step.name),
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
        page.paragraph("  ", &format!("{}: {kinds}", step.name));
        if let Some(example) = &step.example {
            let example = cut(example, page.style.width.saturating_sub(4));
            page.line(&format!("    {example}"));
        }
    }
}
