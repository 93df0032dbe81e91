//! When an agent must have done what a load asks of it. Heartbeats alone keep no load waiting.
use pippin_engine::longest;
use pippin_model::load::{LoadSpec, Part};
use pippin_model::text::units::format_length;

use super::agent::{Agent, Job};
use super::{FIRST_BEATS, Trial};
use crate::PATIENCE_NS;

/// How long no second may come from an agent that loads: they come once a second.
const SECONDS_NS: u64 = 10_000_000_000;
/// How long an agent that was stopped may take to end: twice what its engine takes at most.
const STOP_NS: u64 = 10_000_000_000;
/// How long a result may be on its way in all, however steadily it comes.
const DELIVERY_NS: u64 = 120_000_000_000;

/// The longest times of one load, nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadlines {
    set_up_ns: u64,
    load_ns: u64,
    patience_ns: u64,
}

impl Deadlines {
    /// Those of a load of which no agent has a larger part than the widest of `parts`.
    pub fn of(load: &LoadSpec, parts: impl Iterator<Item = Part>) -> Self {
        let slice = parts.max_by_key(|part| part.width).unwrap_or_default();
        // Requests do not count.
        let requests = pippin_model::load::Requests::default();
        let longest = longest(&LoadSpec { slice, requests, threads: 1, ..load.clone() });
        Self { set_up_ns: longest.set_up_ns, load_ns: longest.load_ns, patience_ns: PATIENCE_NS }
    }

    /// Why an agent has outlived its time, if it has.
    pub fn missed(&self, agent: &Agent, trial: &Trial, now_ns: u64) -> Option<String> {
        let waited_ns = |since_ns: u64| now_ns.saturating_sub(since_ns);
        let outlives = |since_ns: u64, most_ns: u64| {
            let most_ns = most_ns.saturating_add(self.patience_ns);
            (waited_ns(since_ns) > most_ns).then(|| format_length(waited_ns(since_ns)))
        };
        let delivered_ns = agent.piece_ns;
        if let Some(stop_ns) = trial.stop_ns.filter(|_| !agent.is_done()) {
            let late = outlives(stop_ns.max(delivered_ns), STOP_NS)
                .or_else(|| outlives(stop_ns, DELIVERY_NS));
            return late.map(|time| {
                format!("it answers, but delivered no result {time} after it was stopped")
            });
        }
        match (&agent.job, trial.start_ns) {
            (Job::Preparing, _) => outlives(trial.began_ns, self.set_up_ns)
                .map(|time| format!("it answers, but its connections were not open after {time}")),
            (Job::Ready, _) if agent.offset.exchanges() < FIRST_BEATS => {
                outlives(trial.began_ns, self.set_up_ns).map(|time| {
                    format!("its clock is not known after {time}: it does not answer heartbeats")
                })
            }
            (Job::Called | Job::Working, Some(start_ns)) => {
                let end_ns = start_ns.saturating_add(self.load_ns);
                let is_over = now_ns > end_ns;
                let late =
                    outlives(end_ns.max(delivered_ns), 0).or_else(|| outlives(end_ns, DELIVERY_NS));
                let silent = outlives(start_ns.max(agent.second_ns).max(delivered_ns), SECONDS_NS);
                late.map(|time| {
                    format!("it answers, but delivered no result {time} after the end of the load")
                })
                .or_else(|| {
                    silent.filter(|_| !is_over).map(|time| {
                        format!("it answers, but reported nothing about the load for {time}")
                    })
                })
            }
            _ => None,
        }
    }
}
