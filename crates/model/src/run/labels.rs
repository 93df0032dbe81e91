//! What users call a run of theirs: a name, a note and tags, by which they find it again.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::text::printable::is_printable;

/// The most characters of a name or of a tag's value.
const LONGEST: usize = 100;
/// The most characters of a note.
const LONGEST_NOTE: usize = 1_000;
/// The most characters of a tag's key.
const LONGEST_KEY: usize = 64;
/// The most tags of a run.
const MOST_TAGS: usize = 32;

/// What the user calls a run. It changes no figure, and runs with other labels are as comparable as
/// before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// Its name. Several runs may have one name: each night's run is `nightly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A sentence about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Tags: values by keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

impl Labels {
    /// These labels, if no key is given twice and there are not too many.
    ///
    /// # Errors
    /// If there are; the text begins with what is wrong of the tags.
    pub fn from_parts(
        name: Option<String>,
        note: Option<String>,
        given: &[Tag],
    ) -> Result<Self, String> {
        let mut tags = BTreeMap::new();
        for Tag { key, value } in given {
            if tags.insert(key.clone(), value.clone()).is_some() {
                return Err(format!("`{key}` is given twice: a tag has one value"));
            }
        }
        if tags.len() > MOST_TAGS {
            return Err(format!("{} are too many: a run has at most {MOST_TAGS}", tags.len()));
        }
        Ok(Self { name, note, tags })
    }

    /// Whether nobody named anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Name and tags in one line: `nightly · branch=main · pull=12`; empty without both.
    #[must_use]
    pub fn in_a_line(&self) -> String {
        let tags = self.tags.iter().map(|(key, value)| format!("{key}={value}"));
        self.name.iter().cloned().chain(tags).collect::<Vec<_>>().join(" · ")
    }
}

/// One tag of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// A letter, then letters, digits, `-`, `_` and `.`.
    pub key: String,
    /// A text in one line.
    pub value: String,
}

impl Tag {
    /// Reads `KEY=VALUE`.
    ///
    /// # Errors
    /// If it is none; the text says how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key, value) =
            text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`: write KEY=VALUE"))?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let begins = key.starts_with(|c: char| c.is_ascii_alphabetic());
        if !begins || !key.chars().all(is_word) || key.len() > LONGEST_KEY {
            return Err(format!(
                "`{key}` cannot be a key: begin with a letter, then letters, digits, `-`, `_` and `.`, at most {LONGEST_KEY} in all"
            ));
        }
        Ok(Self { key: key.into(), value: line(value, LONGEST)? })
    }
}

/// The name of a run as it was written.
///
/// # Errors
/// If it is empty, too long, or not one line of text.
pub fn name(text: &str) -> Result<String, String> {
    line(text, LONGEST)
}

/// The note on a run as it was written.
///
/// # Errors
/// If it is empty, too long, or not one line of text.
pub fn note(text: &str) -> Result<String, String> {
    line(text, LONGEST_NOTE)
}

/// A text in one line, without the spaces around it.
fn line(text: &str, longest: usize) -> Result<String, String> {
    let text = text.trim();
    let length = text.chars().count();
    if text.is_empty() {
        return Err("must not be empty".into());
    }
    if !text.chars().all(|c| is_printable(c) && c != '\n' && c != '\t') {
        return Err("must be one line of text, without control characters".into());
    }
    if length > longest {
        return Err(format!("has {length} characters: at most {longest} are kept"));
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(text: &str) -> Tag {
        Tag::parse(text).unwrap()
    }

    #[test]
    fn a_tag_is_a_word_and_a_line() {
        assert_eq!(tag("branch=a=b c"), Tag { key: "branch".into(), value: "a=b c".into() });
        assert_eq!(tag("v1.2_x-y=Ä").value, "Ä");
        for wrong in ["branch", "=x", "1a=x", "a b=x", "ä=x", "a\"b=x", "a=", "a= ", "a=x\ny"] {
            assert!(Tag::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Tag::parse(&format!("{}=x", "k".repeat(65))).is_err());
        assert!(Tag::parse(&format!("k={}", "x".repeat(101))).is_err());
    }

    #[test]
    fn a_key_has_one_value() {
        let error =
            Labels::from_parts(None, None, &[tag("a=1"), tag("b=1"), tag("a=2")]).unwrap_err();
        assert!(error.starts_with("`a` is given twice"), "{error}");
        let many: Vec<Tag> = (0..33).map(|n| tag(&format!("k{n}=x"))).collect();
        assert!(Labels::from_parts(None, None, &many).is_err());
        assert!(Labels::from_parts(None, None, &many[..32]).is_ok());
    }

    #[test]
    fn labels_are_a_line_and_none_takes_no_room() {
        let labels =
            Labels::from_parts(Some("nightly".into()), None, &[tag("pull=12"), tag("branch=main")])
                .unwrap();
        assert_eq!(labels.in_a_line(), "nightly · branch=main · pull=12");
        assert!(!labels.is_empty() && Labels::default().is_empty());
        assert_eq!(Labels::default().in_a_line(), "");
        assert_eq!(serde_json::to_string(&Labels::default()).unwrap(), "{}");
        assert_eq!(serde_json::from_str::<Labels>("{}").unwrap(), Labels::default());
    }

    #[test]
    fn names_and_notes_are_lines() {
        assert_eq!(name(" before the move ").unwrap(), "before the move");
        for wrong in ["", "  ", "a\nb", "a\u{1b}[31m", "a\u{202e}b"] {
            assert!(name(wrong).is_err() && note(wrong).is_err(), "{wrong:?}");
        }
        assert!(name(&"x".repeat(101)).is_err() && note(&"x".repeat(1_000)).is_ok());
    }
}
