//! The requests of a load: drawn from its seed, with some of another kind among them.
use pippin_model::load::{BodyCheck, Check, Request, Requests};
use pippin_model::workload::draw::Draw;
use pippin_model::workload::{Answer, Proof, Sample, Workload, percent_encode_all};
use std::net::SocketAddr;

use crate::load;
use crate::verify::Subject;

/// How many requests are drawn for a load. They are sent in turn, and most of them have a value
/// that is drawn anew each time.
const DRAWN: usize = 8_000;

/// One request in this many may be of another kind.
pub const RARELY: usize = 1_000;

/// One answer in this many has its media type checked. Where the other answers are only searched
/// for marks, it is also compared in full. In a short load there are more such answers.
const IN_FULL: usize = 100;

/// The requests of a load, and what each is made of; `None` where it is of another kind.
struct Pool {
    /// With their checks.
    requests: Vec<Request>,
    /// By the place of the request.
    samples: Vec<Option<Sample>>,
}

/// Draws the requests of a load from its seed. One in `every` is of another kind: an unknown path,
/// HEAD, or the same path with everything encoded. A server that does not do the work for each
/// request answers these wrongly.
fn draw(
    workload: &Workload,
    as_proved: &BodyCheck,
    host: SocketAddr,
    seed: u64,
    every: usize,
) -> Pool {
    let samples = workload.samples(seed, DRAWN);
    let mut requests = load::requests(workload, &samples, as_proved, host).to_vec();
    let mut samples: Vec<Option<Sample>> = samples.into_iter().map(Some).collect();
    if workload.proofs.iter().any(|proof| matches!(proof, Proof::Text { .. })) {
        let in_full = requests.iter_mut().step_by(IN_FULL.min(every));
        in_full.for_each(|request| request.check.body = BodyCheck::Refereed);
    }
    for (request, sample) in requests.iter_mut().zip(&samples) {
        request.drawn = sample.as_ref().and_then(|sample| sample.drawn.clone());
    }
    let kinds = kinds(workload);
    if !kinds.is_empty() {
        let blocks = requests.len().div_ceil(every).max(kinds.len());
        repeat_to(&mut requests, blocks * every);
        repeat_to(&mut samples, blocks * every);
        let mut draw = Draw::new(seed ^ 0x00DD);
        for block in 0..blocks {
            let place = block * every + draw.below(every as u64) as usize;
            let kind = kinds[block % kinds.len()];
            requests[place] = kind.request(workload, &requests[place], &samples[place], &mut draw);
            samples[place] = None;
        }
    }
    let usual = requests.iter_mut().zip(&samples).filter(|(_, sample)| sample.is_some());
    for (request, _) in usual.step_by(IN_FULL.min(every)) {
        request.check.content_type.clone_from(&workload.answer.content_type);
    }
    Pool { requests, samples }
}

/// The requests of a load of this target, which has passed its proofs; what judges its answers is
/// told of them.
///
/// # Errors
/// If the body that was proved cannot be had.
pub fn of(subject: &mut Subject<'_>, seed: u64, every: usize) -> Result<Requests, String> {
    if subject.workload.walk.is_some() {
        // Scenarios keep the order of their steps and have checks of their own.
        let host = subject.way.address();
        return Ok(load::requests(subject.workload, &[], &BodyCheck::Any, host));
    }
    let as_proved = subject.proved_body()?;
    let Pool { mut requests, samples } =
        draw(subject.workload, &as_proved, subject.way.address(), seed, every);
    subject.live.expect(subject.workload, samples);
    let least_ns = subject.least_ns();
    must_wait(&mut requests, &subject.workload.answer, least_ns);
    Ok(requests.into())
}

/// No right answer of the usual kind may come sooner than this.
fn must_wait(requests: &mut [Request], answer: &Answer, least_ns: u64) {
    let usual = |request: &&mut Request| request.check.status == [answer.status];
    requests.iter_mut().filter(usual).for_each(|request| request.check.least_ns = least_ns);
}

fn repeat_to<T: Clone>(all: &mut Vec<T>, length: usize) {
    let mut next = 0;
    while all.len() < length {
        all.push(all[next].clone());
        next += 1;
    }
}

/// A request of another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
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
        sample: &Option<Sample>,
        draw: &mut Draw,
    ) -> Request {
        let status = |status: Vec<u16>| Check { status, ..Check::default() };
        match (self, sample) {
            (Self::Head, _) => Request {
                method: "HEAD".into(),
                check: status(vec![workload.answer.status, 404, 405, 501]),
                ..usual.clone()
            },
            (Self::Encoded, Some(sample)) => {
                let target = sample.fill_with(&workload.request.path, percent_encode_all);
                Request { target, drawn: None, ..usual.clone() }
            }
            _ => Request {
                target: format!("/no-such-page-{:016x}", draw.bits()),
                check: status(vec![404]),
                drawn: None,
                ..usual.clone()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn pool(id: &str, seed: u64) -> Pool {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../workloads/{id}.toml"));
        let workload = Workload::read(&path).unwrap();
        draw(&workload, &BodyCheck::Any, ([127, 0, 0, 1], 80).into(), seed, RARELY)
    }

    #[test]
    fn one_request_in_a_thousand_is_of_another_kind() {
        for (id, others) in
            [("hello", 2), ("hola", 8), ("page", 8), ("device", 1), ("users", 1), ("proxy", 1)]
        {
            let pool = pool(id, 7);
            let count = pool.samples.iter().filter(|sample| sample.is_none()).count();
            assert_eq!(count, others, "{id}");
            assert_eq!(pool.requests.len(), pool.samples.len());
            assert!(others == 0 || pool.requests.len() == others * RARELY, "{id}");
        }
    }

    #[test]
    fn the_kinds_are_those_that_proofs_ask_for() {
        let pool = pool("hola", 1);
        let others: Vec<&Request> = pool
            .requests
            .iter()
            .zip(&pool.samples)
            .filter(|(_, sample)| sample.is_none())
            .map(|(request, _)| request)
            .collect();
        assert!(others[0].target.starts_with("/no-such-page-"));
        assert_eq!(others[0].check.status, [404]);
        assert_eq!(others[1].method, "HEAD");
        let encoded = others[2].target.strip_prefix("/hola/").unwrap();
        assert!(encoded.split('%').skip(1).all(|byte| byte.len() == 2), "{encoded}");
        assert!(matches!(others[2].check.body, BodyCheck::Exact(_)));
    }

    #[test]
    fn values_are_drawn_and_media_types_looked_at_where_there_are_any() {
        for (id, drawn, looked_at) in
            [("hello", 0, 0), ("hola", 7_975, 80), ("page", 7_992, 80), ("users", 0, 10)]
        {
            let requests = pool(id, 7).requests;
            let count = requests.iter().filter(|request| request.drawn.is_some()).count();
            // Requests of another kind may have taken places of the names of the file.
            assert!((drawn..=drawn + 5).contains(&count), "{id}: {count}");
            let is_once = |request: &Request| {
                request.drawn.as_ref().is_none_or(|part| request.target.matches(part).count() == 1)
            };
            assert!(requests.iter().all(is_once), "{id}");
            let types = requests.iter().filter(|request| request.check.content_type.is_some());
            assert_eq!(types.count(), looked_at, "{id}");
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
        let in_full = |request: &&Request| request.check.body == BodyCheck::Refereed;
        assert_eq!(pool("page", 1).requests.iter().filter(in_full).count().div_ceil(10), 8);
    }
}
