//! The log of a process, and how much of it is kept.
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::path::Path;

/// How much space on disk a log may take.
pub const MOST_BYTES: u64 = 64 << 20;

/// A log. If it becomes too long, only its beginning and its end are kept.
///
/// The bytes between are freed on disk (fallocate(2), FALLOC_FL_PUNCH_HOLE) and read as zeros. The
/// size of the file does not change, so it still says how much a target has logged, and writers
/// notice nothing.
#[derive(Debug)]
pub(super) struct Bounded {
    file: File,
    most_bytes: u64,
    /// Up to where the log is freed behind its beginning.
    freed_to: u64,
}

impl Bounded {
    pub(super) const fn new(file: File, most_bytes: u64) -> Self {
        Self { file, most_bytes, freed_to: most_bytes / 4 }
    }

    /// Frees what is too much. Returns whether this was the first time.
    ///
    /// # Errors
    /// If the file system cannot do that.
    pub(super) fn look(&mut self) -> io::Result<bool> {
        let size = self.file.metadata()?.len();
        let (beginning, end) = (self.most_bytes / 4, self.most_bytes / 2);
        let is_first = self.freed_to == beginning;
        if size - self.freed_to.min(size) <= self.most_bytes - beginning {
            return Ok(false);
        }
        let to = size - end;
        free(&self.file, self.freed_to, to)?;
        self.freed_to = to;
        Ok(is_first)
    }
}

fn free(file: &File, from: u64, to: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no pointers are passed.
    let result = unsafe {
        libc::fallocate(file.as_raw_fd(), mode, from as libc::off_t, (to - from) as libc::off_t)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The last lines of a log, at most `lines` of at most 400 characters each; empty if there is no
/// log.
#[must_use]
pub fn tail(path: &Path, lines: usize) -> Vec<String> {
    const ENOUGH_BYTES: u64 = 64 * 1024;
    let Ok(mut file) = File::open(path) else { return Vec::new() };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    if file.seek(SeekFrom::Start(length.saturating_sub(ENOUGH_BYTES))).is_err()
        || file.read_to_end(&mut bytes).is_err()
    {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    all[all.len().saturating_sub(lines)..]
        .iter()
        .map(|line| line.chars().filter(|c| !c.is_control()).take(400).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_keeps_its_beginning_and_its_end() {
        use std::io::Write;
        use std::os::unix::fs::MetadataExt;
        const MOST: u64 = 4 << 20;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let append = || File::options().create(true).append(true).open(&path).unwrap();
        let mut log = Bounded::new(append(), MOST);
        let (mut writer, mut first) = (append(), 0);
        writer.write_all(b"the beginning\n").unwrap();
        for _ in 0..40 {
            writer.write_all(&[b'x'; 1 << 20]).unwrap();
            first += u32::from(log.look().unwrap());
        }
        writer.write_all(b"\nthe end\n").unwrap();
        assert_eq!(first, 1, "it is told once");
        let metadata = std::fs::metadata(&path).unwrap();
        assert!(metadata.len() > 40 << 20, "{}", metadata.len());
        // In blocks of 512 bytes. A MiB may have been written since the last look.
        assert!(metadata.blocks() * 512 <= MOST + (1 << 20), "{}", metadata.blocks());
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.starts_with(b"the beginning\nx") && bytes[2 << 20] == 0);
        assert_eq!(tail(&path, 1), ["the end"]);
    }

    #[test]
    fn the_tail_is_the_last_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "one\ntwo\n\nthree\n").unwrap();
        assert_eq!(tail(&path, 2), ["two", "three"]);
        assert!(tail(&folder.path().join("none"), 2).is_empty());
    }
}
