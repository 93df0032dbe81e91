//! Answers that are files: which of them are right at each instant, although files are replaced.
use pippin_engine::{Exchange, Referee};
use pippin_model::load::BodyCheck;
use pippin_model::text::units::format_ns;
use pippin_model::workload::Sample;
use pippin_model::workload::files::{FILES, place_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Verdict;
use super::http::Answer;
use crate::services::files::{File, Files, Version};

/// What a request wants of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// All of it.
    Whole,
    /// The part at this place.
    Part(usize),
    /// All of it, unless it is still the version with this number.
    Unless(u64),
}

/// What a request asks for: the place of a file, and what of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRequest {
    /// The place of the file.
    pub file: usize,
    /// What is wanted of it.
    pub wish: Wish,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It has another status than one that is right for its request.
    Status,
    /// Its bytes are those of no version of the file.
    Bytes,
    /// It is a version that was replaced too long before.
    Old,
    /// It says that nothing has changed, although the file was replaced too long before.
    SaysUnchanged,
    /// It has the version that the client said to have.
    NotSaidUnchanged,
}

impl Fault {
    const ALL: [Self; 5] =
        [Self::Status, Self::Bytes, Self::Old, Self::SaysUnchanged, Self::NotSaidUnchanged];

    /// In words that follow "an answer".
    fn words(self, allowed_ns: u64) -> String {
        let age = format_ns(allowed_ns);
        match self {
            Self::Status => "with another status than 200, 206 for a part, or 304".into(),
            Self::Bytes => "with bytes of no version of the file".into(),
            Self::Old => format!(
                "with a file that had been replaced {age} or longer before the request was sent: it is cached"
            ),
            Self::SaysUnchanged => format!(
                "304, although the file had been replaced {age} or longer before the request was sent"
            ),
            Self::NotSaidUnchanged => {
                "with the very version that the request named, in place of 304".into()
            }
        }
    }
}

/// What the loads of a target have shown.
#[derive(Debug, Default)]
struct Counts {
    faults: [AtomicU64; Fault::ALL.len()],
    whole: AtomicU64,
    parts: AtomicU64,
    unchanged: AtomicU64,
    /// Right answers that would have been too old if they had the version that came first.
    fresh: AtomicU64,
    /// One more than the number of the version that came first under load, of each file; 0 if none did.
    first: [AtomicU64; FILES.len()],
}

/// The parts of an answer by which it is judged.
struct Given {
    status: u16,
    length: u64,
    digest: Option<u64>,
    sent_ns: u64,
}

/// Judges the answers of a target that has this folder.
pub struct FileAnswers {
    files: Arc<Files>,
    asked: Vec<FileRequest>,
    allowed_ns: u64,
    counts: Arc<Counts>,
}

impl FileAnswers {
    /// Of files that may be so old, before any request.
    #[must_use]
    pub fn from_files(files: Arc<Files>, allowed_ns: u64) -> Self {
        Self { files, asked: Vec::new(), allowed_ns, counts: Arc::default() }
    }

    /// For requests that ask for this, by their place, with what was found in earlier loads.
    #[must_use]
    pub fn asking(&self, asked: Vec<FileRequest>) -> Self {
        let (files, counts) = (Arc::clone(&self.files), Arc::clone(&self.counts));
        Self { files, asked, counts, allowed_ns: self.allowed_ns }
    }

    /// The files.
    #[must_use]
    pub const fn files(&self) -> &Arc<Files> {
        &self.files
    }

    /// How the bodies are checked.
    #[must_use]
    pub fn check(&self) -> BodyCheck {
        BodyCheck::Digested { key: self.files.key() }
    }

    /// The file that a sample asks for, and its place.
    ///
    /// # Errors
    /// If it asks for none, which no workload allows.
    pub fn file(&self, sample: &Sample) -> Result<(usize, &File), String> {
        let place = sample.binding.get("file").and_then(|name| place_of(name));
        let file = place.and_then(|place| Some((place, self.files.each().get(place)?)));
        file.ok_or_else(|| "the request does not say which file it wants".into())
    }

    /// What is wrong with the answer to a single request, if anything is.
    #[must_use]
    pub fn differs(&self, sample: &Sample, answer: &Answer) -> Option<String> {
        self.version(sample, Wish::Whole, answer).err()
    }

    /// Which version a right answer to a single request has; that of a 304 is the client's.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub fn version(&self, sample: &Sample, wish: Wish, answer: &Answer) -> Result<u64, String> {
        let (place, _) = self.file(sample)?;
        let digest = (!answer.body.is_empty()).then(|| self.files.digest(&answer.body));
        let (length, sent_ns) = (answer.body.len() as u64, answer.exchange().sent_ns);
        let given = Given { status: answer.status, length, digest, sent_ns };
        self.judged(FileRequest { file: place, wish }, &given).map_err(|fault| {
            let what = match fault {
                Fault::Bytes => format!("{length} bytes: "),
                Fault::Status => format!("status {}: ", answer.status),
                _ => String::new(),
            };
            format!("{what}an answer {}", fault.words(self.allowed_ns))
        })
    }

    /// Which version a right answer has.
    fn judged(&self, FileRequest { file, wish }: FileRequest, given: &Given) -> Result<u64, Fault> {
        let file = &self.files.each()[file];
        let versions = file.versions();
        let Given { status, length, digest, sent_ns } = *given;
        // Who had it when the next one came may still send it.
        let is_fresh =
            |version: &Version| version.superseded_ns.saturating_add(self.allowed_ns) > sent_ns;
        let of = |is_it: &dyn Fn(&Version) -> Option<u64>, bytes: u64| {
            let had = digest.filter(|_| length == bytes).ok_or(Fault::Bytes)?;
            let version = versions.iter().rev().find(|version| is_it(version) == Some(had));
            let version = version.ok_or(Fault::Bytes)?;
            is_fresh(version).then_some(version.nth).ok_or(Fault::Old)
        };
        let whole = || of(&|version| Some(version.whole), file.length);
        match (status, wish) {
            (304, Wish::Unless(nth)) => {
                let version = versions.iter().rev().find(|version| version.nth == nth);
                if length > 0 {
                    return Err(Fault::Bytes);
                }
                let is_fresh = version.is_some_and(is_fresh);
                is_fresh.then_some(nth).ok_or(Fault::SaysUnchanged)
            }
            (200, Wish::Unless(nth)) => {
                let had = whole()?;
                // Where the next one has come meanwhile, the server may have looked at that one.
                let is_latest = versions.back().is_some_and(|version| version.nth == nth);
                if had == nth && is_latest { Err(Fault::NotSaidUnchanged) } else { Ok(had) }
            }
            (206, Wish::Part(nth)) => {
                let bytes = file.parts.get(nth).map_or(0, |part| part.bytes.len());
                of(&|version| version.parts.get(nth).copied(), bytes as u64)
            }
            // A server may leave `Range` unheeded (RFC 9110 section 14.2).
            (200, Wish::Whole | Wish::Part(_)) => whole(),
            _ => Err(Fault::Status),
        }
    }

    /// Whether the version that came first under load, which is this one if none did before, is too
    /// old by now: a server that had kept it would be found.
    fn shows_freshness(&self, file: usize, nth: u64, sent_ns: u64) -> bool {
        let first = &self.counts.first[file];
        let _ = first.compare_exchange(0, nth + 1, Ordering::Relaxed, Ordering::Relaxed);
        let first = first.load(Ordering::Relaxed) - 1;
        let versions = self.files.each()[file].versions();
        // One that is forgotten is older than all that are known.
        let Some(before) = versions.iter().find(|version| version.nth == first) else {
            return true;
        };
        before.superseded_ns.saturating_add(self.allowed_ns) <= sent_ns
    }

    /// Whether no answer of the loads so far was wrong.
    ///
    /// # Errors
    /// How many were, by what is wrong with them.
    pub fn verdict(&self) -> Verdict {
        let counts = Fault::ALL.iter().zip(&self.counts.faults);
        let found: Vec<String> = counts
            .map(|(fault, count)| (fault, count.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
            .map(|(fault, count)| format!("{count} answers {}", fault.words(self.allowed_ns)))
            .collect();
        if found.is_empty() { Ok(()) } else { Err(found.join("; ")) }
    }

    /// What the loads so far have shown.
    #[must_use]
    pub fn remark(&self) -> String {
        let Counts { whole, parts, unchanged, fresh, .. } = &*self.counts;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let age = format_ns(self.allowed_ns);
        let fresh = match count(fresh) {
            0 => format!(
                "no file was asked for {age} after it had been replaced under load, so whether files are cached then is not known"
            ),
            fresh => {
                format!("{fresh} were asked for when what came first was too old")
            }
        };
        format!(
            "{} answers were whole files, {} were parts and {} were 304; {fresh}",
            count(whole),
            count(parts),
            count(unchanged)
        )
    }
}

impl Referee for FileAnswers {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        let Exchange { request, status, length, digest, sent_ns, .. } = *exchange;
        let Some(asked) = self.asked.get(request as usize) else { return false };
        let counts = &self.counts;
        let nth = match self.judged(*asked, &Given { status, length, digest, sent_ns }) {
            Err(fault) => {
                counts.faults[fault as usize].fetch_add(1, Ordering::Relaxed);
                return false;
            }
            Ok(nth) => nth,
        };
        let count = match status {
            206 => &counts.parts,
            304 => &counts.unchanged,
            _ => &counts.whole,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if self.shows_freshness(asked.file, nth, sent_ns) {
            counts.fresh.fetch_add(1, Ordering::Relaxed);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED_NS: u64 = 1_000;

    /// The first file with two versions, the first of which was superseded at the instant that is
    /// returned; and the bytes of both.
    fn replaced() -> (tempfile::TempDir, FileAnswers, u64, [Vec<u8>; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(Files::made_in(folder.path().join("files")).unwrap());
        let read = || std::fs::read(files.folder().join(files.each()[0].name)).unwrap();
        let old = read();
        assert!(files.replace(&files.each()[0]).unwrap());
        let at = files.each()[0].versions()[0].superseded_ns;
        let both = [old, read()];
        (folder, FileAnswers::from_files(files, ALLOWED_NS), at, both)
    }

    fn judged(
        answers: &FileAnswers,
        wish: Wish,
        status: u16,
        body: &[u8],
        sent_ns: u64,
    ) -> Result<u64, Fault> {
        let digest = (!body.is_empty()).then(|| answers.files.digest(body));
        let given = Given { status, length: body.len() as u64, digest, sent_ns };
        answers.judged(FileRequest { file: 0, wish }, &given)
    }

    #[test]
    fn a_file_is_too_old_once_it_was_replaced_so_long_before_the_request() {
        let (_folder, answers, at, [old, new]) = replaced();
        for (wish, status, name) in
            [(Wish::Whole, 200, "whole"), (Wish::Part(0), 206, "part"), (Wish::Part(0), 200, "all")]
        {
            let cut = |body: &[u8]| match (wish, status) {
                (Wish::Part(nth), 206) => {
                    body[answers.files.each()[0].parts[nth].bytes.clone()].to_vec()
                }
                _ => body.to_vec(),
            };
            let judged = |body: &[u8], sent_ns| judged(&answers, wish, status, &cut(body), sent_ns);
            assert_eq!(judged(&old, at + ALLOWED_NS - 1), Ok(0), "{name}");
            assert_eq!(judged(&old, at + ALLOWED_NS), Err(Fault::Old), "{name}");
            assert_eq!(judged(&new, at), Ok(1), "{name}");
            assert_eq!(judged(&new, at + 10 * ALLOWED_NS), Ok(1), "{name}");
        }
    }

    #[test]
    fn nothing_has_changed_as_long_as_the_named_version_may_be_served() {
        let (_folder, answers, at, [old, new]) = replaced();
        let judged = |nth, status, body: &[u8], sent| {
            judged(&answers, Wish::Unless(nth), status, body, sent)
        };
        assert_eq!(judged(0, 304, b"", at + ALLOWED_NS - 1), Ok(0));
        assert_eq!(judged(0, 304, b"", at + ALLOWED_NS), Err(Fault::SaysUnchanged));
        assert_eq!(judged(1, 304, b"", at + 10 * ALLOWED_NS), Ok(1));
        assert_eq!(judged(1, 304, b"x", at), Err(Fault::Bytes));
        assert_eq!(judged(0, 200, &new, at + ALLOWED_NS), Ok(1));
        assert_eq!(judged(1, 200, &new, at), Err(Fault::NotSaidUnchanged));
        assert_eq!(judged(0, 200, &old, at), Ok(0), "the next one came meanwhile");
    }

    /// Each single byte counts, and so do the length and the status.
    #[test]
    fn other_bytes_lengths_and_statuses_are_wrong() {
        let (_folder, answers, at, [_, new]) = replaced();
        let whole = |status, body: &[u8]| judged(&answers, Wish::Whole, status, body, at);
        for place in [0, 499, 999] {
            let mut other = new.clone();
            other[place] ^= 1;
            assert_eq!(whole(200, &other), Err(Fault::Bytes), "{place}");
        }
        for other in [&new[..999], &[&new[..], b"x"].concat(), b"", &[0; 1_000]] {
            assert_eq!(whole(200, other), Err(Fault::Bytes));
        }
        for status in [206, 304, 404, 500] {
            assert_eq!(whole(status, &new), Err(Fault::Status), "{status}");
        }
        let parts = &answers.files.each()[0].parts;
        let part = |nth: usize, of: usize| {
            judged(&answers, Wish::Part(nth), 206, &new[parts[of].bytes.clone()], at)
        };
        assert_eq!([part(0, 0), part(1, 1), part(2, 2)], [Ok(1); 3]);
        assert_eq!(part(0, 1), Err(Fault::Bytes));
        assert_eq!(judged(&answers, Wish::Part(0), 304, b"", at), Err(Fault::Status));
        let file = answers.files.each()[0].length as usize;
        assert_eq!(judged(&answers, Wish::Part(0), 206, &new[..file], at), Err(Fault::Bytes));
    }

    #[test]
    fn loads_are_summed_up_by_what_is_wrong_and_say_whether_freshness_was_seen() {
        let (_folder, answers, at, [old, new]) = replaced();
        let whole = FileRequest { file: 0, wish: Wish::Whole };
        let unless = FileRequest { file: 0, wish: Wish::Unless(1) };
        let answers = answers.asking(vec![whole, unless]);
        let is_right = |answers: &FileAnswers, request, status, body: &[u8], sent_ns| {
            let digest = (!body.is_empty()).then(|| answers.files.digest(body));
            let length = body.len() as u64;
            let of = Exchange { request, status, length, digest, sent_ns, ..Exchange::default() };
            answers.is_right(&of)
        };
        assert!(is_right(&answers, 0, 200, &old, at) && is_right(&answers, 1, 304, b"", at));
        assert_eq!(answers.verdict(), Ok(()));
        assert!(answers.remark().ends_with("is not known"), "{}", answers.remark());
        let later = at + ALLOWED_NS;
        assert!(is_right(&answers, 0, 200, &new, later));
        assert!(!is_right(&answers, 0, 200, &old, later) && !is_right(&answers, 9, 200, &new, at));
        let answers = answers.asking(vec![whole]);
        let said = answers.verdict().unwrap_err();
        assert!(said.starts_with("1 answers with a file that had been replaced 1.00 µs"), "{said}");
        let remark = answers.remark();
        assert!(
            remark.starts_with("2 answers were whole files, 0 were parts and 1 were 304; 1 "),
            "{remark}"
        );
    }
}
