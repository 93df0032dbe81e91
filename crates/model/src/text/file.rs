//! Reads hand-written TOML. Every error names the file, the line, the problem and the nearest valid
//! spelling.
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

use crate::text::bounded;

/// An error in a hand-written file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read at all.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text is not TOML of the expected form.
    #[error("{}{}: {message}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Content {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, if it is known.
        line: Option<usize>,
        /// The problem and the fix.
        message: String,
    },
}

impl FileError {
    /// An error about the meaning of a well-formed file.
    pub fn content(path: &Path, message: impl Into<String>) -> Self {
        Self::Content { path: path.into(), line: None, message: message.into() }
    }
}

/// A problem with the meaning of a well-formed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The keys that lead to it, such as `start.ready.timeout` or `variant[1].command`, with lists
    /// counted from 0. Empty for the whole file.
    pub at: String,
    /// The problem and the fix.
    pub message: String,
}

impl Wrong {
    /// A problem at these keys.
    pub fn at(at: impl Into<String>, message: impl Into<String>) -> Self {
        Self { at: at.into(), message: message.into() }
    }

    /// This error with these keys before its own.
    #[must_use]
    pub fn below(self, keys: &str) -> Self {
        Self { at: format!("{keys}.{}", self.at), ..self }
    }

    /// This error as an error of the file with this text.
    #[must_use]
    pub fn in_file(self, path: &Path, text: &str) -> FileError {
        FileError::Content {
            path: path.into(),
            line: line_of(text, &self.at),
            message: self.message,
        }
    }
}

/// The line, counted from 1, of these keys, or of the nearest existing key around them.
fn line_of(text: &str, at: &str) -> Option<usize> {
    let table = toml::de::DeTable::parse(text).ok()?;
    let mut found = None;
    let mut value = toml::Spanned::new(table.span(), toml::de::DeValue::Table(table.into_inner()));
    for key in at.split(['.', '[', ']']).filter(|key| !key.is_empty()) {
        let next = match value.into_inner() {
            toml::de::DeValue::Table(mut table) => table.remove(key),
            toml::de::DeValue::Array(list) => {
                key.parse().ok().and_then(|index: usize| list.into_iter().nth(index))
            }
            _ => None,
        };
        let Some(next) = next else { break };
        found = Some(text[..next.span().start].matches('\n').count() + 1);
        value = next;
    }
    found
}

/// Reads and parses one TOML file. Returns its text too, for [`Wrong::in_file`].
///
/// # Errors
/// If the file cannot be read, is not TOML, has an unknown key, lacks one, or has a value of
/// another type.
pub fn read_with_text<T: DeserializeOwned>(path: &Path) -> Result<(T, String), FileError> {
    let text = bounded::text(path, bounded::BY_HAND)
        .map_err(|source| FileError::Read { path: path.into(), source })?;
    Ok((parse_toml(path, &text)?, text))
}

/// Parses the text of a TOML file. `path` is only used in messages.
///
/// # Errors
/// As [`read_with_text`], except for reading the file.
pub fn parse_toml<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, FileError> {
    toml::from_str(text).map_err(|error| FileError::Content {
        path: path.into(),
        line: error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1),
        message: with_suggestion(error.message()),
    })
}

/// The text of a file without the byte-order mark that some editors put before it.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Adds "did you mean" to serde's "unknown field `a`, expected one of `b`, `c`", and to the same
/// for variants.
pub(crate) fn with_suggestion(message: &str) -> String {
    let first_line = message.lines().next().unwrap_or(message);
    let kinds = [("unknown field ", "key"), ("unknown variant ", "value")];
    let found =
        kinds.iter().find_map(|(start, what)| Some((first_line.strip_prefix(start)?, what)));
    let Some((rest, what)) = found else { return first_line.to_string() };
    let names: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let Some((unknown, known)) = names.split_first() else { return first_line.to_string() };
    let hint = nearest(unknown, known.iter().copied())
        .map(|name| format!(": did you mean `{name}`?"))
        .unwrap_or_default();
    format!("unknown {what} `{unknown}`{hint} (known here: {})", known.join(", "))
}

/// The candidate that a typing mistake most likely meant, if one is near enough (Jaro-Winkler
/// similarity above 0.75).
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[allow(dead_code)]
        connections: u32,
    }

    #[test]
    fn an_unknown_key_names_line_and_nearest_key() {
        let error = parse_toml::<Sample>(Path::new("plans/a.toml"), "# a\nconections = 3\n")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "plans/a.toml:2: unknown key `conections`: did you mean `connections`? (known here: connections)"
        );
    }

    #[test]
    fn a_value_that_is_not_known_is_no_key() {
        let message = with_suggestion("unknown variant `htp2`, expected `http1` or `http2`");
        assert_eq!(
            message,
            "unknown value `htp2`: did you mean `http2`? (known here: http1, http2)"
        );
    }

    #[test]
    fn a_wrong_type_names_its_line() {
        let error = parse_toml::<Sample>(Path::new("a.toml"), "connections = \"three\"\n")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("a.toml:1: invalid type"), "{error}");
    }

    #[test]
    fn a_wrong_meaning_names_its_line() {
        let text = "a = 1\n\n[b]\nc = { d = 2 }\n\n[[e]]\nf = 1\n[[e]]\nf = 2\n";
        for (at, line) in [
            ("a", Some(1)),
            ("b.c.d", Some(4)),
            ("e[1].f", Some(9)),
            ("e[1].missing", Some(8)),
            ("missing", None),
            ("", None),
        ] {
            assert_eq!(line_of(text, at), line, "{at}");
        }
        let error = Wrong::at("b.c", "no").in_file(Path::new("x.toml"), text);
        assert_eq!(error.to_string(), "x.toml:4: no");
    }

    #[test]
    fn nothing_near_is_not_guessed() {
        assert_eq!(nearest("zebra", ["connections", "rate"]), None);
    }
}
