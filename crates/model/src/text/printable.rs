//! Makes text from elsewhere safe to show: a log, a title in a file, a program's version. A control
//! character could move the cursor of a terminal, change its title, reverse the order of letters,
//! or end an SVG (XML 1.0 section 2.2 forbids most of them).
use serde_json::Value;

/// The replacement for a character that must not be shown.
const REPLACEMENT: char = '\u{fffd}';

/// Whether a character is text. Line ends and tabs are.
#[must_use]
pub fn is_printable(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        // Embeddings, overrides and isolates (Unicode standard annex 9), and two that are not
        // characters (XML 1.0).
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control(),
    }
}

/// Replaces each character that is not printable by U+FFFD.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_printable(c) { c } else { REPLACEMENT }).collect()
}

/// Makes every string of a value printable, including keys. Returns whether any was not.
pub fn make_printable(value: &mut Value) -> bool {
    match value {
        Value::String(text) if !text.chars().all(is_printable) => {
            *text = printable(text);
            true
        }
        Value::Array(values) => {
            values.iter_mut().fold(false, |changed, value| make_printable(value) | changed)
        }
        Value::Object(entries) => {
            let has_odd_keys = entries.keys().any(|key| !key.chars().all(is_printable));
            if has_odd_keys {
                let all = std::mem::take(entries);
                entries.extend(all.into_iter().map(|(key, value)| (printable(&key), value)));
            }
            let values = entries.iter_mut();
            values.fold(has_odd_keys, |changed, (_, value)| make_printable(value) | changed)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn control_characters_are_not_printable() {
        assert_eq!(
            printable("a\x1b]0;owned\x07\tb\u{9b}c\nd\r\u{202e}e\u{ffff}"),
            "a\u{fffd}]0;owned\u{fffd}\tb\u{fffd}c\nd\u{fffd}\u{fffd}e\u{fffd}"
        );
        assert_eq!(printable("Ärger: 日本語 🦀"), "Ärger: 日本語 🦀");
    }

    #[test]
    fn every_string_of_a_value_is_made_printable() {
        let mut value = json!({"a": ["x\x1b", 1, null], "b\x07": {"c": "\u{9b}"}, "d": "well"});
        assert!(make_printable(&mut value));
        assert_eq!(
            value,
            json!({"a": ["x\u{fffd}", 1, null], "b\u{fffd}": {"c": "\u{fffd}"}, "d": "well"})
        );
        assert!(!make_printable(&mut value));
    }
}
