//! Colours and characters that the terminal can show.
use pippin_model::verdict::Verdict;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols;

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Colours. Without them, bold and dim text shows the differences.
    pub colour: bool,
    /// Block elements and lines beyond ASCII.
    pub unicode: bool,
}

/// Sparklines in ASCII, one character for each height.
const ASCII_BARS: symbols::bar::Set<'static> = symbols::bar::Set {
    full: "#",
    seven_eighths: "#",
    three_quarters: "*",
    five_eighths: "+",
    half: "=",
    three_eighths: "-",
    one_quarter: ":",
    one_eighth: ".",
    empty: " ",
};

impl Look {
    /// Only the sixteen basic colours: they fit any background that the user has chosen.
    fn coloured(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    pub fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn figure(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn label(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub fn chart(self) -> Style {
        self.coloured(Color::Cyan)
    }

    pub fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub fn doubtful(self) -> Style {
        self.coloured(Color::Yellow)
    }

    pub fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    pub fn of_verdict(self, verdict: Verdict) -> Style {
        match verdict {
            Verdict::Valid => self.good(),
            Verdict::Suspect => self.doubtful(),
            Verdict::Invalid => self.bad(),
        }
    }

    pub const fn bars(self) -> symbols::bar::Set<'static> {
        if self.unicode { symbols::bar::NINE_LEVELS } else { ASCII_BARS }
    }

    /// The characters for the done and the open part of a progress bar.
    pub const fn progress(self) -> (&'static str, &'static str) {
        if self.unicode { ("━", "─") } else { ("#", "-") }
    }

    /// A text with characters that the terminal has: `us` for `µs` in ASCII.
    pub fn plain(self, text: &str) -> String {
        if self.unicode { text.into() } else { text.replace('µ', "u") }
    }

    pub const fn ellipsis(self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }

    pub const fn separator(self) -> &'static str {
        if self.unicode { " · " } else { " | " }
    }

    pub const fn border(self) -> symbols::border::Set<'static> {
        if self.unicode {
            symbols::border::PLAIN
        } else {
            symbols::border::Set {
                top_left: "+",
                top_right: "+",
                bottom_left: "+",
                bottom_right: "+",
                vertical_left: "|",
                vertical_right: "|",
                horizontal_top: "-",
                horizontal_bottom: "-",
            }
        }
    }
}
