//! A thread that samples at a steady pace.
use pippin_model::host::usage::{Passing, Role, Runtime, UsageSample};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::acceptors::LeftOut;
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::error::ProbeError;
use crate::sample::{Roots, TreeMemory, add, sample};
use crate::succession::{Ended, Succession};

/// How often it is looked whether a server that is watched still lives.
const LIFE_EVERY: Duration = Duration::from_millis(100);
/// How long a server gets no requests before its load, so that the processes that work with it can
/// be seen at rest.
const REST: Duration = Duration::from_millis(250);

/// What the thread shares with its owner.
#[derive(Debug, Default)]
struct Shared {
    latest: Mutex<Option<UsageSample>>,
    cpu_ns: AtomicU64,
    is_over: AtomicBool,
}

/// What a sampler has seen.
#[derive(Debug, Default)]
pub struct Sampled {
    /// All samples, in order of time.
    pub samples: Vec<UsageSample>,
    /// For [`Sampler::resume`].
    pub memory: TreeMemory,
    /// First processes of a watched server that ended.
    pub ended: Vec<Ended>,
    /// Processes of its tree that work and do not serve: their CPU time is not the target's.
    pub left_out: Vec<LeftOut>,
    /// Processes that got connections too short to see who opened them, if tiers are looked for.
    pub passing: Vec<Passing>,
    /// The language runtimes of the target's processes at the end, each once.
    pub runtimes: Vec<Runtime>,
    /// Whether nobody served any more.
    pub is_over: bool,
}

/// A thread that samples at a steady pace until it is stopped or dropped.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    /// Receives additional instants to sample at. Dropping it is the signal to stop.
    running: Option<Sender<u64>>,
    thread: Option<JoinHandle<Sampled>>,
}

impl Sampler {
    /// Starts sampling. Returns after the first sample, so everything after this call is covered.
    /// `cpu` is the one processor that the thread may use; without it, it inherits those of the
    /// calling thread.
    ///
    /// # Errors
    /// If the thread cannot be started or cannot be bound to that processor.
    pub fn start(roots: Roots, every: Duration, cpu: Option<u32>) -> Result<Self, ProbeError> {
        Self::resume(roots, TreeMemory::default(), every, cpu)
    }

    /// Starts a sampler with the memory of an earlier sampler of these roots, so that its counters
    /// continue and nothing is read twice.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn resume(
        roots: Roots,
        memory: TreeMemory,
        every: Duration,
        cpu: Option<u32>,
    ) -> Result<Self, ProbeError> {
        let shared = Arc::new(Shared::default());
        let (running, stopped) = channel();
        let (ready, begun) = sync_channel(1);
        let of_thread = Arc::clone(&shared);
        let work = move || match cpu.map_or(Ok(()), pin) {
            Ok(()) => Run { roots, memory, every, shared: &of_thread }.all(&stopped, &ready),
            Err(error) => {
                // The owner waits for this answer. If the owner is gone, the answer does not
                // matter.
                let _ = ready.send(Err(error));
                Sampled { memory, ..Sampled::default() }
            }
        };
        let thread = std::thread::Builder::new()
            .name("sampler".into())
            .spawn(work)
            .map_err(ProbeError::Thread)?;
        begun.recv().unwrap_or_else(|_| {
            Err(ProbeError::Thread(std::io::Error::other("it ended at once")))
        })?;
        Ok(Self { shared, running: Some(running), thread: Some(thread) })
    }

    /// The last sample, for live views.
    #[must_use]
    pub fn latest(&self) -> Option<UsageSample> {
        self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether all processes of a watched server have ended and nobody serves any more.
    #[must_use]
    pub fn is_over(&self) -> &AtomicBool {
        &self.shared.is_over
    }

    /// CPU time that the sampling thread itself has used, in nanoseconds, up to the last sample.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.shared.cpu_ns.load(Ordering::Relaxed)
    }

    /// Samples at this instant too (CLOCK_MONOTONIC, nanoseconds), or at once if it has passed.
    pub fn also_at(&self, instant_ns: u64) {
        if let Some(running) = &self.running {
            // A thread that has ended takes no more samples.
            let _ = running.send(instant_ns);
        }
    }

    /// Takes a last sample and returns all, in order of time.
    #[must_use]
    pub fn stop(self) -> Vec<UsageSample> {
        self.pause().samples
    }

    /// Takes a last sample and returns everything that was seen.
    #[must_use]
    pub fn pause(mut self) -> Sampled {
        self.finish()
    }

    fn finish(&mut self) -> Sampled {
        self.running = None;
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.finish();
    }
}

struct Run<'a> {
    roots: Roots,
    memory: TreeMemory,
    every: Duration,
    shared: &'a Shared,
}

/// Why a wait ended.
enum Wake {
    /// A sample is due by the pace.
    Sample,
    /// A sample was requested for this instant.
    Instant,
    /// It is time to look whether the server lives.
    Life,
    /// It is time to stop.
    Stop,
}

impl Run<'_> {
    fn all(mut self, asked: &Receiver<u64>, ready: &SyncSender<Result<(), ProbeError>>) -> Sampled {
        let mut samples = Vec::new();
        let mut instants: Vec<u64> = Vec::new();
        let mut succession = Succession::default();
        let (mut is_watched, mut follows) = (false, false);
        if let Some(serving) = &self.roots.serving {
            succession = Succession::from_servers(&serving.servers);
            (is_watched, follows) = (true, serving.follows);
            self.memory.not_seen_for(0);
        }
        if follows {
            self.memory.look_at_rest(&self.roots, REST);
        }
        let mut due = Instant::now();
        let mut wake = Wake::Instant;
        loop {
            if is_watched {
                let is_sample = !matches!(wake, Wake::Life);
                succession.look(&mut self.roots, &mut self.memory, is_sample);
                self.memory.not_seen_for(succession.unseen_ns());
                self.shared.is_over.store(succession.is_over(), Ordering::Relaxed);
            }
            match wake {
                Wake::Stop => break,
                Wake::Life => {}
                Wake::Sample | Wake::Instant => {
                    // At the requested instants, the begin and the end of measuring, all processes
                    // are read: a tier may be found later.
                    if samples.is_empty() || (follows && matches!(wake, Wake::Instant)) {
                        self.memory.ask_for_details();
                    }
                    self.take(&mut samples);
                }
            }
            if samples.len() == 1 {
                // As above: if the owner is gone, the answer does not matter.
                let _ = ready.try_send(Ok(()));
            }
            // After a delay, the missed samples are skipped, not made up for.
            while due <= Instant::now() {
                due += self.every.max(Duration::from_millis(1));
            }
            wake = wait(due, is_watched, &mut instants, asked);
        }
        self.memory.ask_for_details();
        self.take(&mut samples);
        let left_out = self.memory.left_out();
        let passing = if follows { self.memory.passing(&self.roots) } else { Vec::new() };
        samples.iter_mut().for_each(|sample| without(sample, &left_out));
        let (ended, is_over) = (succession.ended().to_vec(), succession.is_over());
        let runtimes = self.memory.runtimes();
        Sampled { samples, memory: self.memory, ended, left_out, passing, runtimes, is_over }
    }

    fn take(&mut self, samples: &mut Vec<UsageSample>) {
        let now = sample(&self.roots, &mut self.memory);
        *self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(now.clone());
        samples.push(now);
        for earlier in self.memory.take_earlier() {
            let found = samples.iter_mut().find(|sample| sample.at_ns == earlier.at_ns);
            let Some(sample) = found else { continue };
            add(sample.tiers.entry(earlier.name).or_default(), earlier.sample);
            let outsiders = &mut sample.host.outsiders_ns;
            *outsiders = outsiders.map(|ns| ns.saturating_sub(earlier.outsiders_ns));
        }
        self.shared.cpu_ns.store(thread_cpu_ns().unwrap_or_default(), Ordering::Relaxed);
    }
}

/// Takes from a sample what processes used that do not serve.
fn without(sample: &mut UsageSample, left_out: &[LeftOut]) {
    for one in left_out {
        let used_ns = one.used_ns(sample.at_ns);
        if let Some(target) = sample.roles.get_mut(&Role::Target) {
            target.cpu_ns = target.cpu_ns.saturating_sub(used_ns);
            target.workers_ns.remove(&one.pid);
        }
        sample.host.outsiders_ns = sample.host.outsiders_ns.map(|ns| ns + used_ns);
    }
}

/// Waits until a sample is due, by the pace or by request, or until it is time to look whether a
/// server that is watched lives.
fn wait(due: Instant, is_watched: bool, instants: &mut Vec<u64>, asked: &Receiver<u64>) -> Wake {
    let life = Instant::now() + LIFE_EVERY;
    loop {
        let now_ns = monotonic_ns();
        let mut left = due.saturating_duration_since(Instant::now());
        if is_watched {
            left = left.min(life.saturating_duration_since(Instant::now()));
        }
        if let Some(next) = instants.iter().min() {
            left = left.min(Duration::from_nanos(next.saturating_sub(now_ns)));
        }
        match asked.recv_timeout(left) {
            Ok(instant_ns) => instants.push(instant_ns),
            Err(RecvTimeoutError::Timeout) => {
                let now_ns = monotonic_ns();
                let before = instants.len();
                instants.retain(|instant| *instant > now_ns);
                return match (instants.len() < before, due <= Instant::now()) {
                    (true, _) => Wake::Instant,
                    (false, true) => Wake::Sample,
                    (false, false) if is_watched => Wake::Life,
                    // Timers may end a little early.
                    (false, false) => continue,
                };
            }
            Err(RecvTimeoutError::Disconnected) => return Wake::Stop,
        }
    }
}

fn pin(cpu: u32) -> Result<(), ProbeError> {
    let error = |source| ProbeError::Pin { cpu, source };
    if cpu >= libc::CPU_SETSIZE.unsigned_abs() {
        return Err(error(std::io::Error::from_raw_os_error(libc::EINVAL)));
    }
    // SAFETY: an all-zero set is the empty set, and `cpu` is below its size.
    let failed = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu as usize, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if failed == 0 { Ok(()) } else { Err(error(std::io::Error::last_os_error())) }
}
