//! A thread that samples at a steady pace.
use pippin_model::host::usage::UsageSample;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::error::ProbeError;
use crate::sample::{Roots, TreeMemory, sample};

/// What the thread shares with its owner.
#[derive(Debug, Default)]
struct Shared {
    latest: Mutex<Option<UsageSample>>,
    cpu_ns: AtomicU64,
}

/// A thread that samples at a steady pace until it is stopped or dropped.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    /// Receives additional instants to sample at. Dropping it is the signal to stop.
    running: Option<Sender<u64>>,
    thread: Option<JoinHandle<(Vec<UsageSample>, TreeMemory)>>,
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
            Ok(()) => run(&roots, memory, every, &of_thread, &stopped, &ready),
            Err(error) => {
                // The owner waits for this answer. If the owner is gone, the answer does not
                // matter.
                let _ = ready.send(Err(error));
                (Vec::new(), memory)
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
        self.pause().0
    }

    /// Stops, and returns the samples and the memory for [`Self::resume`].
    #[must_use]
    pub fn pause(mut self) -> (Vec<UsageSample>, TreeMemory) {
        self.finish()
    }

    fn finish(&mut self) -> (Vec<UsageSample>, TreeMemory) {
        self.running = None;
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.finish();
    }
}

fn run(
    roots: &Roots,
    mut memory: TreeMemory,
    every: Duration,
    shared: &Shared,
    asked: &Receiver<u64>,
    ready: &SyncSender<Result<(), ProbeError>>,
) -> (Vec<UsageSample>, TreeMemory) {
    let mut samples = Vec::new();
    let mut instants: Vec<u64> = Vec::new();
    let mut due = Instant::now();
    memory.ask_for_details();
    loop {
        take(roots, &mut memory, shared, &mut samples);
        if samples.len() == 1 {
            // As above: if the owner is gone, the answer does not matter.
            let _ = ready.send(Ok(()));
        }
        // After a delay, the missed samples are skipped, not made up for.
        while due <= Instant::now() {
            due += every.max(Duration::from_millis(1));
        }
        if !wait(due, &mut instants, asked) {
            break;
        }
    }
    memory.ask_for_details();
    take(roots, &mut memory, shared, &mut samples);
    (samples, memory)
}

/// Waits until a sample is due, by the pace or by request; `false` if it is time to stop.
fn wait(due: Instant, instants: &mut Vec<u64>, asked: &Receiver<u64>) -> bool {
    loop {
        let now_ns = monotonic_ns();
        let mut left = due.saturating_duration_since(Instant::now());
        if let Some(next) = instants.iter().min() {
            left = left.min(Duration::from_nanos(next.saturating_sub(now_ns)));
        }
        match asked.recv_timeout(left) {
            Ok(instant_ns) => instants.push(instant_ns),
            Err(RecvTimeoutError::Timeout) => {
                let now_ns = monotonic_ns();
                instants.retain(|instant| *instant > now_ns);
                return true;
            }
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

fn take(roots: &Roots, memory: &mut TreeMemory, shared: &Shared, samples: &mut Vec<UsageSample>) {
    let now = sample(roots, memory);
    *shared.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(now.clone());
    samples.push(now);
    shared.cpu_ns.store(thread_cpu_ns().unwrap_or_default(), Ordering::Relaxed);
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
