//! The agents that applied the loads of a run: where each ran, its share, its clock, its own
//! figures.
use pippin_model::run::RunRecord;
use pippin_model::text::units::{format_count, format_ns};
use pippin_model::trial::agent::{AgentClock, AgentPart};
use serde::{Deserialize, Serialize};

use super::run::host_line;
use crate::words;

/// One agent over all trials of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentView {
    /// Its name.
    pub name: String,
    /// The operator's tags.
    pub tags: Vec<String>,
    /// Its host in one line.
    pub host: String,
    /// Its share of every load, from 0 to 1.
    pub share: f64,
    /// Its clock in the last trial.
    pub clock: Option<AgentClock>,
    /// Its latest start after the agreed instant, nanoseconds.
    pub late_max_ns: Option<i64>,
    /// The longest time without a word of it during a load, if that was longer than 1.5 s, in
    /// nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_max_ns: Option<u64>,
    /// Trials to which it delivered a result.
    pub trials: u64,
    /// Requests that were due, over all trials.
    pub scheduled: u64,
    /// Complete answers, over all trials.
    pub completed: u64,
    /// Right answers per second: the mean over its trials.
    pub goodput_per_s: Option<f64>,
    /// 99th percentile of the response time in the worst of its trials, nanoseconds.
    pub response_p99_ns: Option<u64>,
    /// The median round trip of its handshakes with the target, as its kernel timed them, in
    /// nanoseconds: the network there and back, which every response time includes. Of the trial in
    /// which it was longest.
    #[serde(default)]
    pub network_ns: Option<u64>,
    /// The busiest thread's share of a core, in the trial in which it was highest.
    pub busiest_share: Option<f64>,
    /// Why it once delivered no result, if so.
    pub failure: Option<String>,
}

/// The agents of a run by name; empty if only this machine applied the loads.
#[must_use]
pub fn from_record(record: &RunRecord) -> Vec<AgentView> {
    let mut agents: std::collections::BTreeMap<&str, AgentView> = std::collections::BTreeMap::new();
    for part in record.trials.iter().flat_map(|trial| &trial.agents) {
        agents.entry(&part.name).or_insert_with(|| new(part)).add(part);
    }
    agents.into_values().collect()
}

fn new(part: &AgentPart) -> AgentView {
    let hostname = part.host.hostname.clone().into_iter();
    AgentView {
        name: part.name.clone(),
        tags: part.tags.clone(),
        host: hostname.chain([host_line(&part.host)]).collect::<Vec<_>>().join(": "),
        share: f64::from(part.part.width) / f64::from(part.part.of.max(1)),
        clock: None,
        late_max_ns: None,
        silent_max_ns: None,
        trials: 0,
        scheduled: 0,
        completed: 0,
        goodput_per_s: None,
        response_p99_ns: None,
        network_ns: None,
        busiest_share: None,
        failure: None,
    }
}

impl AgentView {
    fn add(&mut self, part: &AgentPart) {
        self.clock = part.clock.or(self.clock);
        self.late_max_ns = self.late_max_ns.max(part.late_ns);
        self.silent_max_ns = self.silent_max_ns.max(part.silent_ns);
        self.failure = self.failure.take().or_else(|| part.failure.clone());
        let Some(figures) = &part.figures else { return };
        self.scheduled += figures.scheduled;
        self.completed += figures.completed;
        if let Some(rate) = figures.goodput_per_s {
            let sum = self.goodput_per_s.unwrap_or(0.0) * self.trials as f64 + rate;
            self.goodput_per_s = Some(sum / (self.trials + 1) as f64);
        }
        self.trials += 1;
        self.response_p99_ns = self.response_p99_ns.max(figures.response_p99_ns);
        self.network_ns = self.network_ns.max(figures.network_ns);
        let busier = figures.busiest_share.into_iter().chain(self.busiest_share);
        self.busiest_share = busier.reduce(f64::max);
    }

    /// Its host's name and its tags.
    fn place(&self) -> String {
        let host = self.host.split(':').next().unwrap_or_default().to_string();
        std::iter::once(host).chain(self.tags.iter().cloned()).collect::<Vec<_>>().join(", ")
    }

    /// Its cells under [`COLUMNS`].
    #[must_use]
    pub fn cells(&self) -> [String; 9] {
        let unknown = || words::UNKNOWN.to_string();
        let clock = self.clock.map_or_else(unknown, |clock| {
            format!("{} +-{}", signed(clock.offset_ns), format_ns(clock.error_ns))
        });
        [
            self.name.clone(),
            self.place(),
            words::percent(self.share),
            self.goodput_per_s.map_or_else(unknown, format_count),
            self.response_p99_ns.map_or_else(unknown, format_ns),
            self.network_ns.map_or_else(unknown, format_ns),
            self.busiest_share.map_or_else(unknown, words::percent),
            clock,
            self.late_max_ns.map_or_else(unknown, signed),
        ]
    }
}

/// The titles of a table of agents.
pub const COLUMNS: [&str; 9] =
    ["agent", "host", "share", "requests/s", "p99", "network", "busiest", "time of day", "start"];

fn signed(ns: i64) -> String {
    format!("{}{}", if ns < 0 { "-" } else { "+" }, format_ns(ns.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::host::fingerprint::Fingerprint;
    use pippin_model::load::Part;
    use pippin_model::trial::agent::AgentFigures;

    #[test]
    fn an_agents_row_is_of_all_its_trials() {
        let part = |late_ns, completed, failure: Option<&str>| AgentPart {
            name: "a".into(),
            tags: vec!["zone=eu".into()],
            host: Fingerprint { hostname: Some("h".into()), cpus: 2, ..Fingerprint::default() },
            part: Part { nth: 0, width: 1, of: 4 },
            clock: Some(AgentClock {
                offset_ns: -3_000_000_000,
                error_ns: 150_000,
                drift_ppm: None,
                drift_error_ppm: None,
            }),
            late_ns: Some(late_ns),
            silent_ns: None,
            beside: Vec::new(),
            figures: Some(AgentFigures {
                threads: 1,
                duration_ns: 1_000_000_000,
                scheduled: completed + 1,
                completed,
                errors: 0,
                goodput_per_s: Some(completed as f64),
                response_p50_ns: Some(1_000_000),
                response_p99_ns: Some(2_000_000),
                network_ns: Some(150_000),
                cpu_ns: 1,
                busiest_share: Some(0.5),
                ceiling_per_s: None,
            }),
            caveats: vec![],
            failure: failure.map(str::to_string),
        };
        let parts = [part(40_000, 1_000, None), part(-20_000, 2_000, Some("lost"))];
        let mut row = new(&parts[0]);
        parts.iter().for_each(|part| row.add(part));
        assert_eq!(row.host, "h: 2 CPUs");
        assert_eq!((row.trials, row.scheduled, row.completed), (2, 3_002, 3_000));
        assert_eq!(row.failure.as_deref(), Some("lost"));
        let cells = row.cells();
        assert_eq!(
            cells.each_ref().map(String::as_str),
            [
                "a",
                "h, zone=eu",
                "25 %",
                "1,500",
                "2.00 ms",
                "150 µs",
                "50 %",
                "-3.00 s +-150 µs",
                "+40.0 µs"
            ]
        );
    }
}
