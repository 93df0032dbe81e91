//! A program that never rests, on the processor of the generator.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A busy loop under way.
pub struct BusyLoop {
    processor: u32,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl BusyLoop {
    /// Begins to use the last processor that this process may use.
    pub fn start() -> Self {
        let processor = last_processor();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                bind_to(processor);
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        });
        Self { processor, stop, thread }
    }

    pub const fn processor(&self) -> u32 {
        self.processor
    }

    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

fn last_processor() -> u32 {
    // SAFETY: a set of zeros is valid, and the pointer and its length belong together.
    let allowed = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let result = libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
        set
    };
    let is_allowed = |cpu: &usize| {
        // SAFETY: the number is below the set's size.
        unsafe { libc::CPU_ISSET(*cpu, &allowed) }
    };
    (0..libc::CPU_SETSIZE as usize).filter(is_allowed).max().unwrap() as u32
}

fn bind_to(processor: u32) {
    // SAFETY: a set of zeros is valid, and the pointer and its length belong together.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor as usize, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set)
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}
