//! The table at the end of a run, for a terminal: aligned, with units and bars, readable without
//! colour and at 80 columns.
//!
//! | module | what it writes |
//! |---|---|
//! | `agents` | the agents of a fleet |
//! | `explained` | what a profiler saw of the targets |
//! | `life` | starts, memory and end of the targets |
//! | [`grid`] | aligned columns |
//! | [`paint`] | colours, and their replacement where there are none |
//! | `headline` | the ranked table |
//! | `load`, `details` | loads of a URL, in place of the ranked table; what only `-v` shows |
//! | `histogram` | distributions as bars |
//! | [`history`] | how a target started, warmed up and ended in its runs |
//! | `steps` | sweeps, capacity searches, phases of devices, stages |
//! | `scan` | a parameter over its values |
//! | `events` | streams of server-sent events |
//! | `overload` | what targets do beyond their capacity |
//! | `walks` | steps of scenarios |
//! | `remarks` | caveats, failures, published figures, explanations, host |
mod agents;
mod details;
mod events;
mod explained;
mod grid;
mod headline;
mod histogram;
pub mod history;
mod life;
mod load;
mod overload;
pub(crate) mod paint;
mod remarks;
mod scan;
pub(crate) mod slowest;
mod steps;
mod walks;

pub use paint::wrap;

pub(crate) use headline::span_of;
pub(crate) use steps::{parameter, signed};

use std::io::IsTerminal;

use crate::view::View;
use paint::Paint;

/// How to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to use colours (ANSI escape sequences).
    pub colour: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to write everything that is known, and not only what most people ask for.
    pub verbose: bool,
}

/// The width if it is not known.
const USUAL_WIDTH: usize = 80;
/// Narrower terminals get this width and wrap the lines themselves.
const LEAST_WIDTH: usize = 40;

impl Style {
    /// Colours only on a terminal and without `NO_COLOR` (no-color.org). The width of the terminal,
    /// or 80 columns.
    #[must_use]
    pub fn of_stdout() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let muted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = if is_terminal {
            crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns))
        } else {
            None
        };
        Self {
            colour: is_terminal && !muted,
            width: width.filter(|w| *w > 0).unwrap_or(USUAL_WIDTH),
            verbose: false,
        }
    }

    /// Without colours, for files and tests.
    #[must_use]
    pub const fn plain(width: usize) -> Self {
        Self { colour: false, width, verbose: false }
    }

    /// With everything that is known.
    #[must_use]
    pub const fn verbose(self, verbose: bool) -> Self {
        Self { verbose, ..self }
    }
}

/// The whole result of a run as text. Its answer stands first, and again at the end, because the
/// beginning has scrolled away by then.
#[must_use]
pub fn table(view: &View, style: &Style) -> String {
    let mut page = Page::new(style);
    if view.loads.is_empty() {
        write_run(&mut page, view);
    } else {
        load::write(&mut page, view);
    }
    page.out
}

fn write_run(page: &mut Page, view: &View) {
    page.trust(view);
    page.line("");
    headline::write(page, view);
    scan::write(page, view);
    steps::write(page, view);
    overload::write(page, view);
    events::write(page, view);
    for row in &view.rows {
        if !row.scenario.is_empty() {
            page.heading(&row.target.to_string());
        }
        walks::write(page, &row.scenario, (&row.mix, row.followed.as_ref()));
    }
    life::write(page, view);
    explained::write(page, view);
    agents::write(page, view);
    remarks::write(page, view);
    headline::again(page, view);
    page.line("");
    page.trust(view);
}

/// The text so far.
struct Page {
    out: String,
    style: Style,
    paint: Paint,
}

impl Page {
    fn new(style: &Style) -> Self {
        let style = Style { width: style.width.max(LEAST_WIDTH), ..*style };
        Self { out: String::new(), style, paint: Paint { colour: style.colour } }
    }

    /// A line without trailing blanks.
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// Whether the run can be trusted.
    fn trust(&mut self, view: &View) {
        self.bold_lines(&paint::wrap(&view.trust.words(), self.style.width));
    }

    fn bold_lines(&mut self, lines: &[String]) {
        for line in lines {
            let line = self.paint.bold(line);
            self.line(&line);
        }
    }

    /// A heading with an empty line before it.
    fn heading(&mut self, text: &str) {
        self.line("");
        self.bold_lines(&paint::wrap(text, self.style.width));
    }

    /// A wrapped paragraph. The first line begins with `first`, the others with as many blanks.
    fn paragraph(&mut self, first: &str, text: &str) {
        let indent = " ".repeat(paint::visible(first));
        let room = self.style.width.saturating_sub(indent.len()).max(20);
        for (index, line) in paint::wrap(text, room).iter().enumerate() {
            let lead = if index == 0 { first } else { &indent };
            self.line(&format!("{lead}{line}"));
        }
    }

    /// A paragraph behind a label, in one column with all others.
    fn field(&mut self, label: &str, text: &str) {
        self.paragraph(&format!("{label:<13}"), text);
    }
}
