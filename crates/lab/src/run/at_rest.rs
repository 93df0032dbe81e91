//! What targets use while nobody asks them, before the first of several rates. All that are up are
//! watched at the same time.
use pippin_model::host::usage::Role;
use pippin_model::trial::AtRest;
use pippin_probe::{Roots, TreeClocks, TreeMemory, sample, usage_between};
use std::time::Duration;

use super::execution::Execution;
use super::member::Member;
use crate::run::observer::Event;
use crate::services::Services;
use crate::slices::resting;

/// How often to check meanwhile whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(50);

impl Execution<'_> {
    /// Watches the members of a group for as long as a step lasts, and notes what they used.
    pub(super) fn at_rest(&self, members: &mut [Member], services: &mut Services) {
        let profile = &self.header().plan.profile;
        let Some(length_ns) = profile.stop.duration_ns.filter(|_| profile.is_rates()) else {
            return;
        };
        self.settings.observer.event(&Event::Stage("at rest"));
        let mut up: Vec<&mut Member> =
            members.iter_mut().filter(|member| !member.has_failed()).collect();
        wait_for_rest(&up);
        let shared = &mut self.shared(services);
        let mut watched: Vec<(Roots, TreeMemory)> =
            up.iter_mut().map(|member| member.watched(shared)).collect();
        let found = watch(&mut watched, || self.pause(Duration::from_nanos(length_ns)));
        let is_whole = !self.interrupted();
        for ((member, at_rest), (_, memory)) in up.into_iter().zip(found).zip(watched) {
            member.was_watched(memory, at_rest.filter(|_| is_whole));
        }
    }

    /// Waits, at most until the user stops the run.
    fn pause(&self, length: Duration) {
        let until = std::time::Instant::now() + length;
        while !self.interrupted() {
            let left = until.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(GLANCE));
        }
    }
}

/// Waits until all of them rest: the last one has just been warmed up.
fn wait_for_rest(members: &[&mut Member]) {
    let trees: Vec<_> = members.iter().map(|member| member.running.roots().to_vec()).collect();
    let mut clocks = TreeClocks::default();
    let all = || clocks.look(&trees).into_iter().sum::<Option<u64>>();
    resting::wait(all, std::thread::sleep);
}

/// What each of these uses from right before `pause` to right after it; `None` if that is unknown.
fn watch(watched: &mut [(Roots, TreeMemory)], pause: impl FnOnce()) -> Vec<Option<AtRest>> {
    // The first look at a process reads what later ones need not read again.
    for (roots, memory) in &mut *watched {
        sample(roots, memory);
    }
    let mut all =
        || -> Vec<_> { watched.iter_mut().map(|(roots, memory)| sample(roots, memory)).collect() };
    let before = all();
    pause();
    let both = before.into_iter().zip(all());
    both.map(|(from, to)| {
        let (from_ns, to_ns) = (from.at_ns, to.at_ns);
        let usage = usage_between(&[from, to], from_ns, to_ns)?;
        let target = usage.roles.get(&Role::Target)?;
        Some(AtRest {
            length_ns: to_ns - from_ns,
            cpu_ns: target.cpu_ns,
            memory_bytes: target.memory_max_bytes(),
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_probe::RoleRoot;
    use std::collections::BTreeMap;
    use std::process::{Child, Command};

    /// Programs that are ended with the test.
    struct Programs(Vec<Child>);

    impl Drop for Programs {
        fn drop(&mut self) {
            for child in &mut self.0 {
                drop(child.kill());
                drop(child.wait());
            }
        }
    }

    fn started(program: &[&str]) -> Child {
        Command::new(program[0]).args(&program[1..]).spawn().unwrap()
    }

    /// The kernel's own account of a process of one thread: the time on a processor in nanoseconds
    /// (Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat, the first field).
    fn account_ns(child: &Child) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    }

    /// Whatever else the machine does: what is reported lies between what the kernel counted
    /// within the stretch, and what it counted around it.
    #[test]
    fn what_is_reported_is_the_account_of_the_kernel_over_the_same_stretch() {
        // The loop ends by itself, should the test be killed.
        let busy = "i=0; while [ $i -lt 40000000 ]; do i=$((i+1)); done";
        let programs = Programs(vec![started(&["sh", "-c", busy]), started(&["sleep", "60"])]);
        let [works, sleeps] = programs.0.as_slice() else { unreachable!() };
        // On a busy machine it may still be starting, which is work.
        let is_asleep = |child: &Child| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
        };
        while !is_asleep(sleeps) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let roots = |child: &Child| Roots {
            roles: BTreeMap::from([(Role::Target, vec![RoleRoot::Tree(child.id() as i32)])]),
            ..Roots::default()
        };
        let mut watched = [works, sleeps].map(|child| (roots(child), TreeMemory::default()));
        let (mut inner, mut slept) = ((0, 0), 0);
        let outer_from = account_ns(works);
        let found = watch(&mut watched, || {
            inner.0 = account_ns(works);
            let sleeps_from = account_ns(sleeps);
            // Some of the kernel's time, not of the clock's.
            while account_ns(works) < inner.0 + 200_000_000 {
                std::thread::sleep(Duration::from_millis(5));
            }
            slept = account_ns(sleeps) - sleeps_from;
            inner.1 = account_ns(works);
        });
        let outer_ns = account_ns(works) - outer_from;
        let [Some(works), Some(sleeps)] = found.as_slice() else { panic!("{found:?}") };
        let (used_ns, inner_ns) = (works.cpu_ns.unwrap(), inner.1 - inner.0);
        // The kernel brings the account up to date with each tick, and a clock whenever it is read.
        let tick_ns = 10_000_000;
        assert!(
            inner_ns <= used_ns + tick_ns && used_ns <= outer_ns + tick_ns,
            "{inner_ns} <= {used_ns} <= {outer_ns}"
        );
        assert_eq!((sleeps.cpu_ns, slept), (Some(0), 0), "who sleeps uses nothing");
        assert!(works.memory_bytes > Some(0) && sleeps.memory_bytes > Some(0));
    }
}
