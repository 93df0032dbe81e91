//! Finds processes that worked together with a target: busy while it was loaded, at rest while it
//! got no requests.
use pippin_model::trial::outside::{Link, Outside};
use std::collections::BTreeMap;

/// The kernel counts CPU time in ticks of this length, in nanoseconds.
const TICK_NS: f64 = 10e6;
/// Additional time that it may use, in nanoseconds: one tick, and the work for the last requests,
/// which ends after the load.
const IDLE_NS: f64 = 2.0 * TICK_NS;
/// A helper uses at least this part of its mean time per answer in each part of the loads. A
/// program that happens to run for a while does not. It is counted per answer, because programs
/// that take the processors slow the helper and the answers alike.
const LEAST_PART: f64 = 0.5;
/// A bystander keeps at least this part of the processors busy in a load of another server.
const FOLLOWS_PART: f64 = 0.25;
/// The loads are split into parts in which it uses this much on average, in nanoseconds: five
/// ticks, so that one tick more or less does not halve it.
const PART_NS: u64 = 50_000_000;
/// The target must be without requests for this long, in nanoseconds: a shorter time does not show
/// rest.
const LEAST_IDLE_NS: u64 = 500_000_000;

/// CPU use of the processes outside of the measurement over a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The number of answers of the load; `None` if the target got no requests.
    pub answers: Option<u64>,
    /// Its length in nanoseconds.
    pub length_ns: u64,
    /// CPU time in nanoseconds by process, for those that existed at its beginning and at its end.
    pub used_ns: BTreeMap<Process, u64>,
}

/// A process: its pid and its start time, because a pid may be used again.
pub type Process = (i32, u64);

/// The names of processes that existed in every stretch, worked for the answers all the time, and
/// rested when the target got no requests; `name` finds the name of a process, and `is_connected`
/// says whether a socket connects it with the target. `None` if the target was not loaded, or never
/// left alone for half a second.
#[must_use]
pub fn helpers(
    stretches: &[Stretch],
    is_connected: impl Fn(i32) -> bool,
    name: impl Fn(i32) -> Option<String>,
) -> Vec<Outside> {
    let (loads, idle): (Vec<&Stretch>, Vec<&Stretch>) =
        stretches.iter().partition(|stretch| stretch.answers.is_some());
    let Some(first) = loads.first().filter(|_| length_ns(&idle) >= LEAST_IDLE_NS) else {
        return Vec::new();
    };
    first
        .used_ns
        .keys()
        .filter_map(|process| {
            let all_ns = used_ns(&loads, *process)?;
            let loaded_cores = cores(&loads, all_ns);
            let idle_cores = cores(&idle, used_ns(&idle, *process)?);
            let is_connected = is_connected(process.0);
            let link = if is_connected { Link::Connected } else { Link::Unknown };
            if !link.works(loaded_cores, idle_cores, IDLE_NS / length_ns(&idle) as f64) {
                return None;
            }
            let loads = worked_in_each(&loads, *process, all_ns)?;
            let (pid, name) = (process.0, name(process.0)?);
            Some(Outside::Helper { pid, name, loaded_cores, idle_cores, loads, is_connected })
        })
        .collect()
}

/// Tells helpers from bystanders by `control`, a stretch in which a server of Pippin's own was loaded
/// and the target was not. Who keeps at least a quarter as many processors busy then follows every
/// load. Whoever is not in it stays a helper.
#[must_use]
pub fn told_apart(found: Vec<Outside>, control: &Stretch) -> Vec<Outside> {
    let of_pid = |pid: i32| control.used_ns.iter().find(|((own, _), _)| *own == pid);
    let judge = |outside: Outside| match outside {
        // The connection says that it works for the target.
        Outside::Helper { is_connected: true, .. } => outside,
        Outside::Helper { pid, name, loaded_cores, idle_cores, loads, is_connected } => {
            let control_cores = of_pid(pid).map_or(0.0, |(_, ns)| cores(&[control], *ns));
            // One tick more or less is no work.
            let is_work = control_cores * control.length_ns as f64 > IDLE_NS;
            if is_work && control_cores >= FOLLOWS_PART * loaded_cores {
                Outside::Bystander { pid, name, loaded_cores, control_cores }
            } else {
                Outside::Helper { pid, name, loaded_cores, idle_cores, loads, is_connected }
            }
        }
        other => other,
    };
    found.into_iter().map(judge).collect()
}

/// In how many consecutive parts of the loads a process worked for the answers; `None` if it rested
/// in one.
fn worked_in_each(loads: &[&Stretch], process: Process, all_ns: u64) -> Option<u32> {
    let most = (all_ns / PART_NS).max(1) as usize;
    let parts: Vec<&[&Stretch]> = loads.chunks(loads.len().div_ceil(most)).collect();
    let answers =
        |part: &[&Stretch]| part.iter().filter_map(|load| load.answers).sum::<u64>() as f64;
    let mean_ns = all_ns as f64 / answers(loads).max(1.0);
    let works = |part: &&[&Stretch]| {
        let used_ns = used_ns(part, process).unwrap_or(0) as f64;
        used_ns + TICK_NS >= LEAST_PART * mean_ns * answers(part)
    };
    parts.iter().all(works).then(|| u32::try_from(parts.len()).unwrap_or(u32::MAX))
}

/// CPU time of a process over these stretches; `None` if it did not exist in all of them.
fn used_ns(stretches: &[&Stretch], process: Process) -> Option<u64> {
    stretches.iter().map(|stretch| stretch.used_ns.get(&process).copied()).sum()
}

fn length_ns(stretches: &[&Stretch]) -> u64 {
    stretches.iter().map(|stretch| stretch.length_ns).sum()
}

fn cores(stretches: &[&Stretch], used_ns: u64) -> f64 {
    used_ns as f64 / length_ns(stretches).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A stretch of 400 ms in which processes 1, 2, ... used these milliseconds. `answers` is
    /// `None` without a load.
    fn stretch(answers: Option<u64>, used_ms: &[u64]) -> Stretch {
        let used = used_ms.iter().zip(1..).map(|(ms, pid)| ((pid, 0), ms * MS)).collect();
        Stretch { answers, length_ns: 400 * MS, used_ns: used }
    }

    fn load(used_ms: &[u64]) -> Stretch {
        stretch(Some(100), used_ms)
    }

    fn idle(used_ms: &[u64]) -> Stretch {
        stretch(None, used_ms)
    }

    fn found(stretches: &[Stretch]) -> Vec<(i32, u32)> {
        found_of(stretches, &[])
    }

    fn found_of(stretches: &[Stretch], connected: &[i32]) -> Vec<(i32, u32)> {
        let name = |pid| Some(format!("process {pid}"));
        helpers(stretches, |pid| connected.contains(&pid), name)
            .into_iter()
            .filter_map(|outside| match outside {
                Outside::Helper { pid, loads, .. } => Some((pid, loads)),
                Outside::Socket { .. } | Outside::Bystander { .. } => None,
            })
            .collect()
    }

    #[test]
    fn who_works_with_the_load_alone_is_a_helper() {
        // 1 works with the load, 2 always, 3 never, 4 in one load only, 5 a little, 6 half as much
        // at rest.
        let stretches = [
            idle(&[2, 300, 0, 0, 0, 70]),
            load(&[200, 300, 0, 390, 30, 150]),
            load(&[150, 300, 1, 10, 30, 150]),
            idle(&[10, 300, 0, 0, 0, 80]),
        ];
        assert_eq!(found(&stretches), [(1, 2)]);
    }

    /// 1 follows every load, 2 rests in that of another server, 3 began after it, and 4 did a tick
    /// of something else.
    #[test]
    fn who_works_in_a_load_of_another_server_too_is_a_bystander() {
        let stretches = [idle(&[0; 4]), load(&[200; 4]), load(&[200; 4]), idle(&[0; 4])];
        let found = helpers(&stretches, |_| false, |pid| Some(format!("process {pid}")));
        assert_eq!(found.len(), 4);
        let mut control = load(&[60, 0, 0, 10]);
        control.used_ns.remove(&(3, 0));
        let is_bystander = |outside: &Outside| matches!(outside, Outside::Bystander { .. });
        let told: Vec<bool> = told_apart(found, &control).iter().map(is_bystander).collect();
        assert_eq!(told, [true, false, false, false]);
    }

    #[test]
    fn who_is_connected_helps_with_little_work_too() {
        // Processes 1 and 2 use 0.05 processors; a load is 400 ms long.
        let stretches = [idle(&[0, 0]), idle(&[0, 0]), load(&[20, 20]), load(&[20, 20])];
        assert_eq!(found_of(&stretches, &[2]), [(2, 1)]);
    }

    #[test]
    fn rest_and_load_must_both_have_been_seen() {
        let (load, idle) = (load(&[200]), idle(&[0]));
        assert_eq!(found(&[load.clone(), idle.clone()]), [], "400 ms are too short to see rest");
        assert_eq!(found(&[load.clone(), idle.clone(), idle.clone()]), [(1, 1)]);
        assert_eq!(found(&[idle.clone(), idle.clone()]), []);
        let gone = stretch(None, &[]);
        assert_eq!(found(&[load, idle.clone(), idle, gone]), [], "it ended meanwhile");
        assert_eq!(found(&[]), []);
    }

    /// Thirty loads of 100 ms while other programs take the processors. Each has between 5 and 100
    /// answers. The helper works 1 ms for each answer, and the kernel counts whole ticks.
    #[test]
    fn a_helper_is_seen_in_short_loads_on_a_busy_machine_too() {
        let answers = [100, 12, 5, 60, 8, 9, 33, 5, 21, 80];
        let mut left_ms = 0;
        let mut stretches = vec![idle(&[0]), idle(&[10])];
        for nth in 0..30 {
            let count = answers[nth % answers.len()];
            left_ms += count;
            let ticks_ms = left_ms / 10 * 10;
            left_ms -= ticks_ms;
            stretches.push(Stretch { length_ns: 100 * MS, ..stretch(Some(count), &[ticks_ms]) });
        }
        let [(1, parts)] = found(&stretches)[..] else { panic!("{:?}", found(&stretches)) };
        assert!((4..=30).contains(&parts), "{parts}");
    }

    /// A compiler that begins during the loads, and one that ends during them.
    #[test]
    fn who_works_for_a_while_only_is_none() {
        let mut stretches = vec![idle(&[0, 0]), idle(&[0, 0])];
        stretches.extend((0..20).map(|nth| load(if nth < 10 { &[300, 0] } else { &[0, 300] })));
        assert_eq!(found(&stretches), []);
    }
}
