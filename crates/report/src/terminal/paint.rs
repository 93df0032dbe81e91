//! Colours (ECMA-48 "select graphic rendition"), widths and wrapping.
use pippin_model::verdict::{Severity, Verdict};

/// Adds colours to text, or does nothing without colours.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    pub colour: bool,
}

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.colour && !text.trim().is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.into()
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Struck through and dim, for a figure that must not be trusted.
    pub fn struck(self, text: &str) -> String {
        self.with("2;9", text)
    }

    pub fn bar(self, text: &str) -> String {
        self.with("36", text)
    }

    pub fn verdict(self, verdict: Verdict, text: &str) -> String {
        match verdict {
            Verdict::Valid => self.with("32", text),
            Verdict::Suspect => self.with("33", text),
            Verdict::Invalid => self.with("31", text),
        }
    }

    pub fn severity(self, severity: Severity, text: &str) -> String {
        match severity {
            Severity::Note => self.with("36", text),
            Severity::Suspect => self.with("33", text),
            Severity::Invalid => self.with("31", text),
        }
    }
}

/// The number of columns of a text. Escape sequences take none.
pub fn visible(text: &str) -> usize {
    let mut count = 0;
    let mut in_escape = false;
    for c in text.chars() {
        match (in_escape, c) {
            (false, '\x1b') => in_escape = true,
            (true, 'm') => in_escape = false,
            (true, _) => {}
            (false, _) => count += 1,
        }
    }
    count
}

/// Splits the text into lines of at most `room` columns, at blanks. A longer word stays whole, and a
/// figure stays with its unit.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(figure) if belong_together(figure, word) => figure.extend([" ", word]),
            _ => words.push(word.into()),
        }
    }
    lines_of(&words, room)
}

/// Puts parts of a list into lines of at most `room` columns. A part stays whole if it has room in a
/// line of its own.
pub fn wrap_parts(parts: &[String], room: usize) -> Vec<String> {
    let last = parts.len().saturating_sub(1);
    let with_comma =
        |(place, part): (usize, &String)| format!("{part}{}", if place < last { "," } else { "" });
    let parts = parts.iter().enumerate().map(with_comma);
    let fitting: Vec<String> = parts
        .flat_map(|part| if visible(&part) > room { wrap(&part, room) } else { vec![part] })
        .collect();
    lines_of(&fitting, room)
}

fn lines_of(pieces: &[String], room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last].push_str(piece);
        } else if visible(&lines[last]) + 1 + visible(piece) <= room {
            lines[last].extend([" ", piece.as_str()]);
        } else {
            lines.push(piece.clone());
        }
    }
    lines
}

/// The units that stand behind a figure, after a blank.
const UNITS: [&str; 14] = [
    "%",
    "ns",
    "µs",
    "ms",
    "s",
    "min",
    "h",
    "B",
    "KiB",
    "MiB",
    "GiB",
    "TiB",
    "requests/s",
    "walks/s",
];

/// Whether a line break between two words would tear a figure from its unit, or from its sign.
fn belong_together(before: &str, after: &str) -> bool {
    let unit = after.trim_end_matches(|c: char| ".,;:)!?]".contains(c));
    let is_figure = before.ends_with(|c: char| c.is_ascii_digit());
    is_figure && (UNITS.contains(&unit) || after.starts_with('%')) || before.ends_with('±')
}

/// Cuts the text to `room` columns, with a sign that it was cut.
pub fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.into();
    }
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_take_no_room_and_words_stay_whole() {
        let red = Paint { colour: true }.verdict(Verdict::Invalid, "INVALID");
        assert_eq!((visible(&red), red.len() > 7), (7, true));
        assert_eq!(
            wrap("one two three averyverylongword x", 9),
            ["one two", "three", "averyverylongword", "x"]
        );
        assert_eq!(wrap("stolen: 2.5 % (limit 2 %)", 12), ["stolen:", "2.5 % (limit", "2 %)"]);
        assert_eq!(
            wrap("in 12 min 3.40 ms, 5 requests/s", 8),
            ["in", "12 min", "3.40 ms,", "5 requests/s"]
        );
        let parts = ["p50 1.02 ms", "p99 3.40 ms (95 %: 3 to 4 ms)", "no errors"].map(String::from);
        let lines = ["p50 1.02 ms,", "p99 3.40 ms", "(95 %: 3 to", "4 ms),", "no errors"];
        assert_eq!(wrap_parts(&parts, 12), lines);
        assert_eq!(wrap_parts(&parts, 80), [parts.join(", ")]);
        assert_eq!(
            (cut("javascript/express", 10), cut("go", 10)),
            ("javascrip…".into(), "go".into())
        );
    }
}
