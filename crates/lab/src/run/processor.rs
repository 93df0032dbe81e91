//! The processor's counter of instructions, which `perf stat` reads (perf_event_open(2)).
//!
//! It counts programs that callgrind cannot run, while they run as always. Most virtual machines have none.
use std::fs;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;

use super::perf::Running;

/// In user space, which `kernel.perf_event_paranoid` allows up to 2.
const INSTRUCTIONS: &str = "instructions:u";

/// A counter that `perf` can read here.
#[derive(Debug, Clone)]
pub struct ProcessorCounter {
    event: &'static str,
}

impl ProcessorCounter {
    /// Looks whether the counter of instructions can be read.
    ///
    /// # Errors
    /// Why it cannot, in words.
    pub fn find() -> Result<Self, String> {
        Self::of(INSTRUCTIONS)
    }

    fn of(event: &'static str) -> Result<Self, String> {
        let output = Command::new("perf")
            .args(["stat", "-x,", "-e", event, "--", "true"])
            .stdin(Stdio::null())
            .output()
            .map_err(|_| "perf is not installed".to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return value(&said, event).map(|_| Self { event });
        }
        let line = said.lines().map(str::trim).find(|line| !line.is_empty());
        Err(format!("perf says: {}", line.unwrap_or("nothing")))
    }

    /// Begins to count what these processes do, and those that they start.
    ///
    /// # Errors
    /// Why it cannot, in words.
    pub(super) fn begin(&self, processes: &[i32]) -> Result<Counting, String> {
        let file = NamedTempFile::new().map_err(|error| error.to_string())?;
        let words = ["stat", "-x,", "-e", self.event, "-o"].map(std::ffi::OsStr::new);
        let words = words.into_iter().chain([file.path().as_os_str()]);
        let perf = Running::start(words, processes).map_err(|error| error.to_string())?;
        Ok(Counting { perf, file, event: self.event })
    }
}

/// A count that goes on.
#[derive(Debug)]
pub(super) struct Counting {
    perf: Running,
    /// What `perf` writes at its end.
    file: NamedTempFile,
    event: &'static str,
}

impl Counting {
    /// Ends it.
    ///
    /// # Errors
    /// Why nothing is known of it, in words.
    pub(super) fn end(self) -> Result<u64, String> {
        self.perf.finish()?;
        let text = fs::read_to_string(self.file.path()).map_err(|error| error.to_string())?;
        value(&text, self.event)
    }
}

/// What `perf stat -x,` says of an event: its value, the unit, its name, for how long it was counted, and
/// for how much of that time in percent (perf-stat(1), "CSV FORMAT").
fn value(text: &str, event: &str) -> Result<u64, String> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let Some(fields) = lines.find(|fields| fields.get(2) == Some(&event)) else {
        return Err(format!("perf says nothing of {event}"));
    };
    let number = |place: usize| fields.get(place)?.trim().parse::<f64>().ok();
    let count = number(0).ok_or_else(|| format!("this processor shows no {event}"))?;
    match number(4) {
        Some(share) if share >= 100.0 => Ok(count.round() as u64),
        // With more events than counters, perf counts for a part of the time and multiplies.
        _ => Err("others used the counter too, so that it did not count all the time".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_probe::kernel_files::KernelFiles;
    use std::io::{BufRead as _, BufReader, Write as _};

    #[test]
    fn only_what_was_counted_all_the_time_is_a_count() {
        let says = |text: &str| value(text, INSTRUCTIONS);
        let counted = "# started on Sun\n\n1234567,,instructions:u,5000,100.00,,\n";
        assert_eq!(says(counted), Ok(1_234_567));
        for (text, why) in [
            ("", "nothing"),
            ("7,,cycles:u,5000,100.00,,", "nothing"),
            // A processor with cores of two kinds.
            ("7,,cpu_core/instructions/u,5000,50.00,,", "nothing"),
            ("<not supported>,,instructions:u,0,100.00,,", "no instructions:u"),
            ("<not counted>,,instructions:u,0,0.00,,", "no instructions:u"),
            ("1234567,,instructions:u,5000,62.50,,", "others"),
            ("1234567,,instructions:u", "others"),
        ] {
            assert!(says(text).unwrap_err().contains(why), "{text}");
        }
    }

    /// Faults of pages are an event that virtual machines have too, and the kernel keeps an account of them
    /// for each process: fields `minflt` and `cminflt` of `/proc/PID/stat` (proc_pid_stat(5)).
    #[test]
    fn a_count_is_what_the_kernel_says_of_the_process_and_its_children() {
        let faults = match ProcessorCounter::of("minor-faults") {
            Ok(faults) => faults,
            Err(why) => return pippin_testing::skipped::skip("counts by perf", &why),
        };
        // Says when it begins, takes memory in a child and by itself, and waits.
        let takes = "x=0123456789abcdef; i=0; while [ $i -lt 16 ]; do x=$x$x; i=$((i+1)); done";
        let works = format!("echo ready; read y; ({takes}); {takes}; echo done; read y");
        let mut shell = Command::new("sh")
            .args(["-c", &works])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = shell.id() as i32;
        let mut input = shell.stdin.take().unwrap();
        let mut output = BufReader::new(shell.stdout.take().unwrap());
        let mut waits_for = |word: &str| {
            let mut said = String::new();
            output.read_line(&mut said).unwrap();
            assert_eq!(said.trim_end(), word);
        };
        waits_for("ready");
        let account = || {
            let stat = KernelFiles::default().text(&format!("proc/{pid}/stat")).unwrap();
            // Behind the name: minflt and cminflt are the 8th and the 9th field from the state.
            let fields: Vec<u64> = stat
                .rsplit_once(')')
                .unwrap()
                .1
                .split_whitespace()
                .skip(7)
                .take(2)
                .map(|field| field.parse().unwrap())
                .collect();
            fields.iter().sum::<u64>()
        };
        let counting = faults.begin(&[pid]).unwrap();
        let before = account();
        writeln!(input).unwrap();
        waits_for("done");
        let counted = counting.end().unwrap();
        let of_kernel = account() - before;
        drop(input);
        shell.wait().unwrap();
        assert!(of_kernel > 500, "{of_kernel} faults: the shell took no memory");
        assert_eq!(counted, of_kernel);
    }
}
