//! Whether a target answers rightly under a short load.
use pippin_model::load::{LoadSpec, Protocol, StopRule};
use pippin_model::result::LoadResult;
use pippin_model::workload::{Proof, Service, Workload};
use std::time::Duration;

use super::findings::Findings;
use crate::load;
use crate::load::pool::{self, Pool};
use crate::trial::unix_now_ns;
use crate::verify::{Subject, live, revalidation, walk};

/// In a short load, more of the requests are of another kind.
const OTHER_KIND_EVERY: u32 = 10;
/// What part of the short load is made again with a connection for each request.
const CLOSING_PART: u64 = 4;
/// Streams of events at a time: more than the threads or processes of most pools that hold one for each.
const STREAMS: u32 = 100;

/// What is found under a short load, whose connections are kept, and under a shorter one of a
/// connection for each request: a plan may have either.
pub(super) fn find(subject: &mut Subject<'_>) -> Findings {
    let (connections, count) = shape(subject.workload);
    let mut found = Findings::default();
    let Loaded { result: kept, wrong } = loaded(subject, connections, count);
    found.wrong.extend(wrong);
    let fresh_ns = subject.workload.answer.fresh_within_ns();
    if fresh_ns > 0 {
        // What the server had in the load before is too old for the next.
        found.wrong.extend(revalidation::replace_all(subject).err());
        std::thread::sleep(Duration::from_nanos(fresh_ns));
        found.wrong.extend(loaded(subject, connections, count / CLOSING_PART).wrong);
    }
    if subject.workload.walk.is_none() && subject.way.protocol == Protocol::Http1 {
        subject.closes = true;
        let fewer = count / CLOSING_PART;
        found.wrong.extend(loaded(subject, connections.min(fewer as u32), fewer).wrong);
        subject.closes = false;
    }
    if let Some(load) = kept {
        found.add(Findings::from_proofs(&live::prove(subject, &load)));
    }
    found
}

/// Connections and requests of the short load: a few seconds even where each answer waits. Waits
/// need so many that a distribution can be told from another one, by five standard errors, although
/// a server that cheats under load alone draws those of the first few that ask at once.
fn shape(workload: &Workload) -> (u32, u64) {
    if workload.services.contains(&Service::Upstream) {
        (8, 32)
    } else if workload.proofs.contains(&Proof::Stored) {
        // Time for each step of each walk beside it.
        (8, 3_000)
    } else if workload.proofs.iter().any(|proof| matches!(proof, Proof::Delay { .. })) {
        (64, 640)
    } else if workload.answer.events.is_some() {
        // One after the other takes as long as a stream each time.
        (STREAMS, STREAMS.into())
    } else {
        (8, 500)
    }
}

/// The result of a short load, if it could be made, and what is wrong with it.
struct Loaded {
    result: Option<LoadResult>,
    wrong: Option<String>,
}

fn loaded(subject: &mut Subject<'_>, connections: u32, count: u64) -> Loaded {
    let numbers = subject.live.numbers();
    match apply(subject, connections, count) {
        Ok(load) => {
            let wrong = miscounted(subject, &load, count, numbers);
            Loaded { result: Some(load), wrong }
        }
        Err(message) => Loaded { result: None, wrong: Some(message) },
    }
}

fn apply(subject: &mut Subject<'_>, connections: u32, count: u64) -> Result<LoadResult, String> {
    let Pool { requests, surprises } = pool::fill(subject, unix_now_ns(), OTHER_KIND_EVERY)?;
    let workload = subject.workload;
    let base = LoadSpec {
        threads: 1,
        surprises,
        scenario: workload.walk.as_ref().map(|walk| walk::without_thoughts(&walk.scenario)),
        follow: workload.follow,
        ..subject.way.base(Vec::new(), unix_now_ns())
    };
    subject.services.reset_account();
    let referee = subject.live.begin(subject.services, subject.way, subject.closes)?;
    let connections = subject.connections(connections);
    let stop = StopRule::requests(count);
    let result = load::run_closed(base, requests, connections, stop, referee);
    subject.live.end(subject.services);
    result.map_err(|error| format!("short load: {error}"))
}

/// Finds wrong answers, and a wrong number of calls at the upstream. `before`: how many answers had
/// one of its numbers before this load.
fn miscounted(
    subject: &mut Subject<'_>,
    result: &LoadResult,
    count: u64,
    before: Option<u64>,
) -> Option<String> {
    let right = result.measured.requests.good;
    // Nobody knows how many redirections there are.
    let is_whole = if subject.workload.follow > 0 {
        result.measured.errors.is_empty()
    } else {
        right == count
    };
    if !is_whole {
        let of = if subject.closes { " of a connection each" } else { "" };
        return Some(format!(
            "under a short load of {count} requests{of} {right} were answered rightly; errors: {}",
            load::errors_in_words(result)
        ));
    }
    let numbers = subject.live.numbers()? - before.unwrap_or(0);
    // All requests have been answered, so that none is under way.
    let calls = match subject.services.upstream().and_then(|upstream| upstream.calls()) {
        Ok(calls) if calls == numbers => return None,
        Ok(calls) => calls,
        Err(why) => return Some(format!("the account of the upstream cannot be read: {why}")),
    };
    Some(format!("under a short load the upstream was asked {calls} times for {numbers} requests"))
}
