//! Power loss at random instants. The files of a store are copied while another process writes, and
//! the copy is opened. The writer is stopped during the copy, so that the copy is a state that a
//! disk could hold.
//!
//! Everything that was acknowledged must be in every copy. If the last transaction of the journal
//! is torn, only that transaction is lost. The test starts itself as the writer.
#![allow(clippy::unwrap_used)] // helpers of tests are tests too
#![allow(clippy::print_stdout)] // how the two processes of the test speak
use pippin_model::example::run::hello;
use pippin_model::trial::TrialRecord;
use pippin_model::workload::draw::Draw;
use pippin_store::Store;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const INSTANTS: u64 = 40;
/// More trials than are written during the test.
const TRIALS: u64 = 100_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [word, path] if word == "write" => write(Path::new(path)),
        [first, ..] if first == "--list" => println!("power_loss_loses_nothing: test"),
        // As Rust's own harness does: a word that is no flag chooses tests by their names.
        [word, ..]
            if !word.starts_with("--") && !"power_loss_loses_nothing".contains(word.as_str()) => {}
        _ => {
            power_loss_loses_nothing();
            println!("test power_loss_loses_nothing ... ok");
        }
    }
    ExitCode::SUCCESS
}

/// Writes trials that contain their number, and prints each number once the trial is written.
fn write(path: &Path) {
    let like = hello();
    // The writer ends with the test, however that ends.
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let store = Store::open(path).unwrap();
    store.begin(&like.header).unwrap();
    // The measurement is long and does not matter here.
    let short = TrialRecord { load: None, samples: Vec::new(), ..like.trials[0].clone() };
    for number in 0..TRIALS {
        let mut trial = short.clone();
        trial.spec.seed = number;
        store.add_trial(&like.header.id, number, &trial).unwrap();
        println!("{number}");
    }
}

fn power_loss_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::start(&folder.path().join("pippin.db"));
    let mut draw = Draw::new(7);
    let (mut least, mut tears) = (0, 0);
    for nth in 0..INSTANTS {
        std::thread::sleep(Duration::from_micros(draw.below(40_000)));
        let copy = folder.path().join(format!("copy-{nth}"));
        let acknowledged = writer.stop_and_copy_to(&copy);
        let torn = folder.path().join(format!("torn-{nth}"));
        copy_files(&copy, &torn);
        let found = trials(&copy);
        assert!(found >= acknowledged, "{found} of {acknowledged} after {nth} copies");
        assert!(found >= least, "{found} after {least}");
        least = found;
        tears += u64::from(tear_the_journal(&torn, &mut draw));
        let left = trials(&torn);
        assert!(left <= found && found - left <= 1, "{left} of {found} in the torn copy");
        fs::remove_dir_all(copy).unwrap();
        fs::remove_dir_all(torn).unwrap();
        writer.go_on();
    }
    assert!(tears > 0, "no journal could be torn");
}

/// The number of trials in the store. Each must be complete and in order.
fn trials(folder: &Path) -> u64 {
    let store = Store::open(&folder.join("pippin.db")).unwrap();
    let runs = store.list().unwrap();
    let Some(run) = runs.first() else { return 0 };
    let record = store.load(&run.id).unwrap();
    for (number, trial) in (0..).zip(&record.trials) {
        assert_eq!(trial.spec.seed, number);
    }
    record.trials.len() as u64
}

/// Cuts the last transaction of the journal at a random place, and overwrites the bytes before the
/// cut. Returns whether that was possible. SQLite moves a journal of 1,000 pages into the database
/// only once all of it is on disk, so such a journal cannot be torn.
fn tear_the_journal(folder: &Path, draw: &mut Draw) -> bool {
    let path = folder.join("pippin.db-wal");
    let Ok(mut bytes) = fs::read(&path) else { return false };
    let Some((from, to)) = last_transaction(&bytes) else { return false };
    let end = from + draw.below((to - from) as u64) as usize;
    bytes.truncate(end);
    bytes[end.saturating_sub(100).max(from)..].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    true
}

/// The beginning and end of the last transaction of a journal (sqlite.org/fileformat2.html, "The
/// Write-Ahead Log").
fn last_transaction(journal: &[u8]) -> Option<(usize, usize)> {
    let number = |at: usize| Some(u32::from_be_bytes(*journal.get(at..at + 4)?.first_chunk()?));
    let salts = journal.get(16..24)?;
    let frame = 24 + number(8)? as usize;
    let frames = (0..).map(|nth| 32 + nth * frame);
    let valid: Vec<usize> =
        frames.take_while(|at| journal.get(at + 8..at + 16) == Some(salts)).collect();
    let ends: Vec<usize> = valid
        .iter()
        .filter(|at| number(**at + 4).is_some_and(|pages| pages > 0))
        .map(|at| at + frame)
        .collect();
    let [.., from, to] = ends.as_slice() else { return None };
    (valid.len() < 1_000).then_some((*from, *to))
}

/// The writer. Dropping this kills it.
struct Writer {
    child: Child,
    database: PathBuf,
    acknowledged: Arc<AtomicU64>,
}

impl Writer {
    fn start(database: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("write")
            .arg(database)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let acknowledged = Arc::new(AtomicU64::new(0));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let heard = Arc::clone(&acknowledged);
        std::thread::spawn(move || {
            for number in lines.map_while(Result::ok) {
                heard.store(number.parse::<u64>().unwrap() + 1, Ordering::SeqCst);
            }
        });
        while acknowledged.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        Self { child, database: database.into(), acknowledged }
    }

    /// Stops the writer and copies its files. Returns how many trials were acknowledged by then.
    fn stop_and_copy_to(&self, folder: &Path) -> u64 {
        let pid = self.child.id() as i32;
        // SAFETY: signals to our own child, which has not been waited for, and waiting for its
        // stop.
        unsafe {
            assert_eq!(libc::kill(pid, libc::SIGSTOP), 0);
            assert_eq!(libc::waitpid(pid, std::ptr::null_mut(), libc::WUNTRACED), pid);
        }
        let acknowledged = self.acknowledged.load(Ordering::SeqCst);
        copy_files(self.database.parent().unwrap(), folder);
        acknowledged
    }

    /// Lets the writer continue.
    fn go_on(&self) {
        // SAFETY: as above.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, libc::SIGCONT) }, 0);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Copies database and journal. The index of the journal lives in memory and is lost.
fn copy_files(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for name in ["pippin.db", "pippin.db-wal"] {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}
