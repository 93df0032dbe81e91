//! What the name of a base or of a side means: a target of the run, a revision of the own repository,
//! or a stored run. A name with two meanings is refused, so that no order among them matters.
use pippin_lab::target::revision::Repository;
use pippin_model::target::TargetId;
use pippin_store::{Store, StoreError};

use crate::exit::CliError;

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A target of the run.
    Target,
    /// A branch, tag or commit of the own repository.
    Revision,
    /// A stored run.
    Run,
    /// Nothing that is known.
    Nothing,
}

impl Meaning {
    /// What `name` means. `target` is the target of the run that it names.
    ///
    /// # Errors
    /// If it means two things, or the store cannot be read.
    pub fn of(
        name: &str,
        target: Option<&TargetId>,
        repository: Option<&Repository>,
        store: &Store,
    ) -> Result<Self, CliError> {
        let run = match store.resolve(name) {
            Ok(id) => Some(id),
            Err(StoreError::UnknownRun(..)) => None,
            Err(other) => return Err(other.into()),
        };
        let is_revision = repository.is_some_and(|repository| repository.knows(name));
        let known = [
            target.map(|id| (Self::Target, format!("the target {id} (write {id})"))),
            is_revision.then(|| {
                let words = format!("a revision of this repository (write `refs/heads/{name}`, `refs/tags/{name}` or the whole commit)");
                (Self::Revision, words)
            }),
            run.map(|id| (Self::Run, format!("the stored run {id} (write that name)"))),
        ];
        let known: Vec<(Self, String)> = known.into_iter().flatten().collect();
        match known.as_slice() {
            [] => Ok(Self::Nothing),
            [(one, _)] => Ok(*one),
            several => {
                let words: Vec<&str> = several.iter().map(|(_, words)| words.as_str()).collect();
                Err(CliError::User(format!("`{name}` has two meanings: {}", words.join(", and "))))
            }
        }
    }
}
