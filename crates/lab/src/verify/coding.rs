//! Content negotiation (RFC 9110 section 12.5.3): with which codings a target packs, and for whom.
use pippin_model::request::coding::Coding;
use pippin_model::workload::Sample;

use super::Subject;
use super::http::Answer;

/// Asks as clients that accept no coding, one, or any. An answer has a coding only where its request
/// accepts it. Returns a remark: which codings there are, and what is odd.
///
/// # Errors
/// The first difference, with what the request accepts.
pub fn negotiated(subject: &mut Subject<'_>) -> Result<String, String> {
    let subject = &*subject;
    let plain = asked(subject, None)?;
    asked(subject, Some("identity"))?;
    asked(subject, Some("*;q=0.1, gzip"))?;
    let mut codings = Vec::new();
    let mut packed = None;
    for coding in Coding::PACKED {
        let answer = asked(subject, Some(coding.name()))?;
        if answer.coding() == coding {
            codings.push(coding.name());
            packed = packed.or(Some(answer));
        }
    }
    let mut remark = vec![format!("it packs with {}", codings.join(", "))];
    let without = |answer: &Answer| !varies_by_coding(answer);
    if packed.as_ref().is_some_and(without) {
        remark.push("without Vary: Accept-Encoding, so that a cache gives the packed answer to clients that cannot read it".into());
    } else if without(&plain) {
        remark.push("without Vary: Accept-Encoding where it does not pack, so that a cache gives that answer to all clients".into());
    }
    let refuses = longest(subject, Some("gzip;q=0, identity"))?;
    if subject.ask_sample(&refuses)?.coding() == Coding::Gzip {
        remark.push("it packs with gzip for `gzip;q=0`, which refuses that".into());
    }
    Ok(remark.join("; "))
}

/// The right answer to a request with this field `Accept-Encoding`, or without one.
fn asked(subject: &Subject<'_>, field: Option<&str>) -> Result<Answer, String> {
    let sample = longest(subject, field)?;
    let answer = subject.ask_sample(&sample)?;
    subject.differs(&sample, &answer).map_or(Ok(answer), |why| {
        let field =
            field.map_or("no Accept-Encoding".into(), |it| format!("Accept-Encoding: {it}"));
        Err(format!("a request with {field}: {why}"))
    })
}

/// The sample with the longest answer, because short ones may come as they are; with this field.
fn longest(subject: &Subject<'_>, field: Option<&str>) -> Result<Sample, String> {
    let items = |sample: &&Sample| sample.binding.get("n").and_then(|n| n.parse::<u64>().ok());
    let longest = subject.samples.iter().max_by_key(items);
    let longest = longest.ok_or("the workload has no request")?;
    let mut sample = longest.without_header("accept-encoding");
    sample.headers.extend(field.map(|field| ("Accept-Encoding".into(), field.into())));
    Ok(sample)
}

/// Whether the field `Vary` says that the answer depends on `Accept-Encoding` (RFC 9110 section
/// 12.5.5).
fn varies_by_coding(answer: &Answer) -> bool {
    let names = answer.values("vary").flat_map(|value| value.split(|byte| *byte == b','));
    names
        .map(<[u8]>::trim_ascii)
        .any(|name| name == b"*" || name.eq_ignore_ascii_case(b"accept-encoding"))
}
