//! The requests of a load: drawn from its seed, with some of another kind among them.
use pippin_model::load::{BodyCheck, Check, Request, Requests, Surprises};
use pippin_model::request::DRAWN as REDRAWN;
use pippin_model::workload::draw::Draw;
use pippin_model::workload::{Answer, Proof, Sample, Source, Workload, percent_encode_all};
use std::net::SocketAddr;

use crate::load;
use crate::load::wishes;
use crate::verify::Subject;

/// How many requests are drawn for a load. They are sent in turn, and most of them have a value
/// that is drawn anew each time.
const DRAWN: usize = 8_000;

/// One request in this many is of another kind.
pub const RARELY: u32 = 1_000;

/// One answer in this many is examined: its media type is checked and, where the other answers are
/// only searched for marks, it is compared in full. In a short load there are more.
const IN_FULL: u32 = 100;

/// One answer to an upload in this many: there are fewer of them, and to keep one costs little.
const UPLOADS_IN_FULL: u32 = 10;

/// So many requests of each other kind are drawn.
const OF_A_KIND: usize = 24;

/// The requests of a load.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    /// With their checks; those of another kind at the end.
    pub requests: Requests,
    /// What comes at places that no target can foresee.
    pub surprises: Option<Surprises>,
}

/// The requests of a load, and what those are made of whose answers have a judge.
struct Drawn {
    requests: Vec<Request>,
    samples: Vec<Sample>,
    surprises: Surprises,
}

/// Draws the requests of a load from its seed. One in `every` is of another kind: an unknown path,
/// HEAD, or the same path with everything encoded. A server that does not do the work for each
/// request answers these wrongly. When they are sent, and which answers are examined, the generator
/// draws during the load.
fn draw(
    workload: &Workload,
    as_proved: &BodyCheck,
    host: SocketAddr,
    seed: u64,
    every: u32,
) -> Drawn {
    let samples = workload.samples(seed, DRAWN);
    let mut requests = load::requests(workload, &samples, as_proved, host).to_vec();
    for (request, sample) in requests.iter_mut().zip(&samples) {
        request.drawn.clone_from(&sample.drawn);
    }
    let mut draw = Draw::new(seed ^ 0x00DD);
    let mut others = Vec::new();
    // What judges answers knows requests by their place.
    let mut judged = samples.clone();
    for kind in kinds(workload) {
        for _ in 0..OF_A_KIND {
            let place = draw.below(samples.len() as u64) as usize;
            others.push(kind.request(workload, &requests[place], &samples[place], &mut draw));
            judged.push(match kind {
                Kind::Uncoded => uncoded(&samples[place]),
                _ => samples[place].clone(),
            });
        }
    }
    let is_upload = workload.answer.from == Some(Source::Upload);
    let in_full = if is_upload { UPLOADS_IN_FULL } else { IN_FULL };
    let surprises = Surprises {
        others: others.len() as u32,
        others_every: every,
        examined_every: in_full.min(every),
        content_type: workload.answer.content_type.clone(),
        by_referee: is_upload
            || matches!(workload.answer.from, Some(Source::Items | Source::Messages))
            || workload.proofs.iter().any(|proof| matches!(proof, Proof::Text { .. })),
    };
    requests.extend(others);
    Drawn { requests, samples: judged, surprises }
}

/// The requests of a load of this target, which has passed its proofs; what judges its answers is
/// told of them.
///
/// # Errors
/// If the body that was proved cannot be had.
pub fn fill(subject: &mut Subject<'_>, seed: u64, every: u32) -> Result<Pool, String> {
    if subject.workload.walk.is_some() {
        // Scenarios keep the order of their steps and have checks of their own.
        let host = subject.way.address();
        let mut requests = load::requests(subject.workload, &[], &BodyCheck::Any, host);
        if subject.workload.proofs.contains(&Proof::Stored) {
            // What judges the load must see each answer; the steps have checks of their own beside.
            requests.iter_mut().for_each(|request| request.check.body = BodyCheck::Refereed);
        }
        return Ok(Pool { requests, surprises: None });
    }
    let as_proved = subject.proved_body()?;
    let Drawn { mut requests, samples, surprises } =
        draw(subject.workload, &as_proved, subject.way.address(), seed, every);
    if subject.workload.answer.from == Some(Source::Files) {
        let usual = requests.len() - surprises.others as usize;
        wishes::draw(subject, &mut requests, &samples, usual, seed)?;
    }
    subject.live.expect(subject.workload, samples);
    let least_ns = subject.least_ns();
    must_wait(&mut requests, &subject.workload.answer, least_ns);
    // Messages of a WebSocket are of one kind, and have no head.
    let surprises = subject.workload.message.is_none().then_some(surprises);
    Ok(Pool { requests: requests.into(), surprises })
}

/// No right answer of the usual kind may come sooner than this.
fn must_wait(requests: &mut [Request], answer: &Answer, least_ns: u64) {
    let usual = |request: &&mut Request| request.check.status == [answer.status];
    requests.iter_mut().filter(usual).for_each(|request| request.check.least_ns = least_ns);
}

/// A request of another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Without `Accept-Encoding`.
    Uncoded,
    UnknownPath,
    Head,
    Encoded,
}

/// What a target of this workload must be able to answer, because a proof asks for it.
fn kinds(workload: &Workload) -> Vec<Kind> {
    let has = |of: fn(&Proof) -> bool| workload.proofs.iter().any(of);
    if workload.message.is_some() {
        return Vec::new();
    }
    let mut kinds = Vec::new();
    if has(|proof| matches!(proof, Proof::Coding)) {
        kinds.push(Kind::Uncoded);
    }
    if has(|proof| matches!(proof, Proof::NotFound { .. })) {
        kinds.push(Kind::UnknownPath);
    }
    if has(|proof| matches!(proof, Proof::Head)) {
        kinds.push(Kind::Head);
    }
    if workload.request.varies_by_name() {
        kinds.push(Kind::Encoded);
    }
    kinds
}

impl Kind {
    fn request(
        self,
        workload: &Workload,
        usual: &Request,
        sample: &Sample,
        draw: &mut Draw,
    ) -> Request {
        let status = |status: Vec<u16>| Check { status, ..Check::default() };
        match self {
            Self::Head => Request {
                method: "HEAD".into(),
                check: status(vec![workload.answer.status, 404, 405, 501]),
                ..usual.clone()
            },
            Self::Uncoded => {
                let headers = uncoded(sample).headers;
                Request { headers, ..usual.clone() }
            }
            Self::Encoded => {
                let target = sample.fill_with(&workload.request.path, percent_encode_all);
                Request { target, drawn: None, ..usual.clone() }
            }
            Self::UnknownPath => {
                let tail: String =
                    (0..REDRAWN).map(|_| char::from(b'a' + draw.below(26) as u8)).collect();
                Request {
                    target: format!("/no-such-page-{tail}"),
                    check: status(vec![404]),
                    // Another one each time, where the others are so too.
                    drawn: usual.drawn.as_ref().map(|_| tail),
                    // A server may refuse a long body by closing the connection.
                    upload: None,
                    ..usual.clone()
                }
            }
        }
    }
}

/// A sample's request from a client that reads no coding.
fn uncoded(sample: &Sample) -> Sample {
    sample.without_header("accept-encoding")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn pool(id: &str, seed: u64) -> Drawn {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../workloads/{id}.toml"));
        let workload = Workload::read(&path).unwrap();
        draw(&workload, &BodyCheck::Any, ([127, 0, 0, 1], 80).into(), seed, RARELY)
    }

    #[test]
    fn requests_of_another_kind_stand_at_the_end_and_one_in_a_thousand_is_sent() {
        for (id, kinds) in [
            ("hello", 2),
            ("hola", 3),
            ("page", 1),
            ("device", 1),
            ("users", 1),
            ("proxy", 1),
            ("json", 1),
            ("compressed", 2),
            ("static", 3),
            ("upload", 1),
            ("messages", 2),
            ("events", 1),
        ] {
            let Drawn { requests, samples, surprises } = pool(id, 7);
            assert_eq!(surprises.others as usize, kinds * OF_A_KIND, "{id}");
            assert_eq!(requests.len(), samples.len(), "{id}");
            let examined_every = if id == "upload" { 10 } else { 100 };
            assert_eq!((surprises.others_every, surprises.examined_every), (1_000, examined_every));
            let is_examined = ["page", "json", "compressed", "upload", "messages"].contains(&id);
            assert_eq!(surprises.by_referee, is_examined, "{id}");
        }
    }

    #[test]
    fn the_kinds_are_those_that_proofs_ask_for() {
        let Drawn { requests, surprises, .. } = pool("hola", 1);
        let others = &requests[requests.len() - surprises.others as usize..];
        let [unknown, head, encoded] = [0, 1, 2].map(|kind| &others[kind * OF_A_KIND]);
        assert!(unknown.target.starts_with("/no-such-page-") && unknown.drawn.is_some());
        assert_eq!(unknown.check.status, [404]);
        assert_eq!(head.method, "HEAD");
        let target = encoded.target.strip_prefix("/hola/").unwrap();
        assert!(target.split('%').skip(1).all(|byte| byte.len() == 2), "{target}");
        assert!(matches!(encoded.check.body, BodyCheck::Exact(_)));
    }

    #[test]
    fn values_are_drawn_where_there_are_any() {
        // A plain text may come with any media type.
        for (id, drawn, media_type) in [
            ("hello", 0, None),
            ("hola", 7_980, Some("text/plain")),
            ("page", 8_000, Some("text/html")),
            ("json", 8_000, Some("application/json")),
            ("static", 8_000, Some("text/css")),
            ("users", 0, Some("application/json")),
            ("messages", 7_990, Some("text/html")),
            ("events", 0, Some("text/event-stream")),
        ] {
            let Drawn { requests, surprises, .. } = pool(id, 7);
            let usual = &requests[..requests.len() - surprises.others as usize];
            let count = usual.iter().filter(|request| request.drawn.is_some()).count();
            assert_eq!(count, drawn, "{id}");
            let is_once = |request: &Request| {
                request.drawn.as_ref().is_none_or(|part| request.target.matches(part).count() == 1)
            };
            assert!(requests.iter().all(is_once), "{id}");
            assert_eq!(surprises.content_type.as_deref(), media_type, "{id}");
        }
    }

    #[test]
    fn another_seed_draws_other_requests_and_no_value_comes_twice() {
        let targets = |seed| -> BTreeSet<String> {
            pool("page", seed).requests.into_iter().map(|request| request.target).collect()
        };
        assert!(targets(1).len() > 7_990);
        assert_eq!(targets(1), targets(1));
        assert!(targets(1).intersection(&targets(2)).count() < 10);
    }
}
