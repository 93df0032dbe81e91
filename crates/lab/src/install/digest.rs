//! A digest of a target's source, so that a change of it is seen.
use pippin_model::text::fnv::Fnv1a;
use std::io;
use std::path::{Path, PathBuf};

/// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): names and contents of all source files
/// in sorted order, in hexadecimal.
///
/// The source is everything in the folder except hidden files and what the folder's `.gitignore`
/// names.
///
/// # Errors
/// If a file cannot be read.
pub fn of_source(folder: &Path) -> io::Result<String> {
    let files = sources(folder)?;
    let mut hash = Fnv1a::default();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        hash = hash.with(name.as_bytes()).with(&[0]).with(&std::fs::read(&file)?);
    }
    Ok(format!("{:016x}", hash.finish()))
}

/// All source files of a folder, in order.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, folder, &ignored_names(folder), &mut files)?;
    files.sort();
    Ok(files)
}

fn ignored_names(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(".gitignore")).unwrap_or_default();
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.trim_matches('/').to_string())
        .collect()
}

fn is_ignored(relative: &str, name: &str, ignored: &[String]) -> bool {
    name.starts_with('.')
        || ignored.iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => pattern == relative || pattern == name,
        })
}

fn collect(
    root: &Path,
    folder: &Path,
    ignored: &[String],
    files: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let relative = path
            .strip_prefix(root)
            .map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default();
        if is_ignored(&relative, &name, ignored) {
            continue;
        }
        // Links are neither followed nor read: an installation may make some.
        let kind = path.symlink_metadata()?.file_type();
        if kind.is_dir() {
            collect(root, &path, ignored, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_counts_and_what_is_built_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".gitignore", "/node_modules/\n*.beam\n");
        write("server.js", "1");
        let before = of_source(folder.path()).unwrap();
        write("node_modules/a.js", "x");
        write("lib/a.beam", "x");
        write(".pippin/installed.json", "x");
        assert_eq!(of_source(folder.path()).unwrap(), before);
        write("server.js", "2");
        assert_ne!(of_source(folder.path()).unwrap(), before);
    }
}
