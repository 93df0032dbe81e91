//! Folders of files for workloads whose answers are files: drawn anew for each start of a target, and
//! some of the files are replaced while it runs.
use pippin_model::workload::files::FILES;
use pippin_reference::monotonic_ns;
use rand::TryRng;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use twox_hash::XxHash64;

use super::secret;
use crate::error::LabError;

/// A length that no file has: what a file repeats begins at another place each time.
const BLOCK: usize = 262_139;

/// How old the files of a new folder say they are.
const AGE: Duration = Duration::from_secs(100);

/// How many versions of a file are remembered: those of a load of minutes.
const VERSIONS_KEPT: usize = 300;

/// How many bytes a part of a long file has at most.
const PART: u64 = 64_000;

/// A part of a file, as a request names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The value of `Range`.
    pub range: String,
    /// Its first byte, and the byte behind its last.
    pub bytes: std::ops::Range<usize>,
}

/// What a file is at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Of all versions of this file, from 0.
    pub nth: u64,
    /// The digest of the whole.
    pub whole: u64,
    /// Those of the parts, by their place.
    pub parts: Vec<u64>,
    /// When the next version was known to be in its place (CLOCK_MONOTONIC, nanoseconds).
    pub superseded_ns: u64,
}

/// One file.
#[derive(Debug)]
pub struct File {
    /// Its name in the folder.
    pub name: &'static str,
    /// Its length, which all versions have.
    pub length: u64,
    /// The parts that requests ask for.
    pub parts: Vec<Part>,
    /// Whether it is replaced while the target runs.
    pub changes: bool,
    versions: RwLock<VecDeque<Version>>,
    /// The whole second in which it was changed last, since 1970.
    changed: RwLock<u64>,
}

impl File {
    /// The versions so far, the oldest first.
    pub fn versions(&self) -> RwLockReadGuard<'_, VecDeque<Version>> {
        self.versions.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of one start of a target.
#[derive(Debug)]
pub struct Files {
    folder: PathBuf,
    key: u64,
    block: Vec<u8>,
    each: Vec<File>,
}

impl Files {
    /// Makes the folder with its files.
    ///
    /// # Errors
    /// If the kernel gives no random numbers, or the files cannot be written.
    pub fn made_in(folder: PathBuf) -> Result<Self, LabError> {
        let key = secret::random("draw files")? as u64;
        let mut block = random_bytes(BLOCK)?;
        // Letters, as a style sheet has; 64 of them are drawn evenly.
        const LETTERS: &[u8; 64] =
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-\n";
        block.iter_mut().for_each(|byte| *byte = LETTERS[usize::from(*byte % 64)]);
        let which = secret::random("draw files")? as usize;
        let each = FILES.iter().enumerate().map(|(nth, (name, length))| {
            // Two of each length stand side by side; the bit of the pair says which one changes.
            let changes = (which >> (nth / 2)) & 1 == nth & 1;
            Ok(File {
                name,
                length: *length,
                parts: parts(*length)?,
                changes,
                versions: RwLock::default(),
                changed: RwLock::new(0),
            })
        });
        let each = each.collect::<Result<_, LabError>>()?;
        let files = Self { folder, key, block, each };
        for folder in [&files.folder, &files.aside()] {
            std::fs::create_dir_all(folder)
                .map_err(LabError::io(format!("create {}", folder.display())))?;
        }
        for file in &files.each {
            files.write(file, SystemTime::now() - AGE)?;
        }
        Ok(files)
    }

    /// Where the files are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// With which digests are made.
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.key
    }

    /// All files, in the order of [`FILES`].
    #[must_use]
    pub fn each(&self) -> &[File] {
        &self.each
    }

    /// The digest of these bytes.
    #[must_use]
    pub fn digest(&self, bytes: &[u8]) -> u64 {
        XxHash64::oneshot(self.key, bytes)
    }

    /// Replaces a file by another one of its length, as a deployment does: the new one is written
    /// elsewhere and renamed, so that who reads the old one goes on reading it. Returns whether it was
    /// replaced: dates of HTTP have whole seconds, so a file has one version in each of them.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn replace(&self, file: &File) -> Result<bool, LabError> {
        let now = SystemTime::now();
        if seconds(now) <= *file.changed.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(false);
        }
        self.write(file, now)?;
        Ok(true)
    }

    /// Writes the next version of a file, which says that it was changed at this time.
    fn write(&self, file: &File, at: SystemTime) -> Result<(), LabError> {
        let bytes = self.drawn(file.length as usize)?;
        let failed = |error| LabError::Io {
            what: format!("write {}", self.folder.join(file.name).display()),
            source: error,
        };
        let aside = self.aside().join(file.name);
        std::fs::write(&aside, &bytes).map_err(failed)?;
        let written = std::fs::File::options().write(true).open(&aside).map_err(failed)?;
        written.set_modified(at).map_err(failed)?;
        let parts = file.parts.iter().map(|part| self.digest(&bytes[part.bytes.clone()]));
        let parts = parts.collect();
        let (whole, superseded_ns) = (self.digest(&bytes), u64::MAX);
        {
            // From here on, an answer may have it.
            let mut versions = file.versions.write().unwrap_or_else(PoisonError::into_inner);
            let nth = versions.back().map_or(0, |version| version.nth + 1);
            versions.push_back(Version { nth, whole, parts, superseded_ns });
            if versions.len() > VERSIONS_KEPT {
                versions.pop_front();
            }
        }
        std::fs::rename(&aside, self.folder.join(file.name)).map_err(failed)?;
        let now_ns = monotonic_ns();
        let mut versions = file.versions.write().unwrap_or_else(PoisonError::into_inner);
        for version in versions.iter_mut().rev().skip(1) {
            version.superseded_ns = version.superseded_ns.min(now_ns);
        }
        *file.changed.write().unwrap_or_else(PoisonError::into_inner) = seconds(at);
        Ok(())
    }

    /// The bytes of a version: a text of its own, and the block from a random place on, again and
    /// again.
    fn drawn(&self, length: usize) -> Result<Vec<u8>, LabError> {
        let random = secret::random("draw a file")?;
        let mut bytes = format!("/* {random:032x} */\n").into_bytes();
        bytes.reserve(length);
        let at = (random % BLOCK as u128) as usize;
        bytes.extend_from_slice(&self.block[at..]);
        while bytes.len() < length {
            bytes.extend_from_slice(&self.block);
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Where new versions are written, on the same file system, and not served.
    fn aside(&self) -> PathBuf {
        self.folder.with_extension("new")
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for folder in [&self.folder, &self.aside()] {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn random_bytes(count: usize) -> Result<Vec<u8>, LabError> {
    let mut bytes = vec![0; count];
    rand::rngs::SysRng.try_fill_bytes(&mut bytes).map_err(|error| LabError::Io {
        what: "draw files".into(),
        source: std::io::Error::other(error),
    })?;
    Ok(bytes)
}

/// The parts of a file of this length that requests ask for: from the middle, from the end, and from
/// a place to the end, each drawn.
fn parts(length: u64) -> Result<Vec<Part>, LabError> {
    let below = |limit: u64| Ok::<_, LabError>(secret::random("draw a part")? as u64 % limit);
    let most = PART.min(length / 2);
    let first = 1 + below(length - most - 1)?;
    let last = first + below(most)?;
    let (suffix, open) = (1 + below(most)?, length - 1 - below(most)?);
    let part =
        |range: String, from: u64, to: u64| Part { range, bytes: from as usize..to as usize };
    Ok(vec![
        part(format!("bytes={first}-{last}"), first, last + 1),
        part(format!("bytes=-{suffix}"), length - suffix, length),
        part(format!("bytes={open}-"), open, length),
    ])
}

/// The folders of the targets that are up. They are removed when this is dropped.
#[derive(Debug)]
pub struct Folders {
    within: PathBuf,
    chosen: usize,
    /// How many were made.
    made: u64,
    of_target: BTreeMap<usize, Arc<Files>>,
}

impl Folders {
    /// Folders in this one.
    ///
    /// # Errors
    /// If it has no absolute name, which a target in another folder needs.
    pub fn within(folder: &Path) -> Result<Self, LabError> {
        let within =
            std::path::absolute(folder).map_err(LabError::io("find the folder of files"))?;
        Ok(Self { within, chosen: 0, made: 0, of_target: BTreeMap::new() })
    }

    /// Selects the target, counted from 0, for everything that follows.
    pub const fn choose(&mut self, target: usize) {
        self.chosen = target;
    }

    /// Makes the folder for the next start of the chosen target.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn renew(&mut self) -> Result<&Path, LabError> {
        // The old one goes first, if nobody judges by it any more.
        self.of_target.remove(&self.chosen);
        self.made += 1;
        let files = Files::made_in(self.within.join(format!("static-{}", self.made)))?;
        Ok(self.of_target.entry(self.chosen).or_insert(Arc::new(files)).folder())
    }

    /// The files of the chosen target.
    #[must_use]
    pub fn files(&self) -> Option<Arc<Files>> {
        self.of_target.get(&self.chosen).map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> (tempfile::TempDir, Files) {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::made_in(folder.path().join("files")).unwrap();
        (folder, files)
    }

    fn content(files: &Files, file: &File) -> Vec<u8> {
        std::fs::read(files.folder().join(file.name)).unwrap()
    }

    #[test]
    fn each_file_is_there_with_its_length_and_one_of_each_two_changes() {
        let (_folder, files) = files();
        for pair in files.each().chunks(2) {
            assert_ne!(pair[0].changes, pair[1].changes);
            assert_eq!(pair[0].length, pair[1].length);
        }
        for file in files.each() {
            let bytes = content(&files, file);
            assert_eq!(bytes.len() as u64, file.length);
            let versions = file.versions();
            assert_eq!((versions.len(), versions[0].whole), (1, files.digest(&bytes)));
            for (part, digest) in file.parts.iter().zip(&versions[0].parts) {
                assert!(!part.bytes.is_empty() && part.bytes.end <= bytes.len(), "{part:?}");
                assert_eq!(*digest, files.digest(&bytes[part.bytes.clone()]));
            }
        }
    }

    /// RFC 9110 section 14.1.2: what a range says is what its bytes are.
    #[test]
    fn the_text_of_a_part_means_its_bytes() {
        for length in [1_000, 64_000, 10_000_000] {
            let parts = parts(length).unwrap();
            assert_eq!(parts.len(), 3);
            for Part { range, bytes } in parts {
                let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
                let number = |text: &str| text.parse::<usize>().unwrap();
                let expected = match (first, last) {
                    ("", suffix) => length as usize - number(suffix)..length as usize,
                    (first, "") => number(first)..length as usize,
                    (first, last) => number(first)..number(last) + 1,
                };
                assert_eq!(bytes, expected, "{range}");
            }
        }
    }

    #[test]
    fn a_replaced_file_has_other_bytes_a_later_second_and_who_reads_the_old_one_reads_on() {
        use std::io::Read;
        let (_folder, files) = files();
        let file = &files.each()[0];
        let path = files.folder().join(file.name);
        let changed = || seconds(std::fs::metadata(&path).unwrap().modified().unwrap());
        let (before, at) = (content(&files, file), changed());
        let mut open = std::fs::File::open(&path).unwrap();
        assert!(files.replace(file).unwrap());
        let after = content(&files, file);
        assert!(after != before && after.len() == before.len() && changed() > at);
        let mut old = Vec::new();
        open.read_to_end(&mut old).unwrap();
        assert_eq!(old, before);
        let versions = file.versions().clone();
        assert_eq!(versions[1].whole, files.digest(&after));
        assert!(versions[0].superseded_ns <= monotonic_ns());
        assert_eq!(versions[1].superseded_ns, u64::MAX);
        // A second may begin in between, but not between all of them.
        let again = (0..50).filter(|_| files.replace(file).unwrap()).count();
        assert!(again < 50);
    }

    #[test]
    fn each_start_has_other_files_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut folders = Folders::within(folder.path()).unwrap();
        assert!(folders.files().is_none());
        let first = folders.renew().unwrap().to_path_buf();
        let digest = |folders: &Folders| folders.files().unwrap().each()[0].versions()[0].clone();
        let before = digest(&folders);
        assert!(folders.renew().unwrap() != first && !first.exists());
        assert_ne!(digest(&folders), before);
        folders.choose(1);
        folders.renew().unwrap();
        drop(folders);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
