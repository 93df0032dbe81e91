//! Users who ask a target while it is ended: what each of their requests comes to.
use pippin_model::run::life::StopUnderLoad;
use pippin_model::workload::{Answer as Expected, Sample};
use pippin_reference::monotonic_ns;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::way::Way;
use super::{Ended, Ending, GRACE, RunningTarget};
use crate::trial::unix_now_ns;
use crate::verify::answer;
use crate::verify::http::{Answer, Client, Request};

/// How many there are.
const USERS: u32 = 16;
/// How long one waits for an answer: longer than a target may take to stop.
const PATIENCE: Duration = Duration::from_secs(GRACE.as_secs() + 5);
/// How long one waits before it connects again.
const MOMENT: Duration = Duration::from_millis(2);

/// What the users ask for, and what is right.
#[derive(Debug, Clone)]
pub struct Asking<'a> {
    /// Requests and their samples, in turn.
    pub requests: Vec<(Request, &'a Sample)>,
    /// The workload's answer; `None` accepts every status below 400.
    pub expected: Option<&'a Expected>,
}

impl Asking<'_> {
    fn is_right(&self, sample: &Sample, answer: &Answer) -> bool {
        match self.expected {
            Some(expected) => answer::differs(expected, sample, answer).is_none(),
            None => answer.status < 400,
        }
    }
}

/// Ends a target after users have asked it for this long.
#[must_use]
pub fn end_under_load(
    target: RunningTarget,
    asking: &Asking<'_>,
    after: Duration,
    how: Ending,
) -> StopUnderLoad {
    let way = target.way().clone();
    let crowd = Crowd { way, asking, signal_ns: AtomicU64::new(0), is_over: AtomicBool::default() };
    let (tally, ended, signal_unix_ns) = thread::scope(|scope| {
        let crowd = &crowd;
        let users: Vec<_> =
            (0..USERS as usize).map(|first| scope.spawn(move || crowd.user(first))).collect();
        thread::sleep(after);
        let signal_unix_ns = unix_now_ns();
        crowd.signal_ns.store(monotonic_ns(), Ordering::SeqCst);
        let ended = target.end(how);
        crowd.is_over.store(true, Ordering::SeqCst);
        let tallies = users.into_iter().filter_map(|user| user.join().ok());
        (tallies.fold(Tally::default(), Tally::with), ended, signal_unix_ns)
    });
    told(&tally, ended, signal_unix_ns)
}

fn told(tally: &Tally, ended: Ended, signal_unix_ns: u64) -> StopUnderLoad {
    StopUnderLoad {
        users: USERS,
        answered: tally.answered,
        cut: tally.cut,
        wrong: tally.wrong,
        longest_ns: tally.longest_ns,
        refuses_after_ns: tally.refused_after_ns,
        gone_after_ns: ended.at_unix_ns.map(|at| at.saturating_sub(signal_unix_ns)),
        forced: ended.forced,
        exit: ended.exit,
    }
}

/// What happened to the requests of users after the signal.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    answered: u64,
    cut: u64,
    wrong: u64,
    longest_ns: Option<u64>,
    refused_after_ns: Option<u64>,
}

impl Tally {
    /// Both together.
    fn with(self, other: Self) -> Self {
        let first = [self.refused_after_ns, other.refused_after_ns].into_iter().flatten().min();
        Self {
            answered: self.answered + other.answered,
            cut: self.cut + other.cut,
            wrong: self.wrong + other.wrong,
            longest_ns: self.longest_ns.max(other.longest_ns),
            refused_after_ns: first,
        }
    }
}

/// All users together.
struct Crowd<'a> {
    way: Way,
    asking: &'a Asking<'a>,
    /// When the end was asked for (CLOCK_MONOTONIC, nanoseconds); 0 before.
    signal_ns: AtomicU64,
    /// Set when the target is gone.
    is_over: AtomicBool,
}

impl Crowd<'_> {
    /// One user: asks until the target is gone. The user begins with this request.
    fn user(&self, first: usize) -> Tally {
        let mut tally = Tally::default();
        let mut next = first;
        while !self.is_over.load(Ordering::SeqCst) {
            match Client::connect(&self.way, PATIENCE) {
                Ok(client) => self.connected(client, &mut next, &mut tally),
                Err(_) => {
                    if let Some(since_ns) = self.since_signal_ns() {
                        tally.refused_after_ns.get_or_insert(since_ns);
                    }
                    thread::sleep(MOMENT);
                }
            }
        }
        tally
    }

    /// Asks on one connection until it ends.
    fn connected(&self, mut client: Client, next: &mut usize, tally: &mut Tally) {
        let requests = &self.asking.requests;
        while !self.is_over.load(Ordering::SeqCst) && !is_closed(client.descriptor()) {
            let (request, sample) = &requests[*next % requests.len()];
            *next += 1;
            // What could not be sent was not asked for.
            let sent_ns = monotonic_ns();
            if client.send(request).is_err() {
                return;
            }
            let answer = client.answer(request);
            if self.since_signal_ns().is_some() {
                self.count(sample, answer.as_ref().ok(), sent_ns, tally);
            }
            if answer.map_or(true, |answer| answer.closes) {
                return;
            }
        }
    }

    fn count(&self, sample: &Sample, answer: Option<&Answer>, sent_ns: u64, tally: &mut Tally) {
        match answer {
            Some(answer) if self.asking.is_right(sample, answer) => {
                tally.answered += 1;
                tally.longest_ns = tally.longest_ns.max(Some(monotonic_ns() - sent_ns));
            }
            Some(_) => tally.wrong += 1,
            None => tally.cut += 1,
        }
    }

    fn since_signal_ns(&self) -> Option<u64> {
        let signal_ns = self.signal_ns.load(Ordering::SeqCst);
        (signal_ns > 0).then(|| monotonic_ns().saturating_sub(signal_ns))
    }
}

/// Whether the peer has closed a connection, as far as that has arrived (recv(2), MSG_PEEK): a user
/// who knows it asks elsewhere.
fn is_closed(descriptor: RawFd) -> bool {
    let mut byte = 0_u8;
    let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
    // SAFETY: one live byte; the descriptor belongs to a client that lives.
    unsafe { libc::recv(descriptor, (&raw mut byte).cast(), 1, flags) == 0 }
}
