//! Where a user writes how a target is started: the names of the keys, for messages.
use pippin_model::target::TargetId;
use pippin_model::target::project::{FILE, LANGUAGE};

/// The file that says how a process is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys<'a> {
    /// The `target.toml` of a target of a catalog.
    Manifest,
    /// The table of this target in the user's `pippin.toml`.
    Project(&'a str),
    /// No file: it comes from the command line, or is a part of Pippin.
    Nowhere,
}

/// What went wrong with a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// How long it took until it was ready.
    Ready,
    /// The command that starts it.
    Command,
    /// How it is stopped.
    Stop,
    /// Its program is not there.
    Program,
}

impl<'a> Keys<'a> {
    /// Where this target is described.
    #[must_use]
    pub fn of(target: &'a TargetId) -> Self {
        if target.language == LANGUAGE {
            // A copy from a revision is called `shop@main`.
            let name = target.name.split('@').next().unwrap_or_default();
            Self::Project(name)
        } else if target.is_own() {
            Self::Nowhere
        } else {
            Self::Manifest
        }
    }

    /// The keys to look at, with their file; `None` if there are none.
    #[must_use]
    pub fn about(self, topic: Topic) -> Option<String> {
        match self {
            Self::Nowhere => None,
            Self::Manifest => Some(
                match topic {
                    Topic::Ready => "start.ready in its target.toml",
                    Topic::Command => "start.command in its target.toml",
                    Topic::Stop => "start.stop in its target.toml",
                    Topic::Program => "`pippin targets install` does that",
                }
                .into(),
            ),
            Self::Project(name) => {
                let keys = match topic {
                    Topic::Ready => "`ready` and `ready_within`",
                    Topic::Command => "`command`",
                    Topic::Stop => "`stop`",
                    Topic::Program => "`build`",
                };
                let does = if topic == Topic::Program { " can do that" } else { "" };
                Some(format!("{keys} in [target.{name}] of {FILE}{does}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_names_of_the_file_that_the_user_writes() {
        let about = |target: &str, topic| Keys::of(&target.parse().unwrap()).about(topic);
        let in_project = "`ready` and `ready_within` in [target.shop] of pippin.toml";
        assert_eq!(about("own/shop", Topic::Ready).as_deref(), Some(in_project));
        let copy = TargetId { language: "own".into(), name: "shop@main".into(), variant: None };
        assert_eq!(Keys::of(&copy), Keys::Project("shop"));
        let of_catalog = "start.ready in its target.toml";
        assert_eq!(about("go/chi", Topic::Ready).as_deref(), Some(of_catalog));
        for topic in [Topic::Ready, Topic::Command, Topic::Stop, Topic::Program] {
            let own = about("own/shop", topic).unwrap();
            assert!(own.contains("in [target.shop] of pippin.toml"), "{own}");
            assert!(!own.contains("target.toml in") && !own.contains("targets install"), "{own}");
            assert_eq!(about("command/x", topic), None);
        }
    }
}
