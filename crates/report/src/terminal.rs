//! The table at the end of a run, for a terminal: aligned, with units and bars, readable without
//! colour and at 80 columns.
//!
//! | module | what it writes |
//! |---|---|
//! | `agents` | the agents of a fleet |
//! | `explained` | what a profiler saw of the targets |
//! | [`grid`] | aligned columns |
//! | [`paint`] | colours, and their replacement where there are none |
//! | `headline` | the ranked table |
//! | `load`, `histogram` | loads of a URL, in place of the ranked table; distributions as bars |
//! | `steps` | sweeps, capacity searches, phases of devices |
//! | `overload` | what targets do beyond their capacity |
//! | `walks` | steps of scenarios |
//! | `remarks` | caveats, failures, published figures, explanations, host |
mod agents;
mod explained;
mod grid;
mod headline;
mod histogram;
mod load;
mod overload;
mod paint;
mod remarks;
mod steps;
mod walks;

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
}

/// The width if it is not known.
const USUAL_WIDTH: usize = 80;
/// Narrower terminals get this width and wrap the lines themselves.
const LEAST_WIDTH: usize = 60;

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
        }
    }

    /// Without colours, for files and tests.
    #[must_use]
    pub const fn plain(width: usize) -> Self {
        Self { colour: false, width }
    }
}

/// The whole result of a run as text.
#[must_use]
pub fn table(view: &View, style: &Style) -> String {
    let style = Style { width: style.width.max(LEAST_WIDTH), ..*style };
    let mut page = Page { out: String::new(), style, paint: Paint { colour: style.colour } };
    let is_search = view.rows.iter().any(|row| row.at_search().is_some());
    page.trust(view);
    page.line("");
    if !is_search && load::write(&mut page, view) {
        agents::write(&mut page, view);
        page.line("");
        page.trust(view);
        return page.out;
    }
    if is_search && !view.loads.is_empty() {
        headline::title(&mut page, view);
    } else {
        headline::write(&mut page, view);
    }
    steps::write(&mut page, view);
    overload::write(&mut page, view);
    for row in &view.rows {
        if !row.scenario.is_empty() {
            page.heading(&row.target.to_string());
        }
        walks::write(&mut page, &row.scenario);
    }
    explained::write(&mut page, view);
    agents::write(&mut page, view);
    remarks::write(&mut page, view);
    page.line("");
    page.trust(view);
    page.out
}

/// The text so far.
struct Page {
    out: String,
    style: Style,
    paint: Paint,
}

impl Page {
    /// A line without trailing blanks.
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// Whether the run can be trusted. It is the first thing of a report, and the last, because the
    /// beginning has scrolled away.
    fn trust(&mut self, view: &View) {
        let room = self.style.width;
        for line in paint::wrap(&view.trust.words(), room) {
            let line = self.paint.bold(&line);
            self.line(&line);
        }
    }

    /// A heading with an empty line before it.
    fn heading(&mut self, text: &str) {
        let heading = self.paint.bold(text);
        self.line("");
        self.line(&heading);
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
}
