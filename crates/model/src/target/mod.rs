//! Names of targets: `go/net-http`, `javascript/express:cluster`.
//!
//! | module | what it does |
//! |---|---|
//! | [`manifest`] | `target.toml`: how a target is installed, started and stopped |
//! | [`register`] | kinds of targets, and how long what they run is supported |
//! | [`project`] | `pippin.toml`: a user's own targets, workloads and plans |
//! | [`own_command`] | a command of the user's own: words, variables, folder |
//! | [`commit`] | the git commit that holds a target's files |
//! | [`parameter`] | a parameter in braces in a command, and its value |
//! | [`conformance`] | how a target answered at the edges of HTTP/1.1 |
pub mod commit;
pub mod conformance;
pub mod manifest;
pub mod own_command;
pub mod parameter;
pub mod project;
pub mod register;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The language of what the command line names by a URL.
pub const URL: &str = "url";
/// The most characters of a URL as a name.
const LONGEST_URL: usize = 500;

/// Language, name and variant of a target; the folder is `targets/<language>/<name>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TargetId {
    /// The folder below `targets/`: `javascript`; or how the user gave it: `url`, `command`.
    pub language: String,
    /// The folder below that: `express`. If revisions are compared, with the git revision:
    /// `express@main`; in a scan, with the parameter and its value: `express@pool=5`. Of what is loaded
    /// by its URL, the URL.
    pub name: String,
    /// The variant, if it is not the default one: `cluster`.
    pub variant: Option<String>,
}

/// A text that is not the name of a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not the name of a target; write it like go/net-http or javascript/express:cluster"
)]
pub struct TargetIdError(pub String);

impl TargetId {
    /// This target without its variant.
    #[must_use]
    pub fn base(&self) -> Self {
        Self { variant: None, ..self.clone() }
    }

    /// What is loaded by its URL. The URL is its name, as far as a name may be that long.
    #[must_use]
    pub fn of_url(url: &str) -> Self {
        let name = url.chars().filter(|c| !c.is_control()).take(LONGEST_URL).collect();
        Self { language: URL.into(), name, variant: None }
    }

    /// This target, or with a number the first one of its name that is not taken.
    #[must_use]
    pub fn untaken(self, is_taken: impl Fn(&Self) -> bool) -> Self {
        if !is_taken(&self) {
            return self;
        }
        let mut numbered = (2..).map(|number| self.numbered(number));
        numbered.find(|id| !is_taken(id)).unwrap_or_else(|| self.clone())
    }

    fn numbered(&self, number: usize) -> Self {
        // `-2` at the end of a URL would make another one.
        let name = if self.is_url() {
            let end = format!(" ({number})");
            let url: String = self.name.chars().take(LONGEST_URL - end.len()).collect();
            url + &end
        } else {
            format!("{}-{number}", self.name)
        };
        Self { name, ..self.clone() }
    }

    /// Whether it is loaded by its URL.
    #[must_use]
    pub fn is_url(&self) -> bool {
        self.language == URL
    }

    /// What stands behind `@` in its name: the revision, or in a scan the parameter and its value. A
    /// URL has none: there, the sign is part of the address.
    #[must_use]
    pub fn revision(&self) -> Option<&str> {
        self.name.split_once('@').filter(|_| !self.is_url()).map(|(_, revision)| revision)
    }

    /// Its name without [`Self::revision`].
    #[must_use]
    pub fn plain_name(&self) -> &str {
        match self.revision() {
            Some(revision) => &self.name[..self.name.len() - revision.len() - 1],
            None => &self.name,
        }
    }

    /// Its name as that of a file, in which nothing separates folders.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.to_string().replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.@".contains(c), "-")
    }

    /// Whether no catalog has it: the user's project file or command line does, and in the place of
    /// a language stands how it was given.
    #[must_use]
    pub fn is_own(&self) -> bool {
        [project::LANGUAGE, URL, "command", "image"].contains(&self.language.as_str())
    }
}

impl FromStr for TargetId {
    type Err = TargetIdError;

    fn from_str(text: &str) -> Result<Self, TargetIdError> {
        let error = || TargetIdError(text.into());
        if text.contains("://") {
            return if is_url(text) { Ok(Self::of_url(text)) } else { Err(error()) };
        }
        let (path, variant) =
            text.split_once(':').map_or((text, None), |(path, variant)| (path, Some(variant)));
        let (language, name) = path.split_once('/').ok_or_else(error)?;
        let word = |w: &str| {
            !w.is_empty() && w.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        };
        let (plain, revision) =
            name.split_once('@').map_or((name, None), |(plain, revision)| (plain, Some(revision)));
        let label = |r: &str| {
            !r.is_empty() && r.chars().all(|c| c.is_ascii_alphanumeric() || "-_.=".contains(c))
        };
        if !word(language)
            || !word(plain)
            || !revision.is_none_or(label)
            || !variant.is_none_or(word)
        {
            return Err(error());
        }
        Ok(Self { language: language.into(), name: name.into(), variant: variant.map(Into::into) })
    }
}

/// Whether a text is a URL, as far as a name must be: a scheme, and something after it that has no
/// control characters.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let is_scheme = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_lowercase());
    is_scheme
        && !rest.is_empty()
        && text.chars().count() <= LONGEST_URL
        && !rest.contains(char::is_control)
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_url() && is_url(&self.name) {
            return f.write_str(&self.name);
        }
        write!(f, "{}/{}", self.language, self.name)?;
        self.variant.as_ref().map_or(Ok(()), |variant| write!(f, ":{variant}"))
    }
}

impl TryFrom<String> for TargetId {
    type Error = TargetIdError;

    fn try_from(text: String) -> Result<Self, TargetIdError> {
        text.parse()
    }
}

impl From<TargetId> for String {
    fn from(id: TargetId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_revision_and_a_url_has_none() {
        let parts = |text: &str| {
            let id: TargetId = text.parse().unwrap();
            (id.plain_name().to_string(), id.revision().map(str::to_string))
        };
        assert_eq!(parts("own/shop@pool=5"), ("shop".into(), Some("pool=5".into())));
        assert_eq!(parts("go/net-http:x"), ("net-http".into(), None));
        assert_eq!(parts("http://h/@me"), ("http://h/@me".into(), None));
    }

    #[test]
    fn names_read_and_print_alike() {
        for text in [
            "go/net-http",
            "javascript/express:cluster",
            "go/net-http@v1.2",
            "javascript/express@feature-x:cluster",
            "http://127.0.0.1:8080/users?page=",
            "https://[::1]/ (requests of urls.txt)",
            "url/slice",
            "own/shop@pool=5",
        ] {
            assert_eq!(text.parse::<TargetId>().unwrap().to_string(), text);
        }
        for text in [
            "go",
            "go/",
            "/x",
            "a/b/c",
            "a/b:",
            "../etc/x",
            "a/b:c:d",
            "a/b@",
            "a/@main",
            "a/b@c@d",
            "a/b@../c",
            "a@main/b",
            "http://",
            "://a",
            "a/b://c",
            "http://a/\nb",
        ] {
            assert!(text.parse::<TargetId>().is_err(), "{text}");
        }
    }
}
