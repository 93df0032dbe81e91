//! The steps of a profile in turn: known beforehand, or chosen by a search.
use pippin_model::plan::profile::{Profile, Searched};
use pippin_model::trial::{Step, TrialRecord};
use pippin_stats::capacity::{Outcome, Search, StepOutcome, step};
use pippin_stats::scalability::ladder;
use std::time::{Duration, Instant};

use crate::run::observer::Event;
use crate::trial::Watch;

/// How often to check during a rest whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// The steps that are still to be made.
pub enum Steps {
    /// Known beforehand; `None` is the profile as it is.
    Known(std::vec::IntoIter<Option<Step>>),
    /// Rates, or numbers of devices, that a search chooses.
    Search(Search, Searched),
}

impl Steps {
    /// All steps of a profile.
    #[must_use]
    pub fn from_profile(profile: &Profile) -> Self {
        let known: Vec<Option<Step>> = match profile.steps.known() {
            none if none.is_empty() => vec![None],
            some => some.into_iter().map(Some).collect(),
        };
        match Search::from_profile(profile) {
            Some(search) => Self::Search(search, profile.searched()),
            None => Self::Known(known.into_iter()),
        }
    }

    /// How many there are; 1 for a search, because its number is not known beforehand.
    #[must_use]
    pub fn number(profile: &Profile) -> usize {
        profile.steps.known().len().max(1)
    }

    /// How the search ended; `None` if there was none.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Known(_) => None,
            Self::Search(search, _) => Some(search.outcome()),
        }
    }

    /// Takes note of how a judged step came out. In a search, it tells the outcome and lets the
    /// target rest after a rate that it could not keep. Of several rates, those after one that it
    /// did not keep up with are left out.
    pub fn observe(&mut self, record: &TrialRecord, watch: &Watch<'_>) {
        let (search, of) = match self {
            Self::Search(search, of) => (search, of),
            Self::Known(left) => {
                if let Some(why) = ladder::leaves(record) {
                    watch.observer.event(&Event::Note(&why));
                    *left = Vec::new().into_iter();
                }
                return;
            }
        };
        let tried = record.spec.step.and_then(Step::tried);
        let (Some(tried), Some(seen)) = (tried, StepOutcome::from_trial(record)) else { return };
        search.observe(tried, seen);
        let (amount, seen) = (of.amount(tried), seen.words());
        let text = match search.next() {
            Some(_) => format!("{amount}: {seen}"),
            None => format!("{amount}: {seen}; capacity: {}", search.outcome().words(*of)),
        };
        watch.observer.event(&Event::Note(&text));
        if search.next().is_some() {
            rest(Duration::from_nanos(step::rest_ns(record)), watch);
        }
    }
}

fn rest(length: Duration, watch: &Watch<'_>) {
    let until = Instant::now() + length;
    while !watch.is_over() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(GLANCE));
    }
}

impl Iterator for Steps {
    /// `None` is the profile as it is.
    type Item = Option<Step>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Known(steps) => steps.next(),
            Self::Search(search, of) => search.next().map(|number| Some(of.step(number))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;
    use pippin_engine::Control;
    use pippin_model::example::ExampleTrial;
    use pippin_model::load::{Check, Connections, LoadSpec, Protocol, Request};
    use pippin_model::plan::objective::Objective;
    use pippin_testing::frames::kind::HEADERS;
    use pippin_testing::frames::{END_HEADERS, END_STREAM, Server, frame};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    pippin_testing::patient_tests!(a_search_over_http2_finds_a_capacity_that_is_known);

    const STEP_NS: u64 = 100_000_000;
    /// Right answers in a step; the server refuses all further requests. So the capacity is known
    /// by counting, however late a busy machine sends and answers.
    const MOST: u64 = 114;
    /// A step sends requests for a tenth of its length before it counts them.
    const CAPACITY_PER_S: f64 = MOST as f64 / 0.11;
    /// `:status: 503`, as the name of entry 8 with a value (RFC 7541, section 6.2.2).
    const BUSY: &[u8] = b"\x08\x03503";

    /// The requests of the current step. Each connection belongs to the step that opened it.
    type StepRequests = Arc<Mutex<Arc<AtomicU64>>>;

    fn server(asked: &StepRequests) -> Server {
        let asked = Arc::clone(asked);
        let server = Server::new(move |connection| {
            let asked = Arc::clone(&asked.lock().unwrap());
            loop {
                let stream = connection.request()?;
                if asked.fetch_add(1, Relaxed) < MOST {
                    connection.answer(stream, b"hello")?;
                } else {
                    connection.send(&frame(HEADERS, END_HEADERS | END_STREAM, stream, BUSY))?;
                }
            }
        });
        server.unwrap()
    }

    /// A step as the lab makes it, over HTTP/2; what a calm host would say of it is an example's.
    fn made(profile: &Profile, step: Option<Step>, server: &Server) -> TrialRecord {
        let check = Check { status: vec![200], ..Check::default() };
        let request = Request { check, ..Request::get("/", "capacity") };
        let base = LoadSpec {
            requests: vec![request].into(),
            protocol: Protocol::Http2,
            ..load::base(server.address, Vec::new(), 1)
        };
        let never = AtomicBool::new(false);
        let spec = load::from_profile(profile, step, base);
        let result = pippin_engine::run(&spec, &Control::new(&never, &|_| true)).unwrap();
        assert!(result.measured.connections.peak <= 2, "{:?}", result.measured.connections);
        let mut record = ExampleTrial::search_step(1.0).build();
        (record.spec.profile, record.spec.step) = (profile.clone(), step);
        record.load = Some(result);
        record
    }

    /// Searches, and holds each step against the server's count of its requests.
    fn searched() -> Outcome {
        let asked = StepRequests::default();
        let server = server(&asked);
        let objective = Objective::parse("errors < 0.1%").unwrap();
        let profile = Profile {
            connections: Connections { streams: 8, ..Connections::kept(2) },
            ..Profile::capacity(objective, 800.0, 2, STEP_NS, 0.05)
        };
        let mut steps = Steps::from_profile(&profile);
        while let Some(step) = steps.next() {
            *asked.lock().unwrap() = Arc::default();
            let record = made(&profile, step, &server);
            let count = asked.lock().unwrap().load(Relaxed);
            let seen = StepOutcome::from_trial(&record);
            let is_held = seen == Some(StepOutcome::Held);
            // The generator does not see the answers that come after the end of the step.
            let unanswered = record.load.as_ref().unwrap().measured.requests.censored;
            assert!(!is_held || count <= MOST + unanswered, "{step:?}: {seen:?}, {count} requests");
            steps.observe(&record, &Watch::nobody());
        }
        steps.outcome().unwrap()
    }

    /// A machine that stalls at the end of a step sends too few requests, and the search is then
    /// right to find less. So the best of some searches counts; none may find more than there is.
    fn a_search_over_http2_finds_a_capacity_that_is_known() {
        let mut outcomes = Vec::new();
        for _ in 0..5 {
            let outcome = searched();
            outcomes.push(outcome);
            let Some(found) = outcome.confirmed_per_s() else { continue };
            // At the end of a step, up to 1 % of the requests may be left unsent.
            assert!(found <= CAPACITY_PER_S * 1.02, "{outcomes:?}");
            if found >= CAPACITY_PER_S * 0.95 {
                return;
            }
        }
        panic!("{outcomes:?}");
    }
}
