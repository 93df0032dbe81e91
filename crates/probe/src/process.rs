//! One process: `/proc/PID/stat`, `/proc/PID/status`, `/proc/PID/smaps_rollup`.
use crate::memory::{field, kilobytes};

/// The fields used from `/proc/PID/stat` (proc_pid_stat(5), field numbers in brackets).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// (1) The process.
    pub pid: i32,
    /// (2) The file name of the program, at most 15 bytes, without the brackets.
    pub name: String,
    /// (3) R running, S sleeping, D in I/O, Z zombie, T stopped, ...
    pub state: char,
    /// (4) The parent.
    pub parent: i32,
    /// (14) Own time in user mode, all threads living and dead, clock ticks.
    pub user_ticks: u64,
    /// (15) The same in kernel mode.
    pub system_ticks: u64,
    /// (16) User time of children that died and were waited for, and of theirs, clock ticks.
    pub waited_user_ticks: u64,
    /// (17) The same in kernel mode.
    pub waited_system_ticks: u64,
    /// (20) Threads.
    pub threads: u32,
    /// (22) When it started, clock ticks after boot; together with the pid, it identifies a process
    /// uniquely.
    pub start_ticks: u64,
    /// (24) Resident set in pages. The kernel keeps it in parts per processor, so it may be wrong
    /// by some dozens of pages.
    pub rss_pages: u64,
}

impl ProcessStat {
    /// Whether it is dead and only waits to be waited for. (A process whose first thread ended also
    /// shows `Z`, but has other threads.)
    #[must_use]
    pub const fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x') && self.threads <= 1
    }
}

/// Reads `/proc/PID/stat`. The name may hold blanks and brackets, so the fields after it are
/// counted from the last bracket.
#[must_use]
pub fn parse_process_stat(text: &str) -> Option<ProcessStat> {
    let (head, tail) = text.rsplit_once(')')?;
    let (pid, name) = head.split_once(" (")?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    // The first field after the name is number 3.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(ProcessStat {
        pid: pid.parse().ok()?,
        name: name.to_string(),
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        user_ticks: number(14)?,
        system_ticks: number(15)?,
        waited_user_ticks: number(16)?,
        waited_system_ticks: number(17)?,
        threads: u32::try_from(number(20)?).ok()?,
        start_ticks: number(22)?,
        rss_pages: number(24)?,
    })
}

/// Context switches of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Switches {
    /// The thread gave up the processor to wait.
    pub voluntary: u64,
    /// The kernel took the processor away from the thread.
    pub involuntary: u64,
}

/// Reads the context switches from `/proc/PID/task/TID/status` (proc_pid_status(5)). They are those
/// of one thread: `/proc/PID/status` holds the first thread's only.
#[must_use]
pub fn parse_switches(status: &str) -> Option<Switches> {
    let value = |key| field(status, key)?.parse().ok();
    Some(Switches {
        voluntary: value("voluntary_ctxt_switches")?,
        involuntary: value("nonvoluntary_ctxt_switches")?,
    })
}

/// Whether the process ignores this signal. In `/proc/PID/status`, `SigIgn` is a mask of signals
/// from 1 on (proc_pid_status(5)).
#[must_use]
pub fn ignores(status: &str, signal: i32) -> bool {
    let mask = field(status, "SigIgn").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The memory of a process, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// The proportional set: private pages, and this process's part of each shared page.
    pub pss: u64,
    /// The part of it that lies in files in memory and other shared memory; 0 where the kernel does
    /// not say (before Linux 5.9).
    pub pss_shared: u64,
    /// Huge pages of hugetlbfs, which no set of pages includes.
    pub huge: u64,
}

impl Held {
    /// From `/proc/PID/smaps_rollup` (proc_pid_smaps(5); Linux 4.14 and later).
    #[must_use]
    pub fn parse(smaps_rollup: &str) -> Option<Self> {
        let of = |key| kilobytes(smaps_rollup, key);
        Some(Self {
            pss: of("Pss")?,
            pss_shared: of("Pss_Shmem").unwrap_or(0),
            huge: of("Private_Hugetlb").unwrap_or(0) + of("Shared_Hugetlb").unwrap_or(0),
        })
    }

    /// All memory, where so many bytes lie in files in memory, mapped or not. What is mapped of
    /// them is in the proportional set too, and counts once.
    #[must_use]
    pub fn bytes(self, in_files: u64) -> u64 {
        self.pss - self.pss_shared.min(self.pss) + self.pss_shared.max(in_files) + self.huge
    }
}

impl std::ops::AddAssign for Held {
    fn add_assign(&mut self, other: Self) {
        self.pss += other.pss;
        self.pss_shared += other.pss_shared;
        self.huge += other.huge;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPTURED: &str = "17387 (cat) R 17372 17372 15323 0 -1 4194304 100 0 0 0 7 5 3 2 20 0 4 0 138259 3133440 390 18446744073709551615 94233024466944 94233024486825 140722070698144 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 94233024502832 94233024504448 94233754664960 140722070706865 140722070706902 140722070706902 140722070708203 0\n";

    #[test]
    fn a_captured_file_is_read_field_by_field() {
        let expected = ProcessStat {
            pid: 17387,
            name: "cat".into(),
            state: 'R',
            parent: 17372,
            user_ticks: 7,
            system_ticks: 5,
            waited_user_ticks: 3,
            waited_system_ticks: 2,
            threads: 4,
            start_ticks: 138_259,
            rss_pages: 390,
        };
        assert_eq!(parse_process_stat(CAPTURED), Some(expected));
    }

    #[test]
    fn a_name_may_hold_blanks_brackets_and_what_looks_like_fields() {
        let stat = parse_process_stat(&CAPTURED.replace("(cat)", "(a) R 1 (b )")).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent), ("a) R 1 (b ", 17372));
    }

    #[test]
    fn a_cut_or_odd_file_is_unknown() {
        assert_eq!(parse_process_stat(""), None);
        assert_eq!(parse_process_stat("17387 (cat) R 17372 17372"), None);
        assert_eq!(parse_process_stat(&CAPTURED.replace(" 138259 ", " soon ")), None);
    }

    #[test]
    fn a_zombie_has_no_other_thread() {
        let zombie = |threads: &str| {
            parse_process_stat(
                &CAPTURED.replace(") R ", ") Z ").replace("20 0 4 0", &format!("20 0 {threads} 0")),
            )
            .unwrap()
        };
        assert!(zombie("1").is_zombie());
        assert!(!zombie("3").is_zombie());
    }

    #[test]
    fn ignored_signals_are_read_from_the_mask() {
        let status = "Name:\tsh\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000010000\n";
        assert!(ignores(status, 17) && !ignores(status, 16) && !ignores("Name:\tsh\n", 17));
    }

    #[test]
    fn switches_and_the_proportional_set_are_read() {
        let status = "Name:\tsh\nThreads:\t1\nvoluntary_ctxt_switches:\t31\nnonvoluntary_ctxt_switches:\t4\n";
        assert_eq!(parse_switches(status), Some(Switches { voluntary: 31, involuntary: 4 }));
        assert_eq!(parse_switches("Name:\tsh\n"), None);
        let rollup = "55d9b86ad000-7ffebf286000 ---p 00000000 00:00 0                          [rollup]\nRss:                1752 kB\nPss:                 206 kB\nPss_Dirty:           112 kB\n";
        assert_eq!(Held::parse(rollup).unwrap().bytes(0), 206 * 1024);
        assert_eq!(Held::parse(""), None);
        let all = "Pss: 100 kB\nPss_Shmem: 40 kB\nShared_Hugetlb: 2 kB\nPrivate_Hugetlb: 2048 kB\n";
        let held = Held::parse(all).unwrap();
        assert_eq!(held.bytes(0), 2_150 * 1024);
        assert_eq!(held.bytes(30 * 1024), 2_150 * 1024, "mapped files count once");
        assert_eq!(held.bytes(140 * 1024), 2_250 * 1024, "what is mapped nowhere counts too");
    }
}
