//! Whether a target reads the bodies of requests to their end, however they come, before it answers.
use pippin_model::load::Protocol;
use pippin_model::workload::Sample;
use std::time::Duration;

use super::http::{Answer, Client, Held, Request};
use super::uploads::Said;
use super::{Subject, Verdict};

/// So many bytes at the end of a body are held back: the number that makes it another one.
const HELD: usize = 8;
/// How long nothing may come meanwhile.
const SILENCE: Duration = Duration::from_millis(200);
/// How long a client waits for `100 Continue`, as curl does.
const CONTINUES_WITHIN: Duration = Duration::from_secs(1);
/// The length of small chunks.
const SMALL: usize = 7;

/// Bodies that the load does not send, and bodies that do not come at once. Returns a remark on
/// `Expect: 100-continue`.
///
/// # Errors
/// The first difference, with the body.
pub fn read(subject: &mut Subject<'_>) -> Result<Option<String>, String> {
    let subject = &*subject;
    if subject.way.protocol != Protocol::Http1 {
        return Err("bodies are sent over HTTP/1.1 alone: leave the workload out of `workloads` of this variant".into());
    }
    empty(subject)?;
    in_small_chunks(subject)?;
    for sample in both_ways(subject, |bytes| bytes <= 1_000_000) {
        not_before_the_end(subject, sample)?;
    }
    continued(subject)
}

/// The request of a sample.
fn request(subject: &Subject<'_>, sample: &Sample) -> Request {
    subject.of_sample(&subject.workload.request.method, sample)
}

/// The first sample of each length that is wanted, for each of the two ways of sending.
fn both_ways<'a>(subject: &Subject<'a>, is_wanted: impl Fn(u64) -> bool) -> Vec<&'a Sample> {
    let mut found: Vec<&Sample> = Vec::new();
    for sample in subject.samples {
        let way = |sample: &Sample| sample.upload.map(|upload| (upload.bytes, upload.chunked));
        let is_new = found.iter().all(|other| way(other) != way(sample));
        if is_new && sample.upload.is_some_and(|upload| is_wanted(upload.bytes)) {
            found.push(sample);
        }
    }
    found
}

fn judged(subject: &Subject<'_>, what: &str, request: &Request, answer: &Answer) -> Verdict {
    if answer.status != subject.workload.answer.status {
        let wanted = subject.workload.answer.status;
        return Err(format!("{what}: status {} instead of {wanted}", answer.status));
    }
    let fault = Said::from_body(request.body()).differs(&answer.body);
    fault.map_or(Ok(()), |fault| Err(format!("{what}: {fault}")))
}

fn asked(subject: &Subject<'_>, what: &str, request: &Request) -> Verdict {
    let mut client = Client::connect(subject.way, subject.limit)?;
    let answer = client.exchange(request).map_err(|error| format!("{what}: {error}"))?;
    judged(subject, what, request, &answer)
}

fn empty(subject: &Subject<'_>) -> Verdict {
    let plain = request(subject, subject.first()?).with_body(Vec::new());
    asked(subject, "an empty body with a length", &plain.clone().in_chunks(None))?;
    asked(subject, "an empty body in chunks", &plain.in_chunks(Some(SMALL)))
}

fn in_small_chunks(subject: &Subject<'_>) -> Verdict {
    let small = request(subject, subject.first()?).in_chunks(Some(SMALL));
    asked(subject, "a body in chunks of 7 bytes", &small)
}

/// All but the last bytes of a body are sent: no answer can be made of them.
fn not_before_the_end(subject: &Subject<'_>, sample: &Sample) -> Verdict {
    let request = request(subject, sample);
    let way = if request.is_chunked() { "in chunks" } else { "with a length" };
    let what =
        format!("a body of {} bytes {way} whose last {HELD} came later", request.body().len());
    let failed = |error| format!("{what}: {error}");
    let mut client = Client::connect(subject.way, subject.limit)?;
    let Held(rest) = client.send_but(&request, HELD).map_err(failed)?;
    let early = client.surplus(SILENCE);
    if !early.is_empty() {
        let begin = String::from_utf8_lossy(&early);
        let line = begin.lines().next().unwrap_or_default();
        return Err(format!("{what}: the answer {line:?} came before them"));
    }
    client.send_rest(&rest).map_err(failed)?;
    let answer = client.answer(&request).map_err(failed)?;
    judged(subject, &what, &request, &answer)
}

/// A client that asks whether its body is wanted (RFC 9110 section 10.1.1), as curl does before 1 MB
/// and more.
fn continued(subject: &Subject<'_>) -> Result<Option<String>, String> {
    const WHAT: &str = "a body with Expect: 100-continue";
    let failed = |error| format!("{WHAT}: {error}");
    let request = request(subject, subject.first()?).with_header("Expect", "100-continue");
    let mut client = Client::connect(subject.way, subject.limit)?;
    let Held(body) = client.send_but(&request, usize::MAX).map_err(failed)?;
    let came = client.surplus(CONTINUES_WITHIN);
    let line = String::from_utf8_lossy(&came);
    let status = line.split(' ').nth(1).unwrap_or_default();
    let remark = match status {
        "100" => None,
        "" => Some("it does not answer `Expect: 100-continue`, so that clients such as curl wait for a second before they send a large body".into()),
        "417" => {
            return Ok(Some("it refuses `Expect: 100-continue` by 417, so that clients send their request again without it".into()));
        }
        _ => return Err(format!("{WHAT}: status {status} before the body")),
    };
    client.send_rest(&body).map_err(failed)?;
    let answer = client.answer(&request).map_err(failed)?;
    judged(subject, WHAT, &request, &answer)?;
    Ok(remark)
}
