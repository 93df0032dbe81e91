//! The first words over a WebSocket: messages of the protocol above it, which are no part of the load
//! (SignalR, Socket.IO, GraphQL subscriptions). `pippin help requests` shows files of them.
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

use crate::text::file::{FileError, Wrong, read_with_text};

/// What is said after each opening handshake, and which messages of the server are no answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstWords {
    /// What is said and awaited, in order. Messages that are not awaited are passed over.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// Messages of the server that are answered at once, at any time, as its pings.
    #[serde(default)]
    pub replies: Vec<Reply>,
    /// Messages of the server that are no answers and need none, at any time.
    #[serde(default)]
    pub ignore: Vec<Matching>,
}

/// A part of an opening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// This text is sent.
    Send(String),
    /// A message of this kind must come.
    Await(Matching),
}

/// How messages of a kind are answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The kind of the server's message.
    pub to: Matching,
    /// The text of the answer.
    pub with: String,
}

/// A kind of messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matching {
    /// Those that are this text.
    Is(String),
    /// Those that begin with this text.
    Begins(String),
    /// Those that contain this text.
    Contains(String),
    /// All of them.
    Any,
}

/// What a message of the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning<'a> {
    /// It belongs to the load.
    Content,
    /// It is answered with this text.
    Question(&'a str),
    /// It says nothing that matters.
    Ignored,
}

impl FirstWords {
    /// Awaits this number of messages that the server sends of its own accord on each new
    /// connection.
    #[must_use]
    pub fn greeting(messages: usize) -> Self {
        Self { steps: vec![Step::Await(Matching::Any); messages], ..Self::default() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is no such file, or says nothing.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let (words, text): (Self, String) = read_with_text(path)?;
        words.check().map_err(|wrong| wrong.in_file(path, &text))?;
        Ok(words)
    }

    fn check(&self) -> Result<(), Wrong> {
        if *self == Self::default() {
            return Err(Wrong::at(
                "",
                "it says nothing: write steps = [{ send = \"...\" }, { await = { begins = \"...\" } }]",
            ));
        }
        let replies = self.replies.iter().map(|reply| ("replies", &reply.to));
        let ignored = self.ignore.iter().map(|kind| ("ignore", kind));
        match replies.chain(ignored).find(|(_, kind)| kind.text().is_none_or(str::is_empty)) {
            Some((at, _)) => {
                Err(Wrong::at(at, "every message is of that kind, so that none would be an answer"))
            }
            None => Ok(()),
        }
    }

    /// Whether some messages of the server are no answers.
    #[must_use]
    pub const fn tells_apart(&self) -> bool {
        !self.replies.is_empty() || !self.ignore.is_empty()
    }

    /// What a message of the server is.
    #[must_use]
    pub fn meaning(&self, message: &[u8]) -> Meaning<'_> {
        if let Some(reply) = self.replies.iter().find(|reply| reply.to.is_in(message)) {
            return Meaning::Question(&reply.with);
        }
        let is_ignored = self.ignore.iter().any(|kind| kind.is_in(message));
        if is_ignored { Meaning::Ignored } else { Meaning::Content }
    }

    /// All texts, which may hold secrets.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let steps = self.steps.iter_mut().filter_map(|step| match step {
            Step::Send(text) => Some(text),
            Step::Await(kind) => kind.text_mut(),
        });
        let replies = self
            .replies
            .iter_mut()
            .flat_map(|reply| reply.to.text_mut().into_iter().chain([&mut reply.with]));
        steps.chain(replies).chain(self.ignore.iter_mut().filter_map(Matching::text_mut))
    }
}

impl Matching {
    /// Whether a message is of this kind.
    #[must_use]
    pub fn is_in(&self, message: &[u8]) -> bool {
        match self {
            Self::Is(text) => message == text.as_bytes(),
            Self::Begins(text) => message.starts_with(text.as_bytes()),
            Self::Contains(text) => {
                text.is_empty() || message.windows(text.len()).any(|part| part == text.as_bytes())
            }
            Self::Any => true,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Is(text) | Self::Begins(text) | Self::Contains(text) => Some(text),
            Self::Any => None,
        }
    }

    const fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Is(text) | Self::Begins(text) | Self::Contains(text) => Some(text),
            Self::Any => None,
        }
    }
}

impl fmt::Display for Matching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, text) = match self {
            Self::Is(text) => ("that is", text),
            Self::Begins(text) => ("that begins with", text),
            Self::Contains(text) => ("that contains", text),
            Self::Any => return f.write_str("a message of its own accord"),
        };
        write!(f, "a message {verb} `{}`", text.escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKET_IO: &str = "steps = [{ await = { begins = \"0\" } }, { send = \"40\" }, { await = { begins = \"40\" } }]\nreplies = [{ to = { is = \"2\" }, with = \"3\" }]\nignore = [{ contains = \"news\" }]\n";

    fn read(text: &str) -> Result<FirstWords, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opening.toml");
        std::fs::write(&path, text).unwrap();
        FirstWords::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_says_what_is_sent_awaited_answered_and_ignored() {
        let mut words = read(SOCKET_IO).unwrap();
        let begins = |text: &str| Step::Await(Matching::Begins(text.into()));
        assert_eq!(words.steps, [begins("0"), Step::Send("40".into()), begins("40")]);
        for (message, meaning) in [
            ("2", Meaning::Question("3")),
            ("2probe", Meaning::Content),
            ("42[\"news\"]", Meaning::Ignored),
            ("42[\"echo\"]", Meaning::Content),
            ("", Meaning::Content),
        ] {
            assert_eq!(words.meaning(message.as_bytes()), meaning, "{message}");
        }
        let texts: Vec<String> = words.texts_mut().map(|text| text.clone()).collect();
        assert_eq!(texts, ["0", "40", "40", "2", "3", "news"]);
        assert!(words.tells_apart() && !read("steps = [{ send = \"a\" }]").unwrap().tells_apart());
    }

    #[test]
    fn any_message_can_be_awaited() {
        let words = read("steps = [{ await = \"any\" }, { await = \"any\" }]").unwrap();
        assert_eq!(words, FirstWords::greeting(2));
        assert!(Matching::Any.is_in(b"") && Matching::Any.is_in(b"\xff") && !words.tells_apart());
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_line_and_the_fix() {
        for (text, said) in [
            ("", "it says nothing"),
            ("steps = [{ sends = \"a\" }]", "did you mean `send`"),
            ("steps = [{ await = { begin = \"a\" } }]", "did you mean `begins`"),
            ("step = []", "did you mean `steps`"),
            ("replies = [{ to = { is = \"2\" } }]", "missing field `with`"),
            ("\nignore = [{ contains = \"\" }]", ".toml:2: every message is of that kind"),
            ("ignore = [\"any\"]", "every message is of that kind"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
