//! The page that `?` opens.
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::look::Look;
use super::state::{State, Subject};

const OF_A_RUN: &[&str] = &[
    "q, Ctrl-C  stop everything; what is finished is kept",
    "           (three times: leave at once)",
    "s          skip the target under way: it is not",
    "           measured any more",
    "?          close this page",
];

const OF_A_LOAD: &[&str] = &[
    "q, Ctrl-C  stop; what was measured is shown",
    "           (three times: leave at once)",
    "?          close this page",
];

const FIGURES: &[&str] = &[
    "",
    "One bar is one second, or 26 % of response time in the",
    "spread. Response time counts from the instant at which",
    "a request was due. CPU is the whole process tree;",
    "\"generator\" is all of Pippin, this view included. Time",
    "left assumes that no warm-up is shorter and no",
    "repetition fewer than the plan allows.",
];

/// Draws the page on top of the view.
pub fn draw(frame: &mut Frame<'_>, state: &State, look: Look) {
    let keys = if state.subject == Subject::Plan { OF_A_RUN } else { OF_A_LOAD };
    let lines: Vec<Line<'_>> = keys.iter().chain(FIGURES).map(|line| Line::from(*line)).collect();
    let area = centred(frame.area(), 58, lines.len() as u16 + 2);
    frame.render_widget(Clear, area);
    let page = Paragraph::new(lines);
    if area.width < 24 || area.height < 5 {
        return frame.render_widget(page.wrap(Wrap { trim: true }), area);
    }
    frame.render_widget(
        page.wrap(Wrap { trim: false })
            .block(Block::bordered().border_set(look.border()).title(" Help ")),
        area,
    );
}

fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}
