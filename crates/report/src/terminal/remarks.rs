//! Caveats, failures, published figures, explanations, host.
use pippin_model::verdict::Severity;

use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::view::calm;
use crate::view::doubts::Doubt;
use crate::view::missing;
use crate::view::published::PublishedTable;
use crate::view::run::host_line;
use crate::words;

pub fn write(page: &mut Page, view: &View) {
    doubts(page, view);
    without_result(page, view);
    explanations(page, view);
    published(page, view);
    page.line("");
    page.paragraph("Host: ", &host_line(&view.host));
    if let Some(cpus) = &view.run.cpus {
        page.paragraph("CPUs: ", cpus);
    }
    if let Some(slices) = &view.run.slices {
        page.paragraph("Calm: ", &calm::line(slices));
    }
}

/// The word for a severity in tables.
pub const fn called(severity: Severity) -> &'static str {
    match severity {
        Severity::Invalid => "INVALID",
        Severity::Suspect => "SUSPECT",
        Severity::Note => "note",
    }
}

pub fn doubts(page: &mut Page, view: &View) {
    if view.doubts.is_empty() {
        return;
    }
    page.heading("Caveats");
    for doubt in &view.doubts {
        one_doubt(page, doubt);
    }
}

/// Doubts show all their evidence. Notes show this many, because nearly every target has the same
/// note.
const NOTES_SHOWN: usize = 2;

fn one_doubt(page: &mut Page, doubt: &Doubt) {
    let label = page.paint.severity(doubt.severity, called(doubt.severity));
    page.line(&format!("  {label} {}", doubt.name()));
    // Evidence that several targets share is shown once.
    let mut told: Vec<(Vec<&str>, &Vec<String>)> = Vec::new();
    for seen in &doubt.seen {
        match told.iter_mut().find(|(_, evidence)| **evidence == seen.evidence) {
            Some((targets, _)) => targets.push(&seen.target),
            None => told.push((vec![&seen.target], &seen.evidence)),
        }
    }
    let is_cut = doubt.severity == Severity::Note && !page.style.verbose;
    let shown = if is_cut { NOTES_SHOWN } else { usize::MAX };
    for (targets, evidence) in told.iter().take(shown) {
        page.paragraph("    ", &format!("{}: {}", targets.join(", "), evidence.join("; ")));
    }
    let rest: usize = told.iter().skip(shown).map(|(targets, _)| targets.len()).sum();
    if rest > 0 {
        page.paragraph("    ", &format!("and of {rest} more targets: see the page, or -v"));
    }
    if !doubt.advice.is_empty() {
        page.paragraph("    → ", &doubt.advice);
    }
}

fn without_result(page: &mut Page, view: &View) {
    let missing = missing::from_view(view);
    if missing.is_empty() {
        return;
    }
    page.heading("Without a result");
    for one in missing {
        page.paragraph("  ", &one.line());
        // If the target is unavailable, the cause says what is missing; only the page shows the
        // log.
        for line in one.log_tail.iter().filter(|_| !one.is_unavailable) {
            let text = page.paint.dim(&format!("    │ {line}"));
            page.line(&text);
        }
    }
}

pub fn explanations(page: &mut Page, view: &View) {
    if view.rows.iter().all(|row| row.explanation.is_none()) {
        return;
    }
    page.heading("What the figures say");
    for row in &view.rows {
        if let Some(said) = row.explained() {
            page.paragraph("  ", &format!("{}: {said}", row.target));
        }
    }
}

/// The other columns, where they fit.
fn other_columns_published(page: &mut Page, table: &PublishedTable) {
    let Some((titles, rows)) = table.other_columns() else { return };
    let mut grid = Grid::default().left(&titles[0]).left(&titles[1]);
    for title in &titles[2..] {
        grid = grid.right(title);
    }
    rows.into_iter().for_each(|row| grid.row(row));
    if grid.width() + 2 > page.style.width {
        let others = titles[2..].join("; ");
        let text = format!("published too, in a wider terminal and on the page: {others}");
        return page.paragraph("  ", &text);
    }
    page.line("");
    grid.write(page, 2);
}

fn published(page: &mut Page, view: &View) {
    let Some(table) = &view.published else { return };
    page.heading("Beside the published figures");
    let over = table.reference_name.as_deref().unwrap_or("reference");
    let own = format!("here ÷ {over}");
    let over_reference = format!("published ÷ {over}");
    let mut grid = Grid::default()
        .left("name")
        .left("target")
        .right("published")
        .right(&over_reference)
        .right("here")
        .right(&own);
    for row in &table.rows {
        let published = row.published_word.clone().unwrap_or_else(|| words::count(row.published));
        grid.row(vec![
            row.name.clone(),
            row.target.as_ref().map_or_else(|| words::UNKNOWN.into(), ToString::to_string),
            published,
            words::ratio(row.published_ratio),
            words::count(row.own),
            words::ratio(row.own_ratio),
        ]);
    }
    grid.write(page, 2);
    other_columns_published(page, table);
    for row in table.rows.iter().filter(|row| !row.remarks.is_empty()) {
        page.paragraph("  ", &format!("{}, published: {}", row.name, row.remarks.join("; ")));
    }
    for note in &table.notes {
        page.paragraph("  published: ", note);
    }
    for differs in &table.differs {
        page.paragraph("  - ", differs);
    }
}
