//! What requests for files want of them: mostly the whole file, and now and then a part, or what has
//! changed since.
use pippin_model::load::Request;
use pippin_model::workload::draw::Draw;
use pippin_model::workload::{Proof, Sample};
use std::collections::BTreeMap;

use crate::verify::Subject;
use crate::verify::files::{FileAnswers, FileRequest, Wish};
use crate::verify::revalidation::{self, Validator};

/// Of 100 requests, so many are of clients that have the file.
const HAVE_IT: u64 = 10;
/// So many are of clients that have another one.
const HAVE_ANOTHER: u64 = 3;
/// So many ask for a part.
const ASK_FOR_A_PART: u64 = 10;

/// Changes some of the first `usual` requests, which were made of these samples, and tells the judge
/// of all of them what they ask for.
///
/// # Errors
/// If a file is not answered rightly now.
pub fn draw(
    subject: &mut Subject<'_>,
    requests: &mut [Request],
    samples: &[Sample],
    usual: usize,
    seed: u64,
) -> Result<(), String> {
    let answers = subject.live.files()?;
    let has = |proof: &Proof| subject.workload.proofs.contains(proof);
    let validators = match has(&Proof::Conditional) {
        true => validators(subject, answers)?,
        false => BTreeMap::new(),
    };
    let has_parts = has(&Proof::Ranges);
    let mut draw = Draw::new(seed ^ 0x0F11E5);
    let mut asked = Vec::with_capacity(samples.len());
    for (nth, (request, sample)) in requests.iter_mut().zip(samples).enumerate() {
        let (place, file) = answers.file(sample)?;
        let mut wish = Wish::Whole;
        if request.check.body.needs_referee() {
            request.check.body = answers.check();
        }
        match draw.below(100) {
            _ if nth >= usual => {}
            lot if lot < HAVE_IT => {
                if let Some((validator, version)) = validators.get(&place) {
                    request.headers.push(validator.header());
                    request.check.status = vec![200, 304];
                    wish = Wish::Unless(*version);
                }
            }
            lot if lot < HAVE_IT + HAVE_ANOTHER && validators.contains_key(&place) => {
                let tag = format!("\"{:08x}\"", draw.below(1 << 32));
                request.headers.push(("If-None-Match".into(), tag));
            }
            lot if lot < HAVE_IT + HAVE_ANOTHER + ASK_FOR_A_PART && has_parts => {
                let part = draw.below(file.parts.len() as u64) as usize;
                request.headers.push(("Range".into(), file.parts[part].range.clone()));
                request.check.status = vec![200, 206];
                wish = Wish::Part(part);
            }
            _ => {}
        }
        asked.push(FileRequest { file: place, wish });
    }
    subject.live.expect_files(asked);
    Ok(())
}

/// By what each file's version of now is known, and its number, by the file's place.
fn validators(
    subject: &Subject<'_>,
    answers: &FileAnswers,
) -> Result<BTreeMap<usize, (Validator, u64)>, String> {
    let samples = revalidation::of_each_file(subject.samples);
    let of = |sample: &Sample| {
        let place = answers.file(sample)?.0;
        Ok((place, revalidation::validated(subject, answers, sample)?))
    };
    samples.iter().map(of).collect()
}
