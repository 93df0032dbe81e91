//! What a target's folder holds: the lines that were written for it, and what its installation added.
use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::digest;

/// Files that programs write to fix versions.
const LOCKS: [&str; 9] = [
    "Cargo.lock",
    "Gemfile.lock",
    "composer.lock",
    "go.sum",
    "mix.lock",
    "package-lock.json",
    "packages.lock.json",
    "requirements.txt",
    "uv.lock",
];

/// Lines that are not blank in the source files of a folder: without lock files, the manifest, and
/// files that are not text.
///
/// # Errors
/// If a file cannot be read.
pub fn own_lines(folder: &Path) -> io::Result<u64> {
    let mut lines = 0;
    for file in digest::sources(folder)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name == "target.toml" || LOCKS.contains(&name.as_ref()) {
            continue;
        }
        if let Ok(text) = String::from_utf8(fs::read(&file)?) {
            lines += text.lines().filter(|line| !line.trim().is_empty()).count() as u64;
        }
    }
    Ok(lines)
}

/// Bytes of all files in a folder that are not its source. A file with several names counts once.
///
/// # Errors
/// If the folder cannot be read.
pub fn installed_bytes(folder: &Path) -> io::Result<u64> {
    let mut seen = HashSet::new();
    for source in digest::sources(folder)? {
        let metadata = fs::symlink_metadata(source)?;
        seen.insert((metadata.dev(), metadata.ino()));
    }
    bytes_below(folder, &mut seen)
}

fn bytes_below(folder: &Path, seen: &mut HashSet<(u64, u64)>) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.is_dir() {
            bytes += bytes_below(&path, seen)?;
        } else if metadata.is_file() && seen.insert((metadata.dev(), metadata.ino())) {
            bytes += metadata.len();
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_lines_and_what_was_installed_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".gitignore", b"built\n");
        write("target.toml", b"schema = 1\n");
        write("go.sum", b"a\nb\n");
        write("main.go", b"package main\n\nfunc main() {\n}\n");
        write("picture.png", &[0xff, 0xfe, b'\n']);
        write("built/server", &[0; 1_000]);
        write(".venv/lib/a", &[0; 20]);
        fs::hard_link(folder.path().join("built/server"), folder.path().join("built/again"))
            .unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("built/root")).unwrap();
        assert_eq!(own_lines(folder.path()).unwrap(), 3);
        // The hidden file that names what is ignored is no source.
        assert_eq!(installed_bytes(folder.path()).unwrap(), 1_000 + 20 + 6);
    }
}
