//! That every request asks the upstream.
use super::live::Live;
use super::{Subject, Verdict};

/// As many calls at the upstream as requests at the target, sent at the same time, so that a target
/// that shares one call among waiting requests is found out too.
///
/// # Errors
/// How many calls there were instead.
pub fn counted(subject: &mut Subject<'_>, requests: u32) -> Verdict {
    let path = subject.first()?.path.clone();
    let before = subject.services.upstream()?.calls()?;
    let (way, limit) = (subject.way, subject.limit);
    let live = &*subject.live;
    let answers: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let path = &path;
        // Five at a time: more would only measure how many the target serves at once.
        let asker = |share: u32| {
            scope.spawn(move || (0..share).try_for_each(|_| ask(way, limit, path, live)))
        };
        let askers: Vec<_> =
            (0..5).map(|i| asker(requests / 5 + u32::from(i < requests % 5))).collect();
        askers
            .into_iter()
            .map(|asker| asker.join().unwrap_or_else(|_| Err("a proof's thread panicked".into())))
            .collect()
    });
    answers.into_iter().collect::<Result<(), String>>()?;
    let calls = subject.services.upstream()?.calls()? - before;
    if calls == u64::from(requests) {
        Ok(())
    } else {
        Err(format!("{requests} requests made {calls} calls at the upstream"))
    }
}

fn ask(
    way: &crate::way::Way,
    limit: std::time::Duration,
    path: &str,
    live: &Live,
) -> Result<(), String> {
    let mut client = super::http::Client::connect(way, limit)?;
    let answer = client.exchange(&super::http::Request::get(path).closing())?;
    if answer.status != 200 {
        return Err(format!("GET {path}: status {}", answer.status));
    }
    live.differs(&answer).map_or(Ok(()), |difference| Err(format!("GET {path}: {difference}")))
}
