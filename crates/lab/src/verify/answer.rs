//! The answer itself: status, media type, body, for every value that varies.
use pippin_model::scenario::find;
use pippin_model::workload::{Answer as Expected, Sample};

use super::http::Answer;
use super::{Subject, Verdict};

/// Every sample is answered as the workload says.
///
/// # Errors
/// The first difference, with the request.
pub fn every_sample(subject: &mut Subject<'_>) -> Verdict {
    let subject = &*subject;
    subject.samples.iter().try_for_each(|sample| {
        let answer = subject.ask_sample(sample)?;
        subject.differs(sample, &answer).map_or(Ok(()), |difference| {
            let method = &subject.workload.request.method;
            Err(format!("{method} {}: {difference}", sample.path))
        })
    })
}

/// What is wrong with an answer, if anything is.
#[must_use]
pub fn differs(expected: &Expected, sample: &Sample, answer: &Answer) -> Option<String> {
    if answer.status != expected.status {
        return Some(format!(
            "status {} instead of {}; body {}",
            answer.status,
            expected.status,
            answer.excerpt()
        ));
    }
    if let Some(wanted) = &expected.content_type {
        let given = answer.header("content-type").unwrap_or_else(|| "none".into());
        if !given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted) {
            return Some(format!("Content-Type {given} instead of {wanted}"));
        }
    }
    if let Some(body) = &sample.body
        && answer.body != body.as_bytes()
    {
        return Some(format!("body {} instead of {body:?}", answer.excerpt()));
    }
    if let Some(range) = expected.body_bytes
        && !(range.min..=range.max).contains(&(answer.body.len() as u64))
    {
        return Some(format!(
            "a body of {} bytes instead of {} to {}",
            answer.body.len(),
            range.min,
            range.max
        ));
    }
    let text = String::from_utf8_lossy(&answer.body);
    if let Some(part) = sample.contains.iter().find(|part| !text.contains(*part)) {
        return Some(format!("the body lacks {part:?}: {}", answer.excerpt()));
    }
    let json = find::Answer::new(b"", &answer.body);
    let fault = sample.json.iter().find_map(|value| value.fault(&json))?;
    Some(format!("{fault}: {}", answer.excerpt()))
}
