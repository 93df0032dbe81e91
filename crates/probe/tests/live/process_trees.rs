//! CPU time of real process trees, compared with the time that their processes burnt.
use crate::forked::{Supervisor, burn, eventually, fork, sleep_for_good, wait};
use pippin_model::host::usage::{Role, RoleSample};
use pippin_probe::{RoleRoot, Roots, TreeMemory, sample};
use pippin_testing::patience::in_time;
use std::collections::BTreeMap;
use std::time::Duration;

pippin_testing::patient_tests!(
    short_busy_children_count_exactly_once_while_their_parent_lives,
    short_busy_children_count_exactly_once_when_their_parent_is_dead_too,
    double_forked_daemons_count_alive_and_dead,
    children_that_nobody_waits_for_keep_what_was_seen_of_them,
    a_shell_that_starts_many_programs_agrees_with_what_the_kernel_billed_it,
);

/// The time that forking, dying and rounding to clock ticks may add or hide.
const SLACK_MS: u64 = 60;
/// The time that the kernel's rounding alone may hide.
const ROUNDING_MS: u64 = 20;

struct Watch {
    roots: Roots,
    memory: TreeMemory,
    series: Vec<u64>,
}

impl Watch {
    fn from_supervisor(supervisor: &Supervisor) -> Self {
        let roots = Roots {
            roles: BTreeMap::from([(Role::Target, vec![RoleRoot::Below(supervisor.pid)])]),
            ..Roots::default()
        };
        Self { roots, memory: TreeMemory::default(), series: Vec::new() }
    }

    /// Samples once.
    fn look(&mut self) -> RoleSample {
        let target = sample(&self.roots, &mut self.memory).roles[&Role::Target].clone();
        self.series.push(target.cpu_ns / 1_000_000);
        target
    }

    /// Samples until this much was burnt and this many processes live, then a little longer.
    fn until(&mut self, expected_ms: u64, living: u32) -> u64 {
        eventually(&format!("{expected_ms} ms of CPU, {living} alive"), || {
            let target = self.look();
            target.cpu_ns / 1_000_000 + ROUNDING_MS >= expected_ms && target.processes == living
        });
        std::thread::sleep(Duration::from_millis(100));
        self.look();
        assert!(self.series.is_sorted(), "CPU time fell: {:?}", self.series);
        self.series[self.series.len() - 1]
    }
}

fn assert_about(measured_ms: u64, expected_ms: u64) {
    in_time(measured_ms.abs_diff(expected_ms) <= SLACK_MS, || {
        format!("measured {measured_ms} ms, burnt {expected_ms} ms")
    });
}

fn short_busy_children_count_exactly_once_while_their_parent_lives() {
    let supervisor = Supervisor::start(|| {
        for _ in 0..60 {
            wait(fork(|| burn(10)));
        }
        sleep_for_good()
    });
    assert_about(Watch::from_supervisor(&supervisor).until(600, 1), 600);
}

fn short_busy_children_count_exactly_once_when_their_parent_is_dead_too() {
    let supervisor = Supervisor::start(|| {
        for _ in 0..20 {
            wait(fork(|| {
                wait(fork(|| burn(10)));
                burn(10);
            }));
        }
    });
    let mut watch = Watch::from_supervisor(&supervisor);
    assert_about(watch.until(400, 0), 400);
    let target = watch.look();
    assert_eq!((target.processes, target.rss_bytes), (0, None));
}

fn double_forked_daemons_count_alive_and_dead() {
    let supervisor = Supervisor::start(|| {
        for _ in 0..3 {
            wait(fork(|| {
                fork(|| burn(100));
            }));
        }
        wait(fork(|| {
            fork(|| {
                // SAFETY: no pointers.
                unsafe { libc::setsid() };
                burn(200);
                sleep_for_good()
            });
        }));
    });
    let mut watch = Watch::from_supervisor(&supervisor);
    assert_about(watch.until(500, 1), 500);
    // Three are dead, and one sleeps. It has its own session and is still found.
    let target = watch.look();
    assert_eq!((target.processes, target.threads), (1, 1));
    kill_descendants(&supervisor);
    assert_about(watch.until(500, 0), 500);
}

/// Kills the descendants. A daemon in its own session does not get the signals of the supervisor's
/// group.
fn kill_descendants(supervisor: &Supervisor) {
    let children =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", supervisor.pid)).unwrap();
    for child in children.split_ascii_whitespace() {
        // SAFETY: the kernel has just listed it as a child of our own supervisor.
        unsafe { libc::kill(child.parse().unwrap(), libc::SIGKILL) };
    }
}

fn children_that_nobody_waits_for_keep_what_was_seen_of_them() {
    let supervisor = Supervisor::start(|| {
        // SAFETY: the handler is not a function of ours.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        for _ in 0..3 {
            // With SIGCHLD ignored, this waits until the child is gone, but no time is billed.
            let child = fork(|| burn(200));
            wait(child);
        }
        sleep_for_good()
    });
    let mut watch = Watch::from_supervisor(&supervisor);
    // At least the time seen some milliseconds before each death; never more than was burnt.
    let begun = std::time::Instant::now();
    while begun.elapsed() < Duration::from_secs(10) && watch.look().cpu_ns < 540_000_000 {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let measured_ms = watch.look().cpu_ns / 1_000_000;
    assert!(measured_ms <= 600 + SLACK_MS, "{measured_ms} ms of 600");
    in_time(measured_ms >= 540, || format!("{measured_ms} ms of 600"));
    assert!(watch.series.is_sorted());
}

fn a_shell_that_starts_many_programs_agrees_with_what_the_kernel_billed_it() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let path = std::ffi::CString::new(log.path().to_str().unwrap()).unwrap();
    let script =
        c"i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done; times; exec sleep 600";
    // SAFETY: all texts end with a zero and outlive the calls, and the list of them ends with null.
    let supervisor = Supervisor::start(|| unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY);
        libc::dup2(file, 1);
        let arguments = [c"sh".as_ptr(), c"-c".as_ptr(), script.as_ptr(), std::ptr::null()];
        libc::execv(c"/bin/sh".as_ptr(), arguments.as_ptr());
    });
    let mut watch = Watch::from_supervisor(&supervisor);
    let mut told_ms = None;
    eventually("the shell has told its times", || {
        watch.look();
        told_ms = times_ms(&std::fs::read_to_string(log.path()).unwrap());
        told_ms.is_some()
    });
    watch.look();
    assert!(watch.series.is_sorted(), "CPU time fell: {:?}", watch.series);
    assert_about(watch.series[watch.series.len() - 1], told_ms.unwrap());
}

/// The sum of the output of the shell's `times`: two lines of `0m0.010000s 0m0.020000s`, its own
/// and its children's.
fn times_ms(text: &str) -> Option<u64> {
    let times: Vec<&str> = text.split_whitespace().collect();
    let milliseconds = |time: &str| {
        let (minutes, seconds) = time.strip_suffix('s').unwrap().split_once('m').unwrap();
        (minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()) * 1000.0
    };
    (times.len() == 4).then(|| times.iter().map(|time| milliseconds(time)).sum::<f64>() as u64)
}

#[test]
fn threads_and_memory_of_the_living_are_summed() {
    let supervisor = Supervisor::start(|| {
        fork(|| sleep_for_good());
        fork(|| sleep_for_good());
        sleep_for_good()
    });
    let mut watch = Watch::from_supervisor(&supervisor);
    eventually("three processes live", || watch.look().processes == 3);
    watch.memory.ask_for_details();
    let target = watch.look();
    assert_eq!(target.threads, 3);
    let (rss, pss) = (target.rss_bytes.unwrap(), target.pss_bytes.unwrap());
    // The three share nearly all pages with each other and with this process.
    assert!(pss > 0 && pss < rss, "PSS {pss}, RSS {rss}");
    assert!(target.voluntary_switches.is_some());
}

#[test]
fn a_tree_holds_its_root_and_what_is_below_does_not() {
    let supervisor = Supervisor::start(|| sleep_for_good());
    let count = |role, root| {
        let roots = Roots { roles: BTreeMap::from([(role, vec![root])]), ..Roots::default() };
        let mut memory = TreeMemory::default();
        move || sample(&roots, &mut memory).roles.get(&role).map(|sample| sample.processes)
    };
    let mut below = count(Role::Target, RoleRoot::Below(supervisor.pid));
    let mut tree = count(Role::Target, RoleRoot::Tree(supervisor.pid));
    eventually("the child lives", || below() == Some(1));
    assert_eq!(tree(), Some(2));
}

#[test]
fn a_role_that_was_never_there_is_absent() {
    let roots = Roots {
        roles: BTreeMap::from([
            (Role::Target, vec![RoleRoot::Below(i32::MAX - 1)]),
            (Role::Services, vec![]),
        ]),
        ..Roots::default()
    };
    assert!(sample(&roots, &mut TreeMemory::default()).roles.is_empty());
}
