//! That every request asks the upstream.
use pippin_model::workload::Sample;
use std::time::Duration;

use super::http::{Client, Request};
use super::live::Live;
use super::{Subject, Verdict};
use crate::running::way::Way;

/// As many calls at the upstream as requests at the target, sent at the same time, so that a target
/// that shares one call among waiting requests is found out too.
///
/// # Errors
/// How many calls there were instead.
pub fn counted(subject: &mut Subject<'_>, requests: u32) -> Verdict {
    // Calls of a load that was cut off, of this target or another, do not count.
    subject.services.be_still(subject.limit);
    let before = subject.services.upstream()?.calls()?;
    let sample = subject.first()?;
    let asking = Asking {
        way: subject.way,
        limit: subject.limit,
        request: subject.of_sample(&subject.workload.request.method, sample),
        sample,
        live: &*subject.live,
    };
    let answers: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let asking = &asking;
        // Five at a time: more would only measure how many the target serves at once.
        let asker = |share: u32| scope.spawn(move || (0..share).try_for_each(|_| asking.once()));
        let askers: Vec<_> =
            (0..5).map(|i| asker(requests / 5 + u32::from(i < requests % 5))).collect();
        askers
            .into_iter()
            .map(|asker| asker.join().unwrap_or_else(|_| Err("a proof's thread panicked".into())))
            .collect()
    });
    answers.into_iter().collect::<Result<(), String>>()?;
    compared(requests, before, subject.services.upstream()?.calls()?)
}

/// The upstream counted `before` calls before the requests, and `after` behind them.
fn compared(requests: u32, before: u64, after: u64) -> Verdict {
    let Some(calls) = after.checked_sub(before) else {
        return Err(format!(
            "the upstream counted {before} calls, and {after} a moment later: it was started anew or set back"
        ));
    };
    if calls == u64::from(requests) {
        return Ok(());
    }
    Err(format!("{requests} requests made {calls} calls at the upstream"))
}

/// What several threads ask at the same time, each request on a connection of its own.
struct Asking<'a> {
    way: &'a Way,
    limit: Duration,
    request: Request,
    sample: &'a Sample,
    live: &'a Live,
}

impl Asking<'_> {
    fn once(&self) -> Verdict {
        let path = &self.sample.path;
        let answer = Client::connect(self.way, self.limit)?.exchange(&self.request)?;
        if answer.status != 200 {
            return Err(format!("GET {path}: status {}", answer.status));
        }
        let difference = self.live.differs(self.sample, &answer);
        difference.map_or(Ok(()), |difference| Err(format!("GET {path}: {difference}")))
    }
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn each_request_makes_one_call_and_a_count_that_falls_is_told() {
        assert_eq!(compared(20, 7, 27), Ok(()));
        assert!(compared(20, 7, 26).unwrap_err().contains("20 requests made 19 calls"));
        assert!(compared(20, 7, 2).unwrap_err().contains("started anew"));
    }
}
