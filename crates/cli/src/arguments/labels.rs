//! The flags with which users say what a run of theirs is, and by which they find it again.
use clap::Args;
use pippin_model::run::labels::{self, Labels, Tag};

use crate::exit::CliError;

/// What a run is called, apart from its name.
#[derive(Debug, Args)]
pub struct LabelArguments {
    /// A sentence about this run; its page and `pippin report` show it.
    #[arg(long, value_name = "TEXT", value_parser = labels::note)]
    pub note: Option<String>,
    /// A tag of this run, by which `pippin history --tag` finds it; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Tag::parse)]
    pub tag: Vec<Tag>,
}

impl LabelArguments {
    /// The labels of a run with this name.
    ///
    /// # Errors
    /// If a tag has two values.
    pub fn with(&self, name: Option<&String>) -> Result<Labels, CliError> {
        Labels::from_parts(name.cloned(), self.note.clone(), &self.tag)
            .map_err(|why| CliError::User(format!("--tag: {why}")))
    }
}

/// What a run is called.
#[derive(Debug, Args)]
pub struct NameArguments {
    /// A name for this run, by which `pippin history --name` finds it. Several runs may have it.
    #[arg(long, value_name = "NAME", value_parser = labels::name)]
    name: Option<String>,
    #[command(flatten)]
    labels: LabelArguments,
}

impl NameArguments {
    /// The labels of the run.
    ///
    /// # Errors
    /// If a tag has two values.
    pub fn labels(&self) -> Result<Labels, CliError> {
        self.labels.with(self.name.as_ref())
    }
}

/// Which runs a list shows.
#[derive(Debug, Args)]
pub struct LabelledArguments {
    /// Only runs with this name, as --name gave it.
    #[arg(long, value_name = "NAME", value_parser = labels::name)]
    pub name: Option<String>,
    /// Only runs with this tag; may be given several times, and a run must have all of them.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Tag::parse)]
    pub tag: Vec<Tag>,
}
