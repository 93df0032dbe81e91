//! The slowest requests of a load.
use pippin_model::result::Exchange;

use super::Page;
use super::grid::Grid;
use crate::words;

/// Writes them, if they were asked for.
pub(super) fn write(page: &mut Page, slowest: &[Exchange]) {
    if slowest.is_empty() {
        return;
    }
    page.line("");
    let mut grid = Grid::default().left("Slowest, sent at (UTC)");
    for title in ["response", "service", "connection", "status"] {
        grid = grid.right(title);
    }
    grid = grid.left("request");
    let has_ids = slowest.iter().any(|one| one.id.is_some());
    if has_ids {
        grid = grid.left("id");
    }
    for one in slowest {
        grid.row(row(one, has_ids));
    }
    grid.fit(0, page.style.width);
    grid.write(page, 0);
}

/// What stands of a request in each column, perhaps with its name in the server's log.
pub fn row(one: &Exchange, has_ids: bool) -> Vec<String> {
    let id = has_ids.then(|| one.id.clone().unwrap_or_else(|| words::UNKNOWN.into()));
    cells(one).into_iter().chain(id).collect()
}

/// What stands of each request.
fn cells(one: &Exchange) -> [String; 6] {
    [
        words::instant(one.sent_unix_ns),
        words::ns(one.response_ns),
        words::ns(one.service_ns),
        one.connection.to_string(),
        one.status.map_or_else(|| words::UNKNOWN.into(), |status| status.to_string()),
        one.request.clone(),
    ]
}
