//! Proofs that a target does the work of a workload. Each family has a file; each proof has the
//! same signature and one line of registration.
pub mod answer;
pub mod coding;
pub mod delay;
pub mod escapes;
pub mod events;
pub mod files;
pub mod html;
pub mod http;
pub mod items;
pub mod live;
pub mod messages;
pub mod packed;
pub mod page;
pub mod protocol;
pub mod revalidation;
pub mod sampled;
pub mod simultaneous;
pub mod stored;
pub mod uploads;
pub mod upstream;
pub mod users;
pub mod walk;
pub mod websocket;
pub mod whole_body;

use pippin_model::load::{BodyCheck, Connections};
use pippin_model::text::units::Spread;
use pippin_model::trial::{ProofOutcome, ProofTime};
use pippin_model::workload::{Proof, Sample, Source, Workload};
use std::time::Duration;

use crate::running::way::Way;
use crate::services::Services;
use http::Answer;
use live::Live;

/// How many requests with values from the seed are proved.
pub const PROVED: usize = 64;

/// What a proof works with.
pub struct Subject<'a> {
    /// How the target is reached.
    pub way: &'a Way,
    /// What it must serve.
    pub workload: &'a Workload,
    /// Its requests with their right answers.
    pub samples: &'a [Sample],
    /// The services it uses.
    pub services: &'a mut Services,
    /// What judges the answers that are different each time.
    pub live: &'a mut Live,
    /// How long one answer may take.
    pub limit: Duration,
    /// Whether the load has a connection for each request, and says so with each.
    pub closes: bool,
}

/// What holds, or what was expected and what came.
pub type Verdict = Result<(), String>;

/// Runs every proof of the workload.
pub fn prove(subject: &mut Subject<'_>, when: ProofTime) -> Vec<ProofOutcome> {
    let workload = subject.workload;
    workload
        .proofs
        .iter()
        .map(|proof| {
            let mut remark = None;
            let failure = prove_one(proof, subject, &mut remark).err();
            let (workload, proof) = (workload.id.clone(), proof.name().into());
            ProofOutcome { workload, proof, when, failure, remark, doubt: None, packed: None }
        })
        .collect()
}

fn prove_one(proof: &Proof, subject: &mut Subject<'_>, remark: &mut Option<String>) -> Verdict {
    match proof {
        Proof::Answer if subject.workload.walk.is_some() => walk::once(subject),
        Proof::Answer => answer::every_sample(subject),
        Proof::NotFound { path } => protocol::not_found(subject, path),
        Proof::Head => protocol::head(subject),
        Proof::Coding => coding::negotiated(subject).map(|seen| *remark = Some(seen)),
        Proof::KeepAlive => protocol::keep_alive(subject),
        Proof::Text { .. } => page::text(subject),
        Proof::Rows { id, count } => escapes::rows(subject, id, *count),
        Proof::Escapes { text } => escapes::escapes(subject, text),
        Proof::Table => users::table(subject),
        Proof::Fresh if subject.workload.answer.from == Some(Source::Files) => {
            revalidation::fresh(subject)
        }
        Proof::Fresh if subject.workload.answer.from == Some(Source::Messages) => {
            messages::fresh(subject)
        }
        Proof::Fresh => users::fresh(subject),
        Proof::Messages { .. } => messages::pages(subject),
        Proof::Stored => stored::stored(subject),
        Proof::Conditional => revalidation::conditional(subject).map(|seen| *remark = seen),
        Proof::Ranges => revalidation::ranges(subject).map(|seen| *remark = seen),
        Proof::WholeBody => whole_body::read(subject).map(|seen| *remark = seen),
        Proof::Counted { requests } => upstream::counted(subject, *requests),
        Proof::Events { streams } => events::streams(subject, *streams),
        Proof::Echo => websocket::echo(subject),
        Proof::Broadcast { receivers } => websocket::broadcast(subject, *receivers),
        Proof::Ping => websocket::ping(subject),
        Proof::Close => websocket::close(subject),
        Proof::Delay { wait, samples } => delay::distribution(subject, parse_wait(wait)?, *samples),
        Proof::Simultaneous { connections, wait, pool } => {
            let wait = parse_wait(wait)?;
            simultaneous::simultaneous(subject, *connections, wait, *pool)
                .map(|seen| *remark = seen)
        }
    }
}

fn parse_wait(wait: &str) -> Result<Spread, String> {
    Spread::parse(wait).map_err(|error| error.to_string())
}

impl Subject<'_> {
    /// Asks for another path than the load does, with its method and headers, on a connection of
    /// its own.
    ///
    /// # Errors
    /// A message that names the request.
    pub fn ask_for(&self, path: &str) -> Result<http::Answer, String> {
        let method = &self.workload.request.method;
        let request = self.of_sample(method, self.first()?).to(path);
        let mut client = http::Client::connect(self.way, self.limit)?;
        client.exchange(&request).map_err(|error| format!("{method} {path}: {error}"))
    }

    /// Connections as the load uses them.
    #[must_use]
    pub const fn connections(&self, count: u32) -> Connections {
        let requests_per_connection = if self.closes { Some(1) } else { None };
        Connections { requests_per_connection, ..Connections::kept(count) }
    }

    /// A sample's request by this method, with the headers of the load.
    #[must_use]
    pub fn of_sample(&self, method: &str, sample: &Sample) -> http::Request {
        let request = http::Request::of_sample(method, sample);
        if self.closes { request.closing() } else { request }
    }

    /// Asks what the workload asks, on a connection of its own.
    ///
    /// # Errors
    /// A message that names the request.
    pub fn ask_sample(&self, sample: &Sample) -> Result<http::Answer, String> {
        let method = &self.workload.request.method;
        let mut client = http::Client::connect(self.way, self.limit)?;
        client
            .exchange(&self.of_sample(method, sample))
            .map_err(|error| format!("{method} {}: {error}", sample.path))
    }

    /// What is wrong with an answer, if anything is.
    #[must_use]
    pub fn differs(&self, sample: &Sample, answer: &Answer) -> Option<String> {
        answer::differs(&self.workload.answer, sample, answer)
            .or_else(|| self.live.differs(sample, answer))
    }

    /// The shortest time in which a right answer can be made, in nanoseconds: what the upstream or
    /// the workload's own wait asks for; 0 without either.
    #[must_use]
    pub fn least_ns(&mut self) -> u64 {
        let upstream =
            self.services.upstream().map(|upstream| Spread::exactly(upstream.delay_ns()));
        let own = || {
            self.workload.proofs.iter().find_map(|proof| match proof {
                Proof::Delay { wait, .. } => Spread::parse(wait).ok(),
                _ => None,
            })
        };
        upstream.ok().or_else(own).map_or(0, delay::least_ns)
    }

    /// The wait that the target itself draws for each request; `None` if it does not.
    #[must_use]
    pub fn drawn_wait(&self) -> Option<Spread> {
        let wait = self.workload.proofs.iter().find_map(|proof| match proof {
            Proof::Delay { wait, .. } => Spread::parse(wait).ok(),
            _ => None,
        })?;
        (wait.max_ns() > wait.min_ns()).then_some(wait)
    }

    /// Where the workload expects under load what was proved: that body.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn proved_body(&self) -> Result<BodyCheck, String> {
        if !self.workload.answer.as_proved {
            return Ok(BodyCheck::Any);
        }
        Ok(BodyCheck::Exact(self.ask_sample(self.first()?)?.body))
    }

    /// The first sample, which every workload has.
    ///
    /// # Errors
    /// If the workload has none.
    pub fn first(&self) -> Result<&Sample, String> {
        self.samples.first().ok_or_else(|| "the workload has no request".into())
    }
}

/// What this returns. It must return within this time: a test of what could wait for ever fails
/// instead of waiting with it.
#[cfg(test)]
#[track_caller]
pub(crate) fn within<T: Send + 'static>(
    limit: std::time::Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(limit).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::pool;
    use crate::load::run_closed;
    use pippin_model::load::{LoadSpec, StopRule};
    use pippin_testing::scripted::{Answer, Script, spawn};
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    /// A server cannot tell a proof from the load by what they send.
    #[test]
    fn proofs_send_the_very_headers_of_the_load() {
        let text = "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\nmethod='GET'\npath='/{n}'\nheaders={Accept='text/*', X-N='{n}'}\n[request.vary]\nn={values=['7']}\n[answer]\nstatus=200\nbody='x'\n[[proof]]\nkind='answer'\n[[proof]]\nkind='not-found'\npath='/none'\n[[proof]]\nkind='head'\n";
        let workload: Workload =
            pippin_model::text::file::parse_toml(std::path::Path::new("x.toml"), text).unwrap();
        for closes in [false, true] {
            let heads = Arc::new(Mutex::new(BTreeSet::new()));
            let seen = Arc::clone(&heads);
            let server = spawn(Script::each(move |received, _| {
                let text = String::from_utf8_lossy(received.bytes).into_owned();
                let (line, fields) = text.split_once("\r\n").unwrap_or_default();
                seen.lock().unwrap().insert(fields.to_string());
                let status = if line.contains("none") { 404 } else { 200 };
                Answer::new(status, if line.starts_with("HEAD") { b"" } else { b"x" })
            }))
            .unwrap();
            let way = Way::plain(server.address());
            let (mut services, mut live) = (Services::default(), Live::default());
            let mut subject = Subject {
                way: &way,
                workload: &workload,
                samples: &workload.samples(1, 1),
                services: &mut services,
                live: &mut live,
                limit: Duration::from_secs(5),
                closes,
            };
            let outcomes = prove(&mut subject, ProofTime::Before);
            assert!(outcomes.iter().all(|outcome| outcome.failure.is_none()), "{outcomes:?}");
            let proved = std::mem::take(&mut *heads.lock().unwrap());
            let pool = pool::fill(&mut subject, 1, 10).unwrap();
            let (base, connections) = (way.base(Vec::new(), 1), subject.connections(2));
            let base = LoadSpec { surprises: pool.surprises, ..base };
            run_closed(base, pool.requests, connections, StopRule::requests(40), None).unwrap();
            let loaded = heads.lock().unwrap().clone();
            assert_eq!(proved, loaded, "closes: {closes}");
            assert_eq!(loaded.len(), 1, "{loaded:?}");
            assert_eq!(loaded.iter().any(|head| head.contains("Connection: close")), closes);
        }
    }
}
