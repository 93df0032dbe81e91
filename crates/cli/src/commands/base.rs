//! The base of a checkout: the commit that it is compared with in continuous integration.
use pippin_lab::target::revision::{Repository, Revision};

use crate::exit::CliError;

/// The name of this base in gates: `cpu > 2% vs base`.
pub const NAME: &str = "base";

/// Variables of continuous integration that name the branch that a change is to be merged into, each
/// as its maker's documentation has it.
const VARIABLES: [&str; 8] = [
    // GitHub, Gitea, Forgejo
    "GITHUB_BASE_REF",
    // GitLab
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    // Woodpecker
    "CI_COMMIT_TARGET_BRANCH",
    // Bitbucket
    "BITBUCKET_PR_DESTINATION_BRANCH",
    // Azure Pipelines
    "SYSTEM_PULLREQUEST_TARGETBRANCH",
    // Jenkins
    "CHANGE_TARGET",
    // Drone
    "DRONE_TARGET_BRANCH",
    // Buildkite
    "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
];
/// Where no variable says it.
const USUAL: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// The checkout that is compared.
pub struct Checkout {
    /// Its commit.
    pub head: Revision,
    /// Whether files differ from that commit, or are new.
    pub is_changed: bool,
    /// Whether files of that commit differ.
    is_edited: bool,
}

impl Checkout {
    /// As git sees it now.
    pub fn from_repository(repository: &Repository) -> Result<Self, CliError> {
        let head = repository.whole("HEAD")?;
        Ok(Self { head, is_changed: repository.is_changed(), is_edited: repository.is_edited() })
    }
}

/// The base of the checkout: the last commit that it has in common with `asked`, with the branch that
/// a variable names, or with the usual one. A checkout that is that commit itself is compared with
/// the commit before, unless files of it were edited: then with itself. New files alone hide no commit,
/// because a build may have written them.
///
/// # Errors
/// If there is none; the message says how to fetch it.
pub fn find(
    repository: &Repository,
    checkout: &Checkout,
    asked: Option<&str>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Revision, CliError> {
    let branch = match asked {
        Some(name) => repository.whole(name)?.name,
        None => branch(repository, variable)?,
    };
    let common = repository.merge_base(&branch, "HEAD").ok_or_else(|| {
        CliError::User(format!(
            "HEAD and {branch} have no commit in common here{}",
            fix(repository)
        ))
    })?;
    if common == checkout.head.commit && !checkout.is_edited && repository.knows("HEAD~1") {
        return Ok(repository.whole("HEAD~1")?);
    }
    if common != checkout.head.commit || checkout.is_changed {
        return Ok(Revision { name: branch, ..repository.whole(&common)? });
    }
    Err(CliError::User(format!(
        "HEAD is {branch} itself, and there is no commit before it here{}",
        fix(repository)
    )))
}

/// A variable of this process.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The branch that the checkout is to be merged into.
fn branch(
    repository: &Repository,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, CliError> {
    let named = VARIABLES.iter().find_map(|name| {
        let value = variable(name).filter(|value| !value.is_empty())?;
        Some((*name, value.trim_start_matches("refs/heads/").to_string()))
    });
    if let Some((name, branch)) = named {
        let known = [format!("origin/{branch}"), branch.clone()];
        return known.into_iter().find(|it| repository.knows(it)).ok_or_else(|| {
            CliError::User(format!(
                "{name} names the branch `{branch}`, which is not in this clone{}",
                fix(repository)
            ))
        });
    }
    USUAL.iter().find(|it| repository.knows(it)).map(|it| (*it).to_string()).ok_or_else(|| {
        CliError::User(format!(
            "there is no branch to compare with: none of {} is in this clone, and no variable of continuous integration names one; name it with --base{}",
            USUAL.join(", "),
            fix(repository)
        ))
    })
}

/// How a clone gets what it lacks.
fn fix(repository: &Repository) -> &'static str {
    if repository.is_shallow() {
        "; the clone is shallow: `fetch-depth: 0` on GitHub, `GIT_DEPTH: 0` on GitLab, or `git fetch --unshallow origin`"
    } else if !repository.has_remote() {
        "; this clone has no remote, so name a branch or a commit that it holds"
    } else {
        "; fetch it first, as with `git fetch origin`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(identity).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?} {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    fn commit(folder: &Path, text: &str) -> String {
        std::fs::write(folder.join("file"), text).unwrap();
        git(folder, &["add", "."]);
        git(folder, &["commit", "-q", "-m", text]);
        git(folder, &["rev-parse", "HEAD"])
    }

    /// A clone of a repository with main and release, in which a branch leaves main at its second
    /// commit: the clone, that commit, and the first.
    fn clone(top: &Path) -> (std::path::PathBuf, String, String) {
        let (origin, clone) = (top.join("origin"), top.join("clone"));
        std::fs::create_dir_all(&origin).unwrap();
        git(&origin, &["init", "-q", "-b", "main"]);
        let first = commit(&origin, "first");
        git(&origin, &["branch", "release"]);
        let second = commit(&origin, "second");
        git(top, &["clone", "-q", origin.to_str().unwrap(), "clone"]);
        git(&clone, &["checkout", "-q", "-b", "change"]);
        commit(&clone, "change");
        commit(&origin, "third");
        git(&clone, &["fetch", "-q"]);
        (clone, second, first)
    }

    #[test]
    fn the_base_is_where_the_change_left_its_branch() {
        let top = tempfile::tempdir().unwrap();
        let (folder, second, first) = clone(top.path());
        let repository = Repository::find(&folder).unwrap();
        let with = |set: Option<(&str, &str)>, asked: Option<&str>| {
            let variable = |name: &str| {
                set.filter(|(set, _)| *set == name).map(|(_, value)| value.to_string())
            };
            find(&repository, &Checkout::from_repository(&repository)?, asked, &variable)
        };
        let base = with(None, None).unwrap();
        assert_eq!((base.commit, base.name), (second.clone(), "origin/HEAD".into()));
        for variable in VARIABLES {
            for value in ["release", "refs/heads/release"] {
                let base = with(Some((variable, value)), None).unwrap();
                assert_eq!((base.commit, base.name), (first.clone(), "origin/release".into()));
            }
        }
        let unknown = with(Some(("GITHUB_BASE_REF", "main")), Some("release~0")).unwrap_err();
        assert!(unknown.to_string().contains("git knows no revision"), "{unknown}");
        assert_eq!(with(None, Some("origin/release")).unwrap().commit, first);
        let unknown = with(Some(("GITHUB_BASE_REF", "nope")), None).unwrap_err().to_string();
        assert!(unknown.contains("GITHUB_BASE_REF names the branch `nope`"), "{unknown}");
        // On main itself, the commit before, also beside what a build has written; with edited
        // files, the commit as it is.
        git(&folder, &["checkout", "-q", "main"]);
        assert_eq!(with(None, None).unwrap().commit, first);
        std::fs::write(folder.join("package-lock.json"), "{}").unwrap();
        assert_eq!(with(None, None).unwrap().commit, first);
        std::fs::write(folder.join("file"), "not committed").unwrap();
        assert_eq!(with(None, None).unwrap().commit, second);
    }

    #[test]
    fn a_shallow_clone_is_said_with_its_fix() {
        let top = tempfile::tempdir().unwrap();
        clone(top.path());
        let from = format!("file://{}", top.path().join("origin").display());
        git(top.path(), &["clone", "-q", "--depth", "1", &from, "shallow"]);
        let repository = Repository::find(&top.path().join("shallow")).unwrap();
        let said =
            find(&repository, &Checkout::from_repository(&repository).unwrap(), None, &|_| None)
                .unwrap_err()
                .to_string();
        assert!(
            said.contains("no commit before it here") && said.contains("fetch-depth: 0"),
            "{said}"
        );
        let variable = |name: &str| (name == "GITHUB_BASE_REF").then(|| "release".to_string());
        let said =
            find(&repository, &Checkout::from_repository(&repository).unwrap(), None, &variable)
                .unwrap_err()
                .to_string();
        assert!(
            said.contains("`release`, which is not in this clone; the clone is shallow"),
            "{said}"
        );
    }
}
