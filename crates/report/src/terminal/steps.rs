//! Sweeps, several rates, capacity searches, phases of devices, stages.
use pippin_model::text::units::counted;
use pippin_model::verdict::Verdict;
use pippin_stats::scalability::ladder::Ladder;
use pippin_stats::scalability::usl::Parameter;

use super::Page;
use super::grid::Grid;
use crate::view::View;
use crate::view::rates::RateCells;
use crate::view::row::Row;
use crate::view::stages::StageRow;
use crate::view::sweep::{Point, RISES, Sweep};
use crate::words;

pub fn write(page: &mut Page, view: &View) {
    for row in &view.rows {
        match &row.sweep {
            Some(sweep) if sweep.capacity.is_some() => search(page, row, sweep),
            Some(sweep) => match &sweep.ladder {
                Some(ladder) => by_rate(page, row, sweep, ladder),
                None => by_connections(page, row, sweep),
            },
            None => {}
        }
    }
    for row in view.rows.iter().filter(|row| !row.phases.is_empty()) {
        phases(page, row);
    }
    stages(page, view);
}

/// The stages of loads that change by plan.
pub fn stages(page: &mut Page, view: &View) {
    for row in view.rows.iter().filter(|row| !row.stages.is_empty()) {
        page.heading(&format!("{} by stage", row.target));
        let [name, figures @ ..] = StageRow::TITLES;
        let mut grid = Grid::default().left(name);
        grid = figures.into_iter().fold(grid, |grid, title| grid.right(title));
        row.stages.iter().for_each(|stage| grid.row(stage.cells().to_vec()));
        grid.write(page, 2);
    }
}

/// What each rate cost. The first line is the use at no load.
fn by_rate(page: &mut Page, row: &Row, sweep: &Sweep, ladder: &Ladder) {
    page.heading(&format!("{} by rate", row.target));
    // An answer that is wrong or missing shows in what was achieved, and a narrow terminal has no
    // room for the median.
    let wide = page.style.width >= 90;
    let titles = RateCells::TITLES.into_iter().filter(|title| wide || *title != "p50");
    let mut grid = titles.fold(Grid::default(), |grid, title| grid.right(title));
    for cells in RateCells::all(sweep, ladder) {
        let shown = RateCells::TITLES.into_iter().zip(cells.0);
        grid.row(shown.filter(|(title, _)| wide || *title != "p50").map(|(_, it)| it).collect());
    }
    grid.write(page, 2);
    page.paragraph("  ", &ladder.words());
}

fn by_connections(page: &mut Page, row: &Row, sweep: &Sweep) {
    page.heading(&format!("{} by connections", row.target));
    // Below 90 columns there is no room for the predicted response time. It follows from the
    // predicted throughput, and the other forms have it.
    let wide = page.style.width >= 90;
    let mut grid = Grid::default()
        .right("connections")
        .right("requests/s")
        .right("predicted")
        .right("error")
        .right("mean resp.");
    if wide {
        grid = grid.right("predicted").right("error");
    }
    grid = grid.right("p99").right("CPU");
    for point in &sweep.points {
        let prediction = point.prediction;
        let mut cells = vec![
            words::whole(point.at.size() as u64),
            mark(point, &words::count(point.goodput_per_s)),
            words::count(prediction.map(|p| p.throughput_per_s)),
            signed(prediction.and_then(|p| p.throughput_error)),
            words::ns_f(point.response_time.mean_ns),
        ];
        if wide {
            cells.extend([
                words::ns_f(prediction.map(|p| p.response_ns)),
                signed(prediction.and_then(|p| p.response_error)),
            ]);
        }
        cells.extend([words::ns(point.response_time.p99_ns), words::cores(point.target_cores)]);
        grid.row(cells);
    }
    grid.write(page, 2);
    law_and_knee(page, sweep);
}

/// The doubts, the law, the knee and the inferred concurrency, in sentences.
fn law_and_knee(page: &mut Page, sweep: &Sweep) {
    for doubt in sweep.doubts() {
        page.paragraph("  ", &doubt);
    }
    if let Some(fit) = &sweep.fit {
        let law = &fit.law;
        let peak =
            law.peak_n.map(|n| format!(", highest at {n:.0} connections")).unwrap_or_default();
        let explained = law.r_squared.map(|r| format!(", R² {r:.4}")).unwrap_or_default();
        let text = format!(
            "Universal Scalability Law: λ {} requests/s, σ {} (contention), κ {} (coherency){peak}{explained}.",
            parameter(law.lambda, 0),
            parameter(law.sigma, 4),
            parameter(law.kappa, 6)
        );
        page.paragraph("  ", &text);
    }
    if let Some(knee) = sweep.knee {
        page.paragraph("  ", &format!("Knee at {}: more of them bring little.", knee.words()));
    }
    if let Some(served) = sweep.served_at_a_time {
        let served = counted(served.round() as u64, "request");
        page.paragraph("  ", &format!("Serves about {served} at a time, or its rate is limited."));
    }
    if sweep.rises {
        page.paragraph("  ", RISES);
    }
}

/// A parameter with its standard error.
pub fn parameter(parameter: Parameter, digits: usize) -> String {
    let error =
        parameter.standard_error.map(|error| format!(" ± {error:.digits$}")).unwrap_or_default();
    format!("{:.digits$}{error}", parameter.value)
}

fn search(page: &mut Page, row: &Row, sweep: &Sweep) {
    let noun = sweep.searched().noun();
    page.heading(&format!("{}: search for the highest {noun}", row.target));
    // A step can have several outcomes. Where they leave no room, other quantiles than the 99th do.
    let whole = steps_of(sweep, true);
    let has_room = whole.width() + 2 <= page.style.width;
    let grid = if has_room { whole } else { steps_of(sweep, false) };
    grid.write(page, 2);
    for sentence in sweep.outcome() {
        page.paragraph("  ", &sentence);
    }
}

/// The steps of a search, with or without the median and the maximum.
fn steps_of(sweep: &Sweep, is_whole: bool) -> Grid {
    let only_whole = |text: String| Some(text).filter(|_| is_whole);
    let titles = [
        Some("answered/s".to_string()),
        only_whole("p50".into()),
        Some("p99".into()),
        only_whole("max".into()),
        Some("errors".into()),
    ];
    let first = Grid::default().right(sweep.tried_title());
    let grid = titles.iter().flatten().fold(first, |grid, title| grid.right(title));
    let mut grid = grid.left("objective");
    for point in &sweep.points {
        let times = &point.response_time;
        let cells = [
            Some(words::count(Some(point.at.size()))),
            Some(mark(point, &words::count(point.goodput_per_s))),
            only_whole(words::ns(times.p50_ns)),
            Some(words::ns(times.p99_ns)),
            only_whole(words::ns(times.max_ns)),
            Some(words::whole(point.errors)),
            Some(point.kept()),
        ];
        grid.row(cells.into_iter().flatten().collect());
    }
    grid
}

fn mark(point: &Point, text: &str) -> String {
    if point.verdict == Verdict::Valid { text.into() } else { format!("{text} {}", point.verdict) }
}

/// A relative error with its sign.
pub fn signed(error: Option<f64>) -> String {
    error.map_or_else(
        || words::UNKNOWN.into(),
        |error| format!("{}{}", if error > 0.0 { "+" } else { "" }, words::percent(error)),
    )
}

fn phases(page: &mut Page, row: &Row) {
    page.heading(&format!("{} by phase", row.target));
    let mut grid = Grid::default()
        .left("phase")
        .right("s")
        .right("peak")
        .right("right")
        .right("right/s")
        .right("conn p99");
    grid = grid.right("headers p50").right("p99").right("errors");
    for phase in &row.phases {
        grid.row(vec![
            phase.name.replace('_', " "),
            format!("{:.0}", phase.length_s),
            words::whole(phase.connections.peak),
            words::whole(phase.requests.good),
            words::count(phase.goodput_per_s),
            words::ns(phase.connect.p99_ns),
            words::ns(phase.headers.p50_ns),
            words::ns(phase.headers.p99_ns),
            words::whole(phase.errors.values().sum()),
        ]);
    }
    grid.write(page, 2);
}
