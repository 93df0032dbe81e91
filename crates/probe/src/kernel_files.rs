//! Reading kernel files below a root: `/` on a host, a folder of captured files in a test.
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Files of /proc, /sys and /etc below one root.
#[derive(Debug, Clone)]
pub struct KernelFiles {
    root: PathBuf,
}

impl Default for KernelFiles {
    fn default() -> Self {
        Self::below("/")
    }
}

/// A host with these files and no others. Its folder lives as long as the first value.
#[cfg(test)]
pub(crate) fn captured(files: &[(&str, &str)]) -> (tempfile::TempDir, KernelFiles) {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let kernel = KernelFiles::below(root.path());
    (root, kernel)
}

impl KernelFiles {
    /// Files below this root.
    #[must_use]
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The place of a file named without its leading slash: `proc/stat`.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A file's text; `None` if it cannot be read. Text that is not UTF-8 (a program may give
    /// itself any name) is kept with replacement characters.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        read(&self.path(name))
    }

    /// A one-line file's text without the line end; `None` if it cannot be read or is empty.
    #[must_use]
    pub fn line(&self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        let line = text.trim();
        (!line.is_empty()).then(|| line.to_string())
    }

    /// Whether a file or folder exists.
    #[must_use]
    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The numbers N for which `folder` has an entry `prefixN`, ascending.
    #[must_use]
    pub fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut numbers: Vec<u32> =
            names.filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// A buffer size that holds most of the files.
const FIRST_READ: usize = 4096;

/// The kernel reports a length of 0 for its files. So `std::fs::read` asks for their length without
/// result and then reads 32, 32, 64 bytes and so on: eleven system calls per file. With a large
/// buffer from the start, there are four.
fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::with_capacity(FIRST_READ);
    File::open(path).ok()?.take(u64::MAX).read_to_end(&mut bytes).ok()?;
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_below_the_root_and_absence_is_none() {
        let root = tempfile::tempdir().unwrap();
        for name in ["cpu0", "cpu10", "cpu2", "cpufreq"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        std::fs::write(root.path().join("one"), b"performance\n").unwrap();
        std::fs::write(root.path().join("raw"), b"a\xffb").unwrap();
        let long = "a line of a long file\n".repeat(1_000);
        std::fs::write(root.path().join("long"), &long).unwrap();
        let files = KernelFiles::below(root.path());
        assert_eq!(files.line("one").as_deref(), Some("performance"));
        assert_eq!(files.text("raw").as_deref(), Some("a\u{fffd}b"));
        assert_eq!(files.text("long"), Some(long));
        assert_eq!(files.text("two"), None);
        assert_eq!(files.numbered("", "cpu"), [0, 2, 10]);
    }
}
