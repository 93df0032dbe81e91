//! A target as it is in a revision of git: its folder written elsewhere, without touching the
//! user's checkout, index or branches.
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::LabError;
use crate::lifecycle::environment;
use pippin_model::target::TargetId;
use pippin_model::text::file::nearest;

/// Names that a message lists at the most.
const LISTED: usize = 20;

/// The repository that holds `targets/`.
#[derive(Debug, Clone)]
pub struct Repository {
    /// Its working tree.
    top: PathBuf,
    /// From there to the folder with `targets/`: empty, or ending in a slash.
    prefix: String,
}

/// A target's folder in one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// As the user wrote it.
    pub name: String,
    /// The commit that it stands for.
    pub commit: String,
    /// Git's tree of the target's folder. Two are equal if all files in them are.
    pub tree: String,
}

impl Revision {
    /// The first digits of the commit, as git shows them.
    #[must_use]
    pub fn short_commit(&self) -> &str {
        self.commit.get(..10).unwrap_or(&self.commit)
    }

    /// The name in a form that fits into a target's name: `feature/x` becomes `feature-x`.
    #[must_use]
    pub fn label(&self) -> String {
        let allowed =
            |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        self.name.chars().map(allowed).collect()
    }
}

impl Repository {
    /// The repository that `folder`, a checkout of Pippin, lies in.
    ///
    /// # Errors
    /// If git is not there, or the folder is in no repository that it may read.
    pub fn find(folder: &Path) -> Result<Self, LabError> {
        let found = git(folder, &["rev-parse", "--show-toplevel", "--show-prefix"], None)?.map_err(|said| {
            LabError::User(format!("{} is in no git repository that can be read, and branches are compared out of one: {said}", folder.display()))
        })?;
        let mut lines = found.lines();
        Ok(Self {
            top: lines.next().unwrap_or_default().into(),
            prefix: lines.next().unwrap_or_default().into(),
        })
    }

    /// A target's folder in a revision: a branch, a tag, a commit, or any other name that git
    /// resolves.
    ///
    /// # Errors
    /// If there is no such revision, or the target is not in it; the message names the nearest.
    pub fn revision(&self, name: &str, target: &TargetId) -> Result<Revision, LabError> {
        let commit = self
            .parse(&format!("{name}^{{commit}}"))
            .filter(|_| !name.starts_with('-'))
            .ok_or_else(|| self.unknown_revision(name))?;
        let base = target.base();
        match self
            .parse(&format!("{commit}:{}targets/{}/{}", self.prefix, base.language, base.name))
        {
            Some(tree) => Ok(Revision { name: name.into(), commit, tree }),
            None => Err(self.unknown_target(name, &commit, &base)),
        }
    }

    /// A revision with all its files.
    ///
    /// # Errors
    /// If there is no such revision; the message names the nearest.
    pub fn whole(&self, name: &str) -> Result<Revision, LabError> {
        let commit = self
            .parse(&format!("{name}^{{commit}}"))
            .filter(|_| !name.starts_with('-'))
            .ok_or_else(|| self.unknown_revision(name))?;
        let tree = self.parse(&format!("{commit}^{{tree}}")).unwrap_or_default();
        Ok(Revision { name: name.into(), commit, tree })
    }

    /// The last commit that two revisions have in common; `None` if git knows none, as in a shallow
    /// clone.
    #[must_use]
    pub fn merge_base(&self, a: &str, b: &str) -> Option<String> {
        if [a, b].iter().any(|name| name.starts_with('-')) {
            return None;
        }
        let found = git(&self.top, &["merge-base", a, b], None).ok()?.ok()?;
        Some(found.trim().to_string()).filter(|commit| !commit.is_empty())
    }

    /// Whether commits before a certain one are missing.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        let said = git(&self.top, &["rev-parse", "--is-shallow-repository"], None);
        said.is_ok_and(|said| said.is_ok_and(|said| said.trim() == "true"))
    }

    /// Whether there is another repository from which commits can be fetched.
    #[must_use]
    pub fn has_remote(&self) -> bool {
        let said = git(&self.top, &["remote"], None);
        said.is_ok_and(|said| said.is_ok_and(|said| !said.trim().is_empty()))
    }

    /// Whether tracked files differ from the last commit, or there are new ones that git does not
    /// ignore. If git cannot tell, they may.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.differs("normal")
    }

    /// Whether tracked files differ from the last commit. New files alone may come from a build, as
    /// the lock file of `npm install` does. If git cannot tell, they may differ.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        self.differs("no")
    }

    fn differs(&self, new_files: &str) -> bool {
        let new_files = format!("--untracked-files={new_files}");
        let said = ["--no-optional-locks", "status", "--porcelain", &new_files];
        let said = git(&self.top, &said, None);
        said.map_or(true, |said| said.map_or(true, |said| !said.trim().is_empty()))
    }

    /// A worktree of git's with the files of a revision, in a new folder. Those that a killed
    /// process has left behind are removed first.
    ///
    /// # Errors
    /// If git cannot make it.
    pub fn worktree(&self, revision: &Revision, into: &Path) -> Result<Worktree, LabError> {
        self.remove_abandoned();
        let lock = lock_of(into);
        if let Some(parent) = into.parent() {
            std::fs::create_dir_all(parent)
                .map_err(LabError::io(format!("create {}", parent.display())))?;
        }
        let owned = File::create(&lock)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(LabError::io(format!("lock {}", lock.display())))?;
        let folder = into.display().to_string();
        let made = ["worktree", "add", "--detach", &folder, &revision.commit];
        let (repository, commit) = (self.clone(), revision.commit.clone());
        let worktree = Worktree { repository, folder: into.into(), commit, _lock: owned };
        git(&self.top, &made, None)?.map_err(|said| failed(&revision.name, &said))?;
        Ok(worktree)
    }

    /// Removes the worktrees whose process was killed. A process holds the lock beside its worktree
    /// as long as it lives.
    fn remove_abandoned(&self) {
        let Ok(Ok(listed)) = git(&self.top, &["worktree", "list", "--porcelain"], None) else {
            return;
        };
        for folder in listed.lines().filter_map(|line| line.strip_prefix("worktree ")) {
            let folder = Path::new(folder);
            let Ok(lock) = File::open(lock_of(folder)) else { continue };
            if lock.try_lock().is_ok() {
                let (repository, folder) = (self.clone(), folder.into());
                drop(Worktree { repository, folder, commit: String::new(), _lock: lock });
            }
        }
    }

    /// Whether git knows a revision of this name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        !name.starts_with('-') && self.parse(&format!("{name}^{{commit}}")).is_some()
    }

    /// Writes the files of a revision's target into a folder, which is made.
    ///
    /// Uses a separate index as the list of files to write, so that the user's index does not
    /// change.
    ///
    /// # Errors
    /// If git cannot write them.
    pub fn write(&self, revision: &Revision, into: &Path) -> Result<(), LabError> {
        std::fs::create_dir_all(into)
            .map_err(LabError::io(format!("create {}", into.display())))?;
        let index = into.with_extension("index");
        let prefix = format!("--prefix={}/", into.display());
        let written = [
            vec!["read-tree", &revision.tree],
            vec!["checkout-index", "--all", "--force", &prefix],
        ]
        .iter()
        .try_for_each(|arguments| {
            git(&self.top, arguments, Some(&index))?
                .map(drop)
                .map_err(|said| failed(&revision.name, &said))
        });
        // Without git there is nothing to remove either.
        let _ = std::fs::remove_file(&index);
        written
    }

    /// What a name stands for, if it is one.
    fn parse(&self, name: &str) -> Option<String> {
        let found = git(&self.top, &["rev-parse", "--verify", "--quiet", name], None).ok()?.ok()?;
        Some(found.trim().to_string()).filter(|id| !id.is_empty())
    }

    fn unknown_revision(&self, name: &str) -> LabError {
        let found = git(
            &self.top,
            &[
                "for-each-ref",
                "--sort=-committerdate",
                "--format=%(refname:short)",
                "refs/heads",
                "refs/tags",
                "refs/remotes",
            ],
            None,
        );
        let known = found.ok().and_then(Result::ok).unwrap_or_default();
        let advice = "; in a shallow clone fetch it first";
        LabError::User(format!(
            "git knows no revision `{name}`{}{advice}",
            there_are(name, &known.lines().collect::<Vec<_>>())
        ))
    }

    fn unknown_target(&self, name: &str, commit: &str, target: &TargetId) -> LabError {
        let found = git(
            &self.top,
            &["ls-tree", "-r", "-d", "--name-only", &format!("{commit}:{}targets", self.prefix)],
            None,
        );
        let folders = found.ok().and_then(Result::ok).unwrap_or_default();
        let known: Vec<&str> =
            folders.lines().filter(|path| path.split('/').count() == 2).collect();
        LabError::User(format!(
            "revision `{name}` has no target `{target}`{}",
            there_are(&target.to_string(), &known)
        ))
    }
}

/// A worktree of git's; it is removed when this is dropped.
#[derive(Debug)]
pub struct Worktree {
    repository: Repository,
    folder: PathBuf,
    commit: String,
    /// Held as long as this process lives.
    _lock: File,
}

/// The lock file beside a worktree.
fn lock_of(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_os_string();
    name.push(".lock");
    name.into()
}

impl Worktree {
    /// Its folder that corresponds to the one for which the repository was looked for.
    #[must_use]
    pub fn project_folder(&self) -> PathBuf {
        self.folder.join(&self.repository.prefix)
    }

    /// The commit whose files it holds.
    #[must_use]
    pub fn commit(&self) -> &str {
        &self.commit
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        // Removes build output too. If git fails, the rest is in a temporary folder and does no
        // harm.
        let folder = self.folder.display().to_string();
        let remove = ["worktree", "remove", "--force", &folder];
        if !git(&self.repository.top, &remove, None).is_ok_and(|done| done.is_ok()) {
            let _ = std::fs::remove_dir_all(&self.folder);
            let _ = git(&self.repository.top, &["worktree", "prune"], None);
        }
        let _ = std::fs::remove_file(lock_of(&self.folder));
    }
}

/// "; did you mean `main`? (there are: main, next)"
fn there_are(name: &str, known: &[&str]) -> String {
    let hint = nearest(name, known.iter().copied())
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    let more = if known.len() > LISTED { ", ..." } else { "" };
    let listed = known.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    format!("{hint} (there are: {listed}{more})")
}

fn failed(revision: &str, said: &str) -> LabError {
    LabError::Io {
        what: format!("write the files of revision `{revision}`"),
        source: std::io::Error::other(said.to_string()),
    }
}

/// Git's output, or the line of its error that says why: the one that begins with `fatal:`, or the
/// last. Variables that point git to another repository, as
/// hooks set them, are removed.
///
/// # Errors
/// If git cannot be started.
pub(crate) fn git(
    folder: &Path,
    arguments: &[&str],
    index: Option<&Path>,
) -> Result<Result<String, String>, LabError> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .env_clear()
        .envs(environment::inherited())
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let output = command.output().map_err(|error| {
        LabError::User(format!("git cannot be started ({error}): install it to compare branches"))
    })?;
    if output.status.success() {
        return Ok(Ok(String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(Err(reason(&said).to_string()))
}

/// The line of git's standard error that says why it failed. Warnings may come before it.
fn reason(said: &str) -> &str {
    let fatal = said.lines().find(|line| line.starts_with("fatal:"));
    fatal.or_else(|| said.lines().last()).unwrap_or("git says nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_git_is_not_its_first_warning() {
        let said =
            "warning: unable to access '/root/.config'\nfatal: not a git repository\nhint: x\n";
        assert_eq!(reason(said), "fatal: not a git repository");
        assert_eq!(reason("Preparing worktree\nerror: no space left\n"), "error: no space left");
        assert_eq!(reason(""), "git says nothing");
    }

    /// A repository with two branches of one target. Its catalog is in a subfolder.
    fn scratch(name: &str) -> PathBuf {
        let top =
            std::env::temp_dir().join(format!("pippin-revision-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        let folder = top.join("lab/targets/go/chi");
        std::fs::create_dir_all(&folder).unwrap();
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command
                .arg("-C")
                .arg(&top)
                .args(["-c", "user.name=x", "-c", "user.email=x@example.org"])
                .args(arguments);
            assert!(
                command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success(),
                "{arguments:?}"
            );
        };
        git(&["init", "-q", "-b", "main"]);
        for (branch, text) in [("main", "old"), ("feature/x", "new")] {
            if branch != "main" {
                git(&["checkout", "-q", "-b", branch]);
            }
            std::fs::write(folder.join("main.go"), text).unwrap();
            git(&["add", "."]);
            git(&["commit", "-q", "-m", branch]);
        }
        top
    }

    fn chi() -> TargetId {
        "go/chi".parse().unwrap()
    }

    #[test]
    fn each_revision_has_its_own_files_and_the_checkout_stays_as_it_is() {
        let top = scratch("files");
        std::fs::write(top.join("lab/targets/go/chi/main.go"), "not committed").unwrap();
        let repository = Repository::find(&top.join("lab")).unwrap();
        let status =
            || git(&top, &["status", "--porcelain=v2", "--branch"], None).unwrap().unwrap();
        let before = status();
        for (name, text) in [("main", "old"), ("feature/x", "new"), ("feature/x~1", "old")] {
            let revision = repository.revision(name, &chi()).unwrap();
            let into = top.join("copy").join(revision.label()).join("go/chi");
            repository.write(&revision, &into).unwrap();
            assert_eq!(std::fs::read_to_string(into.join("main.go")).unwrap(), text);
            assert_eq!(
                std::fs::read_dir(into.parent().unwrap()).unwrap().count(),
                1,
                "the index is gone"
            );
        }
        std::fs::remove_dir_all(top.join("copy")).unwrap();
        assert_eq!(status(), before);
        assert_eq!(
            std::fs::read_to_string(top.join("lab/targets/go/chi/main.go")).unwrap(),
            "not committed"
        );
        let tree = |name| repository.revision(name, &chi()).unwrap().tree;
        assert!(tree("main") == tree("feature/x~1") && tree("main") != tree("feature/x"));
        std::fs::remove_dir_all(top).unwrap();
    }

    #[test]
    fn slips_name_the_nearest() {
        let top = scratch("slips");
        let repository = Repository::find(&top.join("lab")).unwrap();
        let refused = |name: &str, target: &str| {
            repository.revision(name, &target.parse().unwrap()).unwrap_err().to_string()
        };
        let unknown = refused("mian", "go/chi");
        assert!(
            unknown.contains("git knows no revision `mian`; did you mean `main`?")
                && unknown.contains("feature/x"),
            "{unknown}"
        );
        assert!(refused("main", "go/chii").contains(
            "revision `main` has no target `go/chii`; did you mean `go/chi`? (there are: go/chi)"
        ));
        assert!(refused("--all", "go/chi").contains("git knows no revision `--all`"));
        std::fs::remove_dir_all(top).unwrap();
    }

    /// What `kill -9` leaves: the worktree, its lock file, and no lock on it.
    #[test]
    fn the_worktree_of_a_killed_process_is_removed_by_the_next() {
        let top = scratch("killed");
        let repository = Repository::find(&top.join("lab")).unwrap();
        let revision = repository.whole("main").unwrap();
        let worktrees = || git(&top, &["worktree", "list"], None).unwrap().unwrap().lines().count();
        let (left, held) = (top.join("runs/left"), top.join("runs/held"));
        let mut killed = repository.worktree(&revision, &left).unwrap();
        // Without its destructor only the lock goes.
        killed._lock = File::open("/dev/null").unwrap();
        std::mem::forget(killed);
        // A child that another test begins to start has the lock, too, until it executes its program.
        let is_free = || File::open(lock_of(&left)).unwrap().try_lock().is_ok();
        let wait = || std::thread::sleep(std::time::Duration::from_millis(10));
        assert!((0..1_000).any(|_| is_free() || {
            wait();
            false
        }));
        assert!(left.join("lab").is_dir() && worktrees() == 2);
        let alive = repository.worktree(&revision, &held).unwrap();
        assert!(!left.exists() && !lock_of(&left).exists() && worktrees() == 2);
        // One that is in use stays.
        let other = repository.worktree(&revision, &top.join("runs/other")).unwrap();
        assert!(held.join("lab").is_dir() && worktrees() == 3);
        drop((alive, other));
        assert!(worktrees() == 1 && std::fs::read_dir(top.join("runs")).unwrap().count() == 0);
        std::fs::remove_dir_all(top).unwrap();
    }

    #[test]
    fn no_repository_is_said() {
        let folder =
            std::env::temp_dir().join(format!("pippin-revision-none-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let error = Repository::find(&folder).unwrap_err().to_string();
        assert!(error.contains("is in no git repository that can be read"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn labels_fit_into_names_of_targets() {
        let label = |name: &str| {
            Revision { name: name.into(), commit: String::new(), tree: String::new() }.label()
        };
        assert_eq!(
            [label("main"), label("feature/x"), label("HEAD~2"), label("v1.2")],
            ["main", "feature-x", "HEAD-2", "v1.2"]
        );
        assert!("go/chi@v1.2:fast".parse::<TargetId>().is_ok());
    }
}
