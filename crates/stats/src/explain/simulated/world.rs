//! Loads on servers of known truth, in virtual time. What the generator would have recorded goes
//! into a trial's record: times, windows, silences, connections, requests that were left open.
use pippin_model::example::ExampleTrial;
use pippin_model::host::usage::Role;
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{Answered, Arrivals, ByConnection, Measured, RequestCounts, Window};
use pippin_model::trial::{Single, TrialRecord};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) const MS: u64 = 1_000_000;
pub(super) const SECOND: u64 = 1_000 * MS;
/// From an answer to the next request.
const TURN_NS: u64 = 30_000;

/// A request as the server sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Counted from 0, over all connections.
    pub nth: u64,
    /// Its connection.
    pub user: u64,
    /// When it arrives.
    pub at: u64,
}

/// A server: sees requests in the order in which they arrive, and says when it answers each.
pub(super) trait Server {
    /// When the head and the whole answer arrive; `None` if never.
    fn serve(&mut self, request: Request) -> Option<(u64, u64)>;
}

impl<F: FnMut(Request) -> u64> Server for F {
    /// Head and body together.
    fn serve(&mut self, request: Request) -> Option<(u64, u64)> {
        let done = self(request);
        Some((done, done))
    }
}

/// A server of known truth: how to start one, and the CPU time of a request.
pub(super) struct Truth {
    pub start: Box<dyn Fn() -> Box<dyn Server>>,
    pub cpu_ns: u64,
    /// Time between an answer and the next request of a user.
    pub think_ns: u64,
}

/// What happened to one request.
struct Done {
    user: u64,
    due: u64,
    sent: u64,
    /// Head and end of the answer.
    answer: Option<(u64, u64)>,
}

impl Truth {
    /// 10 us of CPU time for each request.
    pub fn new(start: impl Fn() -> Box<dyn Server> + 'static) -> Self {
        Self { start: Box::new(start), cpu_ns: 10_000, think_ns: 0 }
    }

    /// Ten seconds of a closed loop.
    pub fn closed(&self, users: u64) -> TrialRecord {
        self.closed_for(users, 10)
    }

    pub fn closed_for(&self, users: u64, seconds: u64) -> TrialRecord {
        let trial = ExampleTrial::hello().connections(users).seconds(seconds);
        self.run_closed(users, trial.target_cores(0.1, 1).build())
    }

    /// A closed load of this many requests.
    pub fn counted(&self, users: u64, requests: u64) -> TrialRecord {
        let trial = ExampleTrial::hello().connections(users).counted(requests);
        self.run_closed(users, trial.target_cores(0.1, 1).build())
    }

    pub fn sweep(&self, steps: &[u32]) -> Vec<TrialRecord> {
        let step = |count: &u32| {
            let trial = ExampleTrial::hello().sweep_point(*count, steps).seconds(10);
            self.run_closed((*count).into(), trial.target_cores(0.1, 1).build())
        };
        steps.iter().map(step).collect()
    }

    /// An open loop at a constant rate over at most so many connections.
    pub fn open(&self, per_s: f64, users: u64, seconds: u64) -> TrialRecord {
        let trial = ExampleTrial::open(per_s).connections(users).seconds(seconds);
        let record = trial.target_cores(0.1, 1).build();
        let mut server = (self.start)();
        let (end, gap_ns) = (seconds * SECOND, 1e9 / per_s);
        let mut free = vec![0_u64; users as usize];
        let mut all = Vec::new();
        for nth in 0.. {
            let due = (nth as f64 * gap_ns) as u64;
            if due >= end {
                break;
            }
            // In turn, as long as one is free.
            let turn = nth as usize % free.len();
            let first = (0..free.len()).map(|i| (turn + i) % free.len()).find(|i| free[*i] <= due);
            let user =
                first.or_else(|| (0..free.len()).min_by_key(|i| free[*i])).unwrap_or_default();
            let sent = due.max(free[user]);
            let answer = (sent < end)
                .then(|| server.serve(Request { nth, user: user as u64, at: sent }))
                .flatten();
            free[user] = answer.map_or(u64::MAX, |(_, done)| done);
            all.push(Done { user: user as u64, due, sent, answer });
        }
        self.recorded(record, all, users, end)
    }

    fn run_closed(&self, users: u64, record: TrialRecord) -> TrialRecord {
        let counted = record.spec.profile.stop.requests;
        let length = record.load.as_ref().unwrap().measured.duration_ns;
        let mut end = if counted.is_some() { u64::MAX } else { length };
        let mut server = (self.start)();
        let mut sends: BinaryHeap<Reverse<(u64, u64)>> =
            (0..users).map(|user| Reverse((user * 1_000, user))).collect();
        let mut all = Vec::new();
        let mut nth = 0;
        while let Some(Reverse((sent, user))) = sends.pop() {
            if sent >= end || counted.is_some_and(|most| nth >= most) {
                break;
            }
            let answer = server.serve(Request { nth, user, at: sent });
            if let Some((_, done)) = answer {
                sends.push(Reverse((done + TURN_NS + self.think_ns, user)));
            }
            all.push(Done { user, due: sent, sent, answer });
            nth += 1;
        }
        if counted.is_some() {
            end = all.iter().filter_map(|done| Some(done.answer?.1)).max().unwrap_or(0) + 1;
        }
        self.recorded(record, all, users, end)
    }

    /// Puts what happened until `end` into the record.
    fn recorded(
        &self,
        mut record: TrialRecord,
        all: Vec<Done>,
        users: u64,
        end: u64,
    ) -> TrialRecord {
        let load = record.load.as_mut().unwrap();
        let mut measured = Measured { duration_ns: end, ..Measured::default() };
        measured.connections = load.measured.connections;
        let count = end.div_ceil(SECOND) as usize;
        let mut windows: Vec<(Window, Histogram, Arrivals)> = (0..count as u64)
            .map(|i| {
                let duration_ns = SECOND.min(end - i * SECOND);
                let from_ns = (i * SECOND) as i64;
                let live_connections = users;
                let window = Window { from_ns, duration_ns, live_connections, ..Window::default() };
                (window, Histogram::new(), Arrivals::default())
            })
            .collect();
        let mut by_user = vec![(0_u64, 0_u64, false); users as usize];
        let mut requests = RequestCounts { scheduled: all.len() as u64, ..Default::default() };
        for Done { user, due, sent, answer } in all {
            let own = &mut by_user[user as usize];
            if sent >= end {
                requests.unsent += 1;
                continue;
            }
            requests.sent += 1;
            // A generator that is never late.
            measured.spans.own_lag.record(0);
            let Some((head, done)) = answer.filter(|(_, done)| *done < end) else {
                requests.censored += 1;
                own.2 = true;
                measured.spans.open_age.record(end - due);
                continue;
            };
            requests.completed += 1;
            (own.0, own.1) = (own.0 + 1, own.1 + done - sent);
            let spans = &mut measured.spans;
            spans.service_time.record(done - sent);
            spans.response_time.record(done - due);
            spans.headers.record(head - sent);
            spans.body.record(done - head);
            let (window, times, arrivals) = &mut windows[(done / SECOND) as usize];
            (window.completed, window.good) = (window.completed + 1, window.good + 1);
            times.record(done - due);
            arrivals.note(done % SECOND);
        }
        let mut by_connection = ByConnection::default();
        for (answers, service_ns, hangs) in by_user {
            by_connection.add(answers, service_ns, answers);
            by_connection.without_answer += u64::from(answers == 0 && hangs);
        }
        let completed = requests.completed;
        requests.good = completed;
        measured.bytes.body = completed * 12;
        measured.answered = Answered { completed, good: completed };
        (measured.requests, measured.by_connection) = (requests, by_connection);
        let cores = completed as f64 * self.cpu_ns as f64 / end as f64;
        let usage = record.usage.as_mut().unwrap();
        usage.duration_ns = end;
        usage.roles.get_mut(&Role::Target).unwrap().cores = Some(cores);
        usage.busy_by_cpu.insert(0, cores.min(1.0));
        load.windows = windows
            .into_iter()
            .map(|(mut window, times, arrivals)| {
                window.read(&times, &Histogram::new());
                window.silences = arrivals.silences(window.duration_ns);
                window
            })
            .collect();
        load.measured = measured;
        record.single = self.single();
        record
    }

    /// The median of requests that are alone.
    fn single(&self) -> Option<Single> {
        let mut server = (self.start)();
        let (mut now, mut times) = (0, Vec::new());
        for nth in 0..20 {
            let (_, done) = server.serve(Request { nth, user: 0, at: now })?;
            times.push(done - now + TURN_NS);
            now = done + TURN_NS;
        }
        times.sort_unstable();
        Some(Single { requests: 20, median_ns: times[10], longest_ns: times[19] })
    }
}
