//! When an agent must have done what a load asks of it. Heartbeats alone keep no load waiting.
use pippin_engine::longest;
use pippin_model::load::{LoadSpec, Part};
use pippin_model::text::units::format_length;

use super::agent::{Agent, Job};
use super::{FIRST_BEATS, Trial, Wanted};

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
    /// How long an agent may do other work first.
    within_ns: u64,
}

impl Deadlines {
    /// Those of a load of which no agent has a larger part than the widest of `parts`.
    pub fn from_load(load: &LoadSpec, parts: impl Iterator<Item = Part>, wanted: &Wanted) -> Self {
        let slice = parts.max_by_key(|part| part.width).unwrap_or_default();
        // Requests do not count.
        let requests = pippin_model::load::Requests::default();
        let longest = longest(&LoadSpec { slice, requests, threads: 1, ..load.clone() });
        Self {
            set_up_ns: longest.set_up_ns,
            load_ns: longest.load_ns,
            patience_ns: wanted.patience_ns,
            within_ns: wanted.within_ns,
        }
    }

    /// Why an agent has outlived its time, if it has, and whether another one may do better.
    pub fn missed(&self, agent: &Agent, trial: &Trial, now_ns: u64) -> Option<(String, bool)> {
        // Who was lost is waited for elsewhere.
        if agent.is_done() || agent.is_waited_for() {
            return None;
        }
        // What this process did not do itself, it cannot ask of others.
        let now_ns = now_ns.saturating_sub(trial.still_ns + trial.behind_ns);
        let outlives = |since_ns: u64, most_ns: u64| {
            let waited_ns = now_ns.saturating_sub(since_ns);
            (waited_ns > most_ns.saturating_add(self.patience_ns)).then(|| format_length(waited_ns))
        };
        let says = |time: Option<String>, what: &str, when: &str| {
            time.map(|time| (format!("it answers, but {what} {time}{when}"), true))
        };
        let delivered_ns = agent.piece_ns;
        let taken_ns = agent.taken_ns.unwrap_or(trial.began_ns);
        if let Some(stop_ns) = trial.stop_ns {
            let late = outlives(stop_ns.max(delivered_ns), STOP_NS)
                .or_else(|| outlives(stop_ns, DELIVERY_NS));
            return says(late, "delivered no result", " after it was stopped");
        }
        match (&agent.job, trial.start_ns) {
            (Job::Preparing, _) if agent.taken_ns.is_none() => {
                let busy = agent.busy.as_ref();
                outlives(trial.began_ns, self.within_ns.max(self.set_up_ns)).map(|time| {
                    let why = busy.map_or_else(
                        || format!("it answers, but did not take the order within {time}"),
                        |with| format!("{with} uses it, for {time} now"),
                    );
                    (why, true)
                })
            }
            (Job::Preparing, _) => {
                let late = outlives(taken_ns, self.set_up_ns);
                says(late, "its connections were not open after", "")
            }
            (Job::Ready, _) if agent.offset.exchanges() < FIRST_BEATS => {
                let late = outlives(taken_ns, self.set_up_ns);
                says(late, "not the heartbeats: its clock is not known after", "")
            }
            (Job::Called | Job::Working, Some(start_ns)) => {
                let end_ns = start_ns.saturating_add(self.load_ns);
                let late =
                    outlives(end_ns.max(delivered_ns), 0).or_else(|| outlives(end_ns, DELIVERY_NS));
                let silent_ns = start_ns.max(agent.second_ns).max(delivered_ns);
                let silent = outlives(silent_ns, SECONDS_NS).filter(|_| now_ns <= end_ns);
                says(late, "delivered no result", " after the end of the load")
                    .or_else(|| says(silent, "reported nothing about the load for", ""))
            }
            _ => None,
        }
    }
}
