//! Reads files that users name, up to a limit. A device without an end, or a pipe that nobody
//! writes, would be read for ever.
use std::fs::{self, FileType};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::text::units::format_bytes;

/// The most bytes of a file that people write by hand: settings, certificates, plans.
pub const BY_HAND: u64 = 16 << 20;
/// The most bytes of data: requests, bodies, tables, records.
pub const DATA: u64 = 256 << 20;

/// The content of a file of at most so many bytes.
///
/// # Errors
/// If it cannot be read, is not a file (a folder, a pipe, a device), or is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe waits until somebody writes it, so this comes first.
    let metadata = fs::metadata(path)?;
    if let Some(kind) = not_a_file(metadata.file_type()) {
        return Err(io::Error::other(format!(
            "it is {kind}; only a file of at most {} is read here",
            format_bytes(most)
        )));
    }
    if metadata.len() > most {
        return Err(too_long(most));
    }
    up_to(fs::File::open(path)?, most)
}

/// The content of a text file of at most so many bytes.
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(read(path, most)?).map_err(not_text)
}

/// Everything from a source that ends within so many bytes, such as standard input.
///
/// # Errors
/// If it cannot be read, or goes on.
pub fn up_to(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_long(most));
    }
    Ok(bytes)
}

fn too_long(most: u64) -> io::Error {
    io::Error::other(format!("it has more than {}", format_bytes(most)))
}

/// What something is that is no file; `None` for a file.
#[must_use]
pub fn not_a_file(kind: FileType) -> Option<&'static str> {
    let kinds = [
        (kind.is_dir(), "a folder"),
        (kind.is_fifo(), "a pipe (FIFO)"),
        (kind.is_char_device() || kind.is_block_device(), "a device, which may have no end"),
        (kind.is_socket(), "a socket"),
    ];
    kinds.into_iter().find(|(is_it, _)| *is_it).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused_with_the_limit() {
        for (path, said) in [("/dev/zero", "a device"), ("/tmp", "a folder")] {
            let why = read(Path::new(path), 16 << 20).unwrap_err().to_string();
            assert!(why.contains(said) && why.contains("16.0 MiB"), "{why}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let why = read(&path, 1).unwrap_err().to_string();
        assert!(why.contains("a pipe (FIFO)"), "{why}");
        let why = up_to(io::repeat(0), 1 << 20).unwrap_err().to_string();
        assert!(why.contains("more than 1.0"), "{why}");
    }

    #[test]
    fn a_file_up_to_the_limit_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "hello").unwrap();
        assert_eq!(text(&path, 5).unwrap(), "hello");
        assert!(read(&path, 4).unwrap_err().to_string().contains("more than 4"));
        fs::write(&path, [0xff]).unwrap();
        assert!(text(&path, 5).unwrap_err().to_string().contains("UTF-8"));
    }
}
