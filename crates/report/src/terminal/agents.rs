//! The agents of a fleet, one line each.
use super::Page;
use crate::view::View;
use crate::view::agents::COLUMNS;

/// The number of agents that are shown. The page and the JSON have all of them.
const MOST: usize = 20;

/// Writes the agents, if there were any.
pub fn write(page: &mut Page, view: &View) {
    if view.agents.is_empty() {
        return;
    }
    let mut rows = vec![COLUMNS.map(str::to_string)];
    rows.extend(view.agents.iter().take(MOST).map(crate::view::agents::AgentView::cells));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS.len()).map(|column| width(column).unwrap_or(0)).collect();
    page.line("");
    for row in &rows {
        let cells: Vec<String> =
            row.iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| {
                    if column <= 1 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                })
                .collect();
        page.line(&cells.join("  "));
    }
    if view.agents.iter().any(|agent| agent.network_ns.is_some()) {
        page.paragraph(
            "",
            "network: median round trip of the handshakes with the target; every response time holds it",
        );
    }
    if view.agents.len() > MOST {
        page.line(&format!("... and {} more; the page has all of them", view.agents.len() - MOST));
    }
}
