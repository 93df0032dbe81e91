//! Proofs about files: a replaced one is served in time, one that has not changed is not sent again,
//! and a part is the part that was asked for.
use pippin_model::workload::Sample;
use std::collections::BTreeSet;
use std::time::Duration;

use super::files::{FileAnswers, Wish};
use super::http::Answer;
use super::{Subject, Verdict};
use crate::services::files::File;

/// Between two looks at whether a replaced file is served.
const LOOK: Duration = Duration::from_millis(40);

/// By what a client says which version it has: a header field and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validator {
    name: &'static str,
    value: String,
}

impl Validator {
    /// Of an answer: its entity tag, or else its date (RFC 9110 section 8.8); `None` if it has
    /// neither.
    #[must_use]
    pub fn from_answer(answer: &Answer) -> Option<Self> {
        let field = |header, name| {
            answer.header(header).map(|value| Self { name, value: value.trim().into() })
        };
        field("etag", "If-None-Match").or_else(|| field("last-modified", "If-Modified-Since"))
    }

    /// As a header of a request.
    #[must_use]
    pub fn header(&self) -> (String, String) {
        (self.name.into(), self.value.clone())
    }

    fn is_weak(&self) -> bool {
        self.value.starts_with("W/")
    }

    fn is_date(&self) -> bool {
        self.name == "If-Modified-Since"
    }
}

/// The first sample of each file.
#[must_use]
pub fn of_each_file(samples: &[Sample]) -> Vec<Sample> {
    let mut seen = BTreeSet::new();
    let is_new = |sample: &&Sample| seen.insert(sample.binding.get("file").cloned());
    samples.iter().filter(is_new).cloned().collect()
}

/// Asks for a file with a further header. Returns the answer and which version it has.
fn asked(
    subject: &Subject<'_>,
    answers: &FileAnswers,
    sample: &Sample,
    wish: Wish,
    header: Option<(String, String)>,
) -> Result<(Answer, u64), String> {
    let mut sample = sample.clone();
    let with = header.as_ref().map(|(name, value)| format!(" with {name}: {value}"));
    sample.headers.extend(header);
    let answer = subject.ask_sample(&sample)?;
    let version = answers
        .version(&sample, wish, &answer)
        .map_err(|why| format!("GET {}{}: {why}", sample.path, with.unwrap_or_default()))?;
    Ok((answer, version))
}

/// Asks for a file and for what tells its versions apart.
///
/// # Errors
/// If the answer is wrong, or has nothing of the kind.
pub fn validated(
    subject: &Subject<'_>,
    answers: &FileAnswers,
    sample: &Sample,
) -> Result<(Validator, u64), String> {
    let (answer, version) = asked(subject, answers, sample, Wish::Whole, None)?;
    let validator = Validator::from_answer(&answer).ok_or_else(|| {
        format!(
            "GET {}: neither ETag nor Last-Modified: no client can ask whether the file has changed",
            sample.path
        )
    })?;
    Ok((validator, version))
}

/// Replaced files are served within the time that the workload allows, to clients that have the old
/// ones too.
///
/// # Errors
/// Which file is not.
pub fn fresh(subject: &Subject<'_>) -> Verdict {
    let answers = subject.live.files()?;
    let mut replaced = Vec::new();
    for sample in of_each_file(subject.samples) {
        let (_, file) = answers.file(&sample)?;
        if !file.changes {
            continue;
        }
        // Whoever caches it has it now.
        let (answer, version) = asked(subject, answers, &sample, Wish::Whole, None)?;
        replaced.push((sample.clone(), Validator::from_answer(&answer), version));
    }
    if replaced.is_empty() {
        return Err(
            "the workload asks for no file that is replaced: ask for both of a length".into()
        );
    }
    replace_all(subject)?;
    for (sample, validator, version) in &replaced {
        until_fresh(|| asked(subject, answers, sample, Wish::Whole, None), *version)?;
        let Some(validator) = validator else { continue };
        let (wish, header) = (Wish::Unless(*version), validator.header());
        until_fresh(|| asked(subject, answers, sample, wish, Some(header.clone())), *version)?;
    }
    Ok(())
}

/// Replaces all files that change.
///
/// # Errors
/// If one cannot be replaced.
pub fn replace_all(subject: &Subject<'_>) -> Verdict {
    let answers = subject.live.files()?;
    let mut changing = answers.files().each().iter().filter(|file| file.changes);
    changing.try_for_each(|file| replace(answers, file))
}

/// Replaces a file as soon as a second has begun in which it was not replaced yet.
fn replace(answers: &FileAnswers, file: &File) -> Verdict {
    while !answers.files().replace(file).map_err(|error| error.to_string())? {
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Asks until another version than this one is served. When it is too late, the answer itself is wrong.
fn until_fresh(ask: impl Fn() -> Result<(Answer, u64), String>, old: u64) -> Verdict {
    while ask()?.1 == old {
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// A file that the client has is not sent again, and one that it does not have is. Returns a remark.
///
/// # Errors
/// What came instead.
pub fn conditional(subject: &Subject<'_>) -> Result<Option<String>, String> {
    let answers = subject.live.files()?;
    let mut remark = None;
    for (nth, sample) in of_each_file(subject.samples).iter().enumerate() {
        let (validator, version) = validated(subject, answers, sample)?;
        let header = validator.header();
        asked(subject, answers, sample, Wish::Unless(version), Some(header))?;
        if nth == 0 {
            let other = ("If-None-Match".into(), "\"of-another-file\"".into());
            asked(subject, answers, sample, Wish::Whole, Some(other))?;
            remark = said_of(&validator);
        }
    }
    Ok(remark)
}

fn said_of(validator: &Validator) -> Option<String> {
    if validator.is_date() {
        Some("without ETag: two versions of one second are one for clients".into())
    } else if validator.is_weak() {
        Some("its entity tags are weak: they serve If-None-Match, and not If-Range".into())
    } else {
        None
    }
}

/// Each part of a file is this part and says so, or the whole file comes. Returns a remark.
///
/// # Errors
/// What came instead.
pub fn ranges(subject: &Subject<'_>) -> Result<Option<String>, String> {
    let answers = subject.live.files()?;
    let mut whole = 0;
    let samples = of_each_file(subject.samples);
    for sample in &samples {
        let (_, file) = answers.file(sample)?;
        for (nth, part) in file.parts.iter().enumerate() {
            let header = ("Range".to_string(), part.range.clone());
            let (answer, _) = asked(subject, answers, sample, Wish::Part(nth), Some(header))?;
            if answer.status == 200 {
                whole += 1;
                continue;
            }
            let (first, last) = (part.bytes.start, part.bytes.end - 1);
            let right = format!("bytes {first}-{last}/{}", file.length);
            let given = answer.header("content-range").unwrap_or_else(|| "none".into());
            if given.trim() != right && given.trim() != format!("bytes {first}-{last}/*") {
                return Err(format!(
                    "GET {} with Range: {}: Content-Range {given} instead of {right}",
                    sample.path, part.range
                ));
            }
        }
    }
    let first = samples.first().ok_or("the workload has no request")?;
    beyond(subject, answers, first)?;
    Ok((whole > 0).then(|| format!("{whole} parts were answered by the whole file")))
}

/// A part that begins behind the end of a file is none (RFC 9110 section 15.5.17).
fn beyond(subject: &Subject<'_>, answers: &FileAnswers, sample: &Sample) -> Verdict {
    let (_, file) = answers.file(sample)?;
    let range = format!("bytes={}-", file.length);
    let mut sample = sample.clone();
    sample.headers.push(("Range".into(), range.clone()));
    let answer = subject.ask_sample(&sample)?;
    match answer.status {
        416 => Ok(()),
        200 => answers.differs(&sample, &answer).map_or(Ok(()), Err),
        status => Err(format!(
            "GET {} with Range: {range}: status {status} instead of 416, or 200 with the whole file",
            sample.path
        )),
    }
}
