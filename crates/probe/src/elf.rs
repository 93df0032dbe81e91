//! Reads sections of ELF files (elf(5)) of 64 bits, without loading them into memory. The file belongs
//! to a program that is measured, so nothing in it is trusted: what does not fit is not there.
use std::fs::File;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The head of a file: 64 bytes.
const HEAD: usize = 64;
/// One entry of the table of sections.
const ENTRY: usize = 64;
/// Files have some dozens of sections.
const MOST_SECTIONS: u16 = 512;
/// The most of a table of names that is read.
const MOST_NAMES: u64 = 64 * 1024;
/// How much is read at once.
const STEP: usize = 256 * 1024;

/// An ELF file.
#[derive(Debug)]
pub struct Elf {
    file: File,
    sections: Vec<Section>,
}

#[derive(Debug)]
struct Section {
    name: String,
    at: u64,
    length: u64,
}

impl Elf {
    /// Opens a file; `None` if it cannot be read, or is no such file.
    #[must_use]
    pub fn open(path: &Path) -> Option<Self> {
        // A pipe in its place must not hold the caller up.
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        // Magic, 64 bits, little-endian.
        if head[..6] != *b"\x7fELF\x02\x01" {
            return None;
        }
        let table = number(&head, 40, 8)?;
        let (entry, count) = (number(&head, 58, 2)?, number(&head, 60, 2)?);
        if entry != ENTRY as u64 || count > u64::from(MOST_SECTIONS) {
            return None;
        }
        let mut entries = vec![0; count as usize * ENTRY];
        file.read_exact_at(&mut entries, table).ok()?;
        let of_names = number(&head, 62, 2)? as usize * ENTRY;
        let (at, length) = place(entries.get(of_names..)?)?;
        let mut names = vec![0; length.min(MOST_NAMES) as usize];
        file.read_exact_at(&mut names, at).ok()?;
        let sections = entries.chunks_exact(ENTRY).filter_map(|entry| {
            let name = names.get(number(entry, 0, 4)? as usize..)?;
            let end = name.iter().position(|byte| *byte == 0)?;
            let (at, length) = place(entry)?;
            Some(Section { name: String::from_utf8_lossy(&name[..end]).into_owned(), at, length })
        });
        Some(Self { sections: sections.collect(), file })
    }

    /// At most so many bytes from the begin of a section; `None` if there is no such section.
    #[must_use]
    pub fn begin_of(&self, section: &str, most: usize) -> Option<Vec<u8>> {
        let section = self.section(section)?;
        let mut bytes = vec![0; section.length.min(most as u64) as usize];
        self.file.read_exact_at(&mut bytes, section.at).ok()?;
        Some(bytes)
    }

    /// What `found` makes of the first place in a section at which `text` stands, given the byte
    /// before it, or 0, and at most `more` bytes after it. Places at which it finds nothing are passed
    /// over.
    pub fn find<T>(
        &self,
        section: &str,
        text: &[u8],
        more: usize,
        found: impl Fn(u8, &[u8]) -> Option<T>,
    ) -> Option<T> {
        let section = self.section(section)?;
        let overlap = 1 + text.len() + more;
        let mut bytes = vec![0; STEP + overlap];
        let mut from = 0;
        while from < section.length {
            let length = (section.length - from).min(bytes.len() as u64) as usize;
            let window = &mut bytes[..length];
            self.file.read_exact_at(window, section.at + from).ok()?;
            for at in memchr::memmem::find_iter(window, text) {
                let before = at.checked_sub(1).map_or(0, |at| window[at]);
                let rest = &window[at + text.len()..];
                // What reaches into the next window, and begins in it too, is found there.
                let is_whole = rest.len() >= more || from + length as u64 == section.length;
                if (at > 0 || from == 0)
                    && is_whole
                    && let Some(found) = found(before, &rest[..rest.len().min(more)])
                {
                    return Some(found);
                }
            }
            from += STEP as u64;
        }
        None
    }

    fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }
}

/// The place and length of a section in the file, from its entry.
fn place(entry: &[u8]) -> Option<(u64, u64)> {
    Some((number(entry, 24, 8)?, number(entry, 32, 8)?))
}

/// A little-endian number of so many bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A file with these sections, for tests.
#[cfg(test)]
pub fn made_up(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut names, mut data, mut entries) = (vec![0], vec![], vec![0; ENTRY]);
    let mut entry = |name: usize, at: usize, length: usize| {
        let mut entry = vec![0; ENTRY];
        entry[..4].copy_from_slice(&(name as u32).to_le_bytes());
        entry[24..32].copy_from_slice(&(at as u64).to_le_bytes());
        entry[32..40].copy_from_slice(&(length as u64).to_le_bytes());
        entries.extend(entry);
    };
    for (name, bytes) in sections {
        entry(names.len(), HEAD + data.len(), bytes.len());
        names.extend(name.bytes().chain([0]));
        data.extend_from_slice(bytes);
    }
    entry(names.len(), HEAD + data.len(), names.len() + ".names".len() + 1);
    names.extend(b".names\0");
    data.extend(names);
    let mut file = vec![0; HEAD];
    file[..6].copy_from_slice(b"\x7fELF\x02\x01");
    file[40..48].copy_from_slice(&((HEAD + data.len()) as u64).to_le_bytes());
    file[58..60].copy_from_slice(&(ENTRY as u16).to_le_bytes());
    let count = entries.len() / ENTRY;
    file[60..62].copy_from_slice(&(count as u16).to_le_bytes());
    file[62..64].copy_from_slice(&(count as u16 - 1).to_le_bytes());
    file.extend(data);
    file.extend(entries);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(bytes: &[u8]) -> Option<Elf> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        std::fs::write(&path, bytes).unwrap();
        Elf::open(&path)
    }

    #[test]
    fn sections_are_read_and_texts_found_in_them() {
        let mut long = vec![b'x'; 3 * STEP];
        // Across the border of two reads, and a second time behind it.
        long[STEP - 2..STEP + 6].copy_from_slice(b"v1.2.3\0\0");
        long[2 * STEP..2 * STEP + 6].copy_from_slice(b"v4.5.6");
        let elf = opened(&made_up(&[(".text", b"v9.9.9"), (".rodata", &long)])).unwrap();
        assert_eq!(elf.begin_of(".text", 2).unwrap(), b"v9");
        assert_eq!(elf.begin_of(".data", 2), None);
        let all = |_: u8, after: &[u8]| String::from_utf8(after.to_vec()).ok();
        assert_eq!(elf.find(".rodata", b"v", 5, all).unwrap(), "1.2.3");
        let later = |_: u8, after: &[u8]| after.starts_with(b"4").then_some(true);
        assert_eq!(elf.find(".rodata", b"v", 5, later), Some(true));
        assert_eq!(elf.find(".rodata", b"nothing", 5, all), None);
        let at_the_end = elf.find(".text", b"v9.9", 100, all).unwrap();
        assert_eq!(at_the_end, ".9");
    }

    #[test]
    fn what_is_no_such_file_is_not_read() {
        assert!(opened(b"#!/bin/sh\n").is_none());
        assert!(Elf::open(Path::new("/dev/null")).is_none());
        let whole = made_up(&[(".rodata", b"v1.2.3")]);
        for cut in 0..whole.len() {
            assert!(opened(&whole[..cut]).is_none(), "{cut} bytes");
        }
        // Whatever the bytes are, nothing fails.
        for at in 0..whole.len() {
            let mut bent = whole.clone();
            bent[at] ^= 0xff;
            if let Some(elf) = opened(&bent) {
                let _ = elf.find(".rodata", b"v", 5, |_, after| Some(after.len()));
            }
        }
    }

    #[test]
    fn the_sections_of_this_program() {
        let elf = Elf::open(Path::new("/proc/self/exe")).unwrap();
        let words = b"the words by which this test finds itself";
        // They are in the constant that is asked for.
        let found = elf.find(".rodata", words, 0, |_, _| Some(()));
        assert_eq!(found, Some(()));
    }
}
