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
/// figure stays with its percent sign.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(figure) if word.starts_with('%') => figure.extend([" ", word]),
            _ => words.push(word.into()),
        }
    }
    let mut lines = vec![String::new()];
    for word in &words {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last].push_str(word);
        } else if visible(&lines[last]) + 1 + visible(word) <= room {
            lines[last].push(' ');
            lines[last].push_str(word);
        } else {
            lines.push(word.clone());
        }
    }
    lines
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
            (cut("javascript/express", 10), cut("go", 10)),
            ("javascrip…".into(), "go".into())
        );
    }
}
