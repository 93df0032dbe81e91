//! The thread that draws and reads keys.
use pippin_lab::lifecycle::affinity;
use pippin_model::plan::cpus::{CpuSet, CpuSplit};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::io::{self, BufWriter, Stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::draw::draw;
use super::keys::{Key, Keyboard};
use super::look::Look;
use super::shared::Shared;
use super::state::State;
use super::terminal::{self, Entered};
use crate::signals;

/// How long the thread waits for a key before it checks for news.
const WAIT: Duration = Duration::from_millis(100);
/// How often it draws without news, because of the clock.
const TICK: Duration = Duration::from_secs(1);

/// The live view on the screen; dropping it restores the terminal.
pub struct Screen {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Opens the screen on the terminal and starts to draw.
    ///
    /// # Errors
    /// If the terminal cannot be used. It is then unchanged.
    pub fn open(shared: Arc<Shared>, look: Look) -> io::Result<Self> {
        let keyboard = Keyboard::new(terminal::keyboard()?);
        let entered = terminal::enter()?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(16 * 1024, io::stderr()));
        let terminal = Terminal::new(backend)?;
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("live view".into())
            .spawn(move || show(&of_thread, &is_over, terminal, keyboard, look, entered))?;
        Ok(Self { over, thread: Some(thread) })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // If the view panicked, it has already restored the terminal and printed the panic.
        drop(self.thread.take().map(JoinHandle::join));
        terminal::restore();
    }
}

type Drawn = Terminal<CrosstermBackend<BufWriter<Stderr>>>;

/// Draws until the end. `_entered` is dropped last, after all drawing.
fn show(
    shared: &Shared,
    is_over: &AtomicBool,
    mut terminal: Drawn,
    mut keyboard: Keyboard,
    look: Look,
    _entered: Entered,
) {
    yield_to_the_generator();
    let mut drawn: Option<Instant> = None;
    let mut seen = (0, None);
    let mut processors = CpuSet::default();
    while !is_over.load(Ordering::Acquire) && terminal::is_entered() {
        // Signals and the size of the terminal change without notice.
        let now = (signals::stops(), terminal::size());
        let news = shared.take_news() || now != seen;
        if news || drawn.is_none_or(|drawn| drawn.elapsed() >= TICK) {
            seen = now;
            let mut state = shared.lock();
            state.stops = seen.0;
            if let Some(current) = &state.current {
                stay_off_the_target(&current.spec.cpus, &mut processors);
            }
            if terminal.draw(|frame| draw(frame, &state, look, shared.now())).is_err() {
                // The terminal is gone.
                signals::nobody_reads();
                return;
            }
            drawn = Some(Instant::now());
        }
        for key in keyboard.wait(WAIT) {
            shared.update(|state, _| on_key(key, state));
        }
    }
}

fn on_key(key: Key, state: &mut State) {
    state.notice = None;
    match key {
        Key::Stop if state.help => state.help = false,
        Key::Stop => signals::request_stop(),
        Key::Help => state.help = !state.help,
        Key::Close => state.help = false,
        Key::Suspend => {
            state.notice =
                Some("not suspended, because that would spoil the measurement; q stops it".into())
        }
        Key::Skip => {
            state.notice = Some(match state.skip() {
                Some(target) => format!("{target} is skipped: it is not measured any more"),
                None => "there is nothing to skip".into(),
            });
        }
        Key::Other => {}
    }
}

/// Keeps this thread off the target's processors, so that the view costs the target nothing. `now`
/// are the processors that the thread has.
fn stay_off_the_target(split: &CpuSplit, now: &mut CpuSet) {
    let wanted = if split.services.is_empty() { &split.generator } else { &split.services };
    if !wanted.is_empty() && wanted != now {
        // If the kernel refuses, the thread stays where it is.
        let _ = affinity::bind_current(&affinity::kernel_set(wanted));
        now.clone_from(wanted);
    }
}

/// Lowers this thread's priority: sending requests in time is more urgent than drawing.
fn yield_to_the_generator() {
    // SAFETY: setpriority(2) on Linux takes a thread's id and changes only that thread. If it
    // fails, the default stays.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, 10);
    }
}
