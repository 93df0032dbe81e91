//! The agents of a fleet, one line each.
use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::view::agents::COLUMNS;

/// The number of agents that are shown. The page and the JSON have all of them.
const MOST: usize = 20;

/// Writes the agents, if there were any.
pub fn write(page: &mut Page, view: &View) {
    if view.agents.is_empty() {
        return;
    }
    let mut grid = Grid::default();
    for (column, title) in COLUMNS.iter().enumerate() {
        grid = if column <= 1 { grid.left(title) } else { grid.right(title) };
    }
    for agent in view.agents.iter().take(MOST) {
        grid.row(agent.cells().to_vec());
    }
    page.line("");
    grid.write(page, 0);
    if view.agents.iter().any(|agent| agent.network_ns.is_some()) {
        page.paragraph(
            "",
            "network: median round trip of the handshakes with the target; every response time holds it",
        );
    }
    if view.agents.len() > MOST {
        let rest = view.agents.len() - MOST;
        page.paragraph("", &format!("... and {rest} more; the page has all of them"));
    }
}
