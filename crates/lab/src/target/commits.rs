//! In which commit of git the files of targets are, for their history.
use pippin_model::target::commit::{Commit, repository_page};
use std::path::Path;

use crate::target::revision::git;

/// The commit of a folder. `None` without git, and where the folder is no part of its last commit:
/// one that was unpacked, or copied into a run's own folder.
#[must_use]
pub fn find(folder: &Path) -> Option<Commit> {
    let said = |arguments: &[&str]| git(folder, arguments, None).ok()?.ok();
    let id = said(&["rev-parse", "HEAD", "HEAD:./"])?.lines().next()?.to_string();
    // Without locks: to look must not hinder the user's own git.
    let differs = said(&["--no-optional-locks", "status", "--porcelain", "--", "."])?;
    let repository = said(&["remote", "get-url", "origin"]).and_then(|url| repository_page(&url));
    Some(Commit { id, changed: !differs.trim().is_empty(), repository })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_the_commit_that_holds_it() {
        let top = tempfile::tempdir().unwrap();
        let (inside, copied) = (top.path().join("targets/shop"), top.path().join("runs/copy"));
        for folder in [&inside, &copied] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("server.js"), "1").unwrap();
        }
        assert_eq!(find(&inside), None, "no repository");
        let git = |arguments: &[&str]| git(top.path(), arguments, None).unwrap().unwrap();
        git(&["init", "-q"]);
        git(&["remote", "add", "origin", "git@example.org:shop/server.git"]);
        git(&["add", "targets"]);
        git(&[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "commit",
            "-q",
            "-m",
            "first",
        ]);
        let found = find(&inside).unwrap();
        assert_eq!(found.id, git(&["rev-parse", "HEAD"]).trim());
        assert_eq!(found.repository.as_deref(), Some("https://example.org/shop/server"));
        assert!(!found.changed, "what differs elsewhere is no change of it");
        assert_eq!(find(&copied), None, "it is in no commit");
        std::fs::write(inside.join("server.js"), "2").unwrap();
        assert!(find(&inside).unwrap().changed);
    }
}
