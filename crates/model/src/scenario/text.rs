//! Texts with placeholders: names in braces, as in `/items/{id}`.
//!
//! The syntax has two forms of RFC 6570. `{id}` percent-encodes everything that is not unreserved
//! (section 3.2.2). `{+next}` leaves reserved characters as they are (section 3.2.3), for values
//! that are paths. Braces around anything but a name stay as they are, as in JSON. `{{id}}` means
//! the text `{id}`.
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(Vec<Piece>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Plain text.
    Literal(String),
    /// A placeholder.
    Value {
        /// The name of the value.
        name: String,
        /// Whether reserved characters stay unencoded.
        is_path: bool,
    },
}

/// How values are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Unchanged.
    #[default]
    Plain,
    /// Percent-encoded: in paths, queries and forms.
    Percent,
    /// As the content of a JSON string (RFC 8259 section 7).
    Json,
}

/// All but the unreserved characters (RFC 3986 section 2.3).
const NOT_UNRESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// ... and but the reserved ones and `%` (section 2.2; RFC 6570 section 3.2.3).
const NOT_RESERVED: &AsciiSet = &NOT_UNRESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'#')
    .remove(b'[')
    .remove(b']')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b'%');

impl Encoding {
    /// Appends a value.
    pub fn put(self, value: &str, is_path: bool, out: &mut Vec<u8>) {
        match self {
            Self::Plain => out.extend_from_slice(value.as_bytes()),
            Self::Percent => {
                let set = if is_path { NOT_RESERVED } else { NOT_UNRESERVED };
                utf8_percent_encode(value, set)
                    .for_each(|part| out.extend_from_slice(part.as_bytes()));
            }
            Self::Json => {
                let quoted = serde_json::Value::from(value).to_string();
                out.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
            }
        }
    }
}

impl Text {
    /// Reads a text. Every text is valid.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            literal.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(quoted) = rest.strip_prefix("{{").and_then(name)
                && let Some(after) = rest[2 + quoted.len()..].strip_prefix("}}")
            {
                literal.push_str(&format!("{{{quoted}}}"));
                rest = after;
                continue;
            }
            let inside = &rest[1..];
            let is_path = inside.starts_with('+');
            let found = name(&inside[usize::from(is_path)..]);
            let after = found
                .and_then(|name| inside[usize::from(is_path) + name.len()..].strip_prefix('}'));
            if let (Some(name), Some(after)) = (found, after) {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Value { name: name.into(), is_path });
                rest = after;
            } else {
                literal.push('{');
                rest = inside;
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Self(pieces)
    }

    /// Its parts, in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The names of its placeholders.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Value { name, .. } => Some(name.as_str()),
        })
    }

    /// What stands between its placeholders.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            Piece::Value { .. } => None,
        })
    }

    /// The text with values in their places. A name that has no value leaves nothing behind.
    #[must_use]
    pub fn filled<'a>(
        &self,
        encoding: Encoding,
        value: impl Fn(&str) -> Option<&'a str>,
    ) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Value { name, is_path } => {
                    encoding.put(value(name).unwrap_or_default(), *is_path, &mut out);
                }
            }
        }
        out
    }

    /// The text with `x` in place of each value; with a path, if a path must come first. An error
    /// in this example is an error for all values.
    #[must_use]
    pub fn example(&self) -> String {
        let part = |(nth, piece): (usize, &Piece)| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Value { is_path: true, .. } if nth == 0 => "/x".into(),
            Piece::Value { .. } => "x".into(),
        };
        self.0.iter().enumerate().map(part).collect()
    }
}

/// The name at the start of a text: letters, digits, `_` and `-`, beginning with a letter or `_`. A
/// full stop separates the name of a file from that of its column.
#[must_use]
pub fn name(text: &str) -> Option<&str> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let end = text.find(|c| !is_inside(c)).unwrap_or(text.len());
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (starts && !text[..end].ends_with('.')).then_some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str, is_path: bool) -> Piece {
        Piece::Value { name: name.into(), is_path }
    }

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.into())
    }

    #[test]
    fn braces_around_a_name_are_a_value_and_others_stand_for_themselves() {
        let cases: [(&str, &[Piece]); 8] = [
            ("", &[]),
            ("/a/{id}", &[literal("/a/"), value("id", false)]),
            (
                "{+next}?p={user.name}",
                &[value("next", true), literal("?p="), value("user.name", false)],
            ),
            (r#"{"a":{"b":{id}}}"#, &[literal(r#"{"a":{"b":"#), value("id", false), literal("}}")]),
            ("{{id}}", &[literal("{id}")]),
            ("{ id } {1} {} {id", &[literal("{ id } {1} {} {id")]),
            ("{a}{b}", &[value("a", false), value("b", false)]),
            ("{a.}", &[literal("{a.}")]),
        ];
        for (text, pieces) in cases {
            assert_eq!(Text::parse(text).pieces(), pieces, "{text}");
        }
    }

    #[test]
    fn values_are_written_as_their_place_demands() {
        let put = |encoding: Encoding, value, is_path| {
            let mut out = Vec::new();
            encoding.put(value, is_path, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(put(Encoding::Percent, "a b/ü?", false), "a%20b%2F%C3%BC%3F");
        assert_eq!(put(Encoding::Percent, "/a b?c=%20\r\n", true), "/a%20b?c=%20%0D%0A");
        assert_eq!(put(Encoding::Json, "say \"ü\"\n", false), "say \\\"ü\\\"\\n");
        assert_eq!(put(Encoding::Plain, "a b", false), "a b");
    }

    #[test]
    fn values_stand_in_their_places_and_nothing_for_a_name_without_one() {
        let text = Text::parse("/a/{id}?b={+next}&c={none}.");
        let value = |name: &str| match name {
            "id" => Some("x y"),
            "next" => Some("/p q"),
            _ => None,
        };
        assert_eq!(text.filled(Encoding::Percent, value), b"/a/x%20y?b=/p%20q&c=.");
        assert_eq!(text.filled(Encoding::Plain, value), b"/a/x y?b=/p q&c=.");
    }

    #[test]
    fn the_example_of_a_path_is_a_path() {
        assert_eq!(Text::parse("{+next}").example(), "/x");
        assert_eq!(Text::parse("/a/{id}/{+b}").example(), "/a/x/x");
    }
}
