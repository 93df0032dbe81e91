//! Whether a target from a revision of git runs files of the user's checkout in place of its own: its
//! command can name an absolute path, or change into another folder. It would then be the same server
//! as the one that it is compared with.
use pippin_probe::kernel_files::KernelFiles;
use std::path::{Path, PathBuf};

use crate::lifecycle::descendants::descendants;

/// A file or folder of the user's checkout that a process below `root` uses, though the target's
/// folder is in a worktree of that checkout; `None` if there is none, or it is no worktree. `root`
/// itself is Pippin's, which stands in the user's folder.
#[must_use]
pub fn file_of_checkout(root: i32, folder: &Path) -> Option<PathBuf> {
    let (worktree, checkout) = worktree_of(folder)?;
    let files = KernelFiles::default();
    let is_elsewhere = |path: &PathBuf| {
        path.strip_prefix(&checkout).is_ok_and(|inside| !is_of_pippin(inside))
            && !path.starts_with(&worktree)
    };
    descendants(root).into_iter().flat_map(|pid| used_by(&files, pid)).find(is_elsewhere)
}

/// Whether a path is in a folder of Pippin's, which stands beside each `pippin.toml`.
fn is_of_pippin(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".pippin")
}

/// The worktree that holds a folder, and the checkout that it belongs to (gitrepository-layout(5)).
fn worktree_of(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let folder = folder.canonicalize().ok()?;
    let worktree = folder.ancestors().find(|at| at.join(".git").exists())?;
    // In a checkout it is a folder, and cannot be read as text.
    let text = std::fs::read_to_string(worktree.join(".git")).ok()?;
    let (checkout, _) = text.strip_prefix("gitdir:")?.trim().split_once("/.git/worktrees/")?;
    Some((worktree.to_path_buf(), Path::new(checkout).canonicalize().ok()?))
}

/// The program of a process, its folder, the files that are mapped into it, and the paths that its
/// command line names (proc(5)).
fn used_by(files: &KernelFiles, pid: i32) -> Vec<PathBuf> {
    let link = |name: &str| std::fs::read_link(files.path(&format!("proc/{pid}/{name}"))).ok();
    let folder = link("cwd");
    let words = files.text(&format!("proc/{pid}/cmdline")).unwrap_or_default();
    let named = words.split(['\0', ' ', '\'', '"', '=']).filter(|word| word.contains('/'));
    let named = named.filter_map(|word| folder.as_ref()?.join(word).canonicalize().ok());
    let maps = files.text(&format!("proc/{pid}/maps")).unwrap_or_default();
    let mapped = maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..])));
    [link("exe"), folder.clone()].into_iter().flatten().chain(named).chain(mapped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    /// A checkout with a worktree of it, as git lays them out.
    fn layout() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (checkout, worktree) = (folder.path().join("shop"), folder.path().join("then"));
        std::fs::create_dir_all(checkout.join(".git/worktrees/then")).unwrap();
        std::fs::create_dir_all(&worktree).unwrap();
        let link = format!("gitdir: {}/.git/worktrees/then\n", checkout.display());
        std::fs::write(worktree.join(".git"), link).unwrap();
        for place in [&checkout, &worktree] {
            std::fs::write(place.join("server.sh"), "read line; true\n").unwrap();
        }
        (folder, checkout, worktree)
    }

    fn started(script: &Path, folder: &Path) -> Child {
        let mut command = Command::new("sh");
        command.arg(script).current_dir(folder).stdin(std::process::Stdio::piped());
        command.spawn().unwrap()
    }

    #[test]
    fn a_file_of_the_checkout_is_found_and_one_of_the_worktree_is_right() {
        let (_folder, checkout, worktree) = layout();
        let own = std::process::id() as i32;
        for (script, at, is_wrong) in [
            (checkout.join("server.sh"), &worktree, true),
            (PathBuf::from("server.sh"), &checkout, true),
            (PathBuf::from("server.sh"), &worktree, false),
            (worktree.join("server.sh"), &worktree, false),
        ] {
            let mut child = started(&script, at);
            let found = file_of_checkout(own, &worktree);
            assert_eq!(found.is_some(), is_wrong, "{script:?} in {at:?}: {found:?}");
            assert_eq!(file_of_checkout(own, &checkout), None, "it is no worktree");
            // As Pippin's supervisor in the checkout, it is no part of the target.
            assert_eq!(file_of_checkout(child.id() as i32, &worktree), None);
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }
}
