//! A thread that samples at a steady pace.
use pippin_model::usage::UsageSample;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::clock::thread_cpu_ns;
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
    /// Dropping it is the signal to stop.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<Vec<UsageSample>>>,
}

impl Sampler {
    /// Starts sampling. Returns after the first sample, so everything after this call is covered.
    /// `cpu` is the one processor that the thread may use; without it, it inherits those of the
    /// calling thread.
    ///
    /// # Errors
    /// If the thread cannot be started or cannot be bound to that processor.
    pub fn start(roots: Roots, every: Duration, cpu: Option<u32>) -> Result<Self, ProbeError> {
        let shared = Arc::new(Shared::default());
        let (running, stopped) = channel();
        let (ready, begun) = sync_channel(1);
        let of_thread = Arc::clone(&shared);
        let work = move || match cpu.map_or(Ok(()), pin) {
            Ok(()) => run(&roots, every, &of_thread, &stopped, &ready),
            Err(error) => {
                // The owner waits for this answer. If the owner is gone, the answer does not
                // matter.
                let _ = ready.send(Err(error));
                Vec::new()
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

    /// Takes a last sample and returns all, in order of time.
    #[must_use]
    pub fn stop(mut self) -> Vec<UsageSample> {
        self.finish()
    }

    fn finish(&mut self) -> Vec<UsageSample> {
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
    every: Duration,
    shared: &Shared,
    stopped: &Receiver<()>,
    ready: &SyncSender<Result<(), ProbeError>>,
) -> Vec<UsageSample> {
    let mut memory = TreeMemory::default();
    let mut samples = Vec::new();
    let mut due = Instant::now();
    loop {
        take(roots, &mut memory, shared, &mut samples);
        if samples.len() == 1 {
            // As above: if the owner were gone, the channel `stopped` would tell.
            let _ = ready.send(Ok(()));
        }
        // After a delay, the missed samples are skipped, not made up for.
        while due <= Instant::now() {
            due += every.max(Duration::from_millis(1));
        }
        match stopped.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    memory.ask_for_details();
    take(roots, &mut memory, shared, &mut samples);
    samples
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
