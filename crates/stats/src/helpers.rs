//! Which processes beside a target worked with it: busy while it was loaded, at rest while nobody
//! asked it.
use pippin_model::outside::Outside;
use std::collections::BTreeMap;

/// Processors that a helper keeps busy at least while the target is loaded.
const LEAST_CORES: f64 = 0.1;
/// The part of that which it may use while nobody asks the target.
const IDLE_PART: f64 = 0.1;
/// The part of the mean that it uses at least in each load: what happens to run for a while is not in
/// all of them.
const LEAST_PART: f64 = 0.5;
/// How long nobody must have asked the target, nanoseconds: rest is not seen in less.
const LEAST_IDLE_NS: u64 = 500_000_000;

/// What processes without a part in the measurement used over a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Whether the target was loaded; otherwise nobody asked it.
    pub is_loaded: bool,
    /// Its length in nanoseconds.
    pub length_ns: u64,
    /// CPU time in nanoseconds by process: of those that were there at its beginning and at its end.
    pub used_ns: BTreeMap<Process, u64>,
}

/// A process: its number, and when it started, which tells it from a later one with that number.
pub type Process = (i32, u64);

/// The processes that were there in every stretch, worked in every load and rested when nobody asked
/// the target; `name` says what a process is called. None if the target was not loaded, or never
/// left alone for half a second.
#[must_use]
pub fn helpers(stretches: &[Stretch], name: impl Fn(i32) -> Option<String>) -> Vec<Outside> {
    let (loads, idle): (Vec<&Stretch>, Vec<&Stretch>) =
        stretches.iter().partition(|stretch| stretch.is_loaded);
    let idle_ns: u64 = idle.iter().map(|stretch| stretch.length_ns).sum();
    let Some(first) = loads.first().filter(|_| idle_ns >= LEAST_IDLE_NS) else { return Vec::new() };
    let is_helper = |process: &Process| {
        let loaded = cores(&loads, *process)?;
        let idle = cores(&idle, *process)?;
        let is_in_each = loads
            .iter()
            .all(|load| cores(&[load], *process).is_some_and(|cores| cores >= LEAST_PART * loaded));
        (loaded >= LEAST_CORES && idle <= IDLE_PART * loaded && is_in_each)
            .then_some((loaded, idle))
    };
    first
        .used_ns
        .keys()
        .filter_map(|process| {
            let (loaded_cores, idle_cores) = is_helper(process)?;
            let name = name(process.0)?;
            let loads = u32::try_from(loads.len()).unwrap_or(u32::MAX);
            Some(Outside::Helper { pid: process.0, name, loaded_cores, idle_cores, loads })
        })
        .collect()
}

/// Processors that a process kept busy over these stretches; `None` if it was not there in all.
fn cores(stretches: &[&Stretch], process: Process) -> Option<f64> {
    let used: Option<u64> =
        stretches.iter().map(|stretch| stretch.used_ns.get(&process).copied()).sum();
    let length: u64 = stretches.iter().map(|stretch| stretch.length_ns).sum();
    used.filter(|_| length > 0).map(|used| used as f64 / length as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A stretch of 400 ms in which processes 1, 2, ... used these milliseconds.
    fn stretch(is_loaded: bool, used_ms: &[u64]) -> Stretch {
        let used = used_ms.iter().zip(1..).map(|(ms, pid)| ((pid, 0), ms * MS)).collect();
        Stretch { is_loaded, length_ns: 400 * MS, used_ns: used }
    }

    fn found(stretches: &[Stretch]) -> Vec<(i32, u32)> {
        helpers(stretches, |pid| Some(format!("process {pid}")))
            .into_iter()
            .filter_map(|outside| match outside {
                Outside::Helper { pid, loads, .. } => Some((pid, loads)),
                Outside::Socket { .. } => None,
            })
            .collect()
    }

    #[test]
    fn who_works_with_the_load_alone_is_a_helper() {
        // 1 works with the load, 2 always, 3 never, 4 in one load only, 5 a little.
        let stretches = [
            stretch(false, &[2, 300, 0, 0, 0]),
            stretch(true, &[200, 300, 0, 390, 30]),
            stretch(true, &[150, 300, 1, 10, 30]),
            stretch(false, &[10, 300, 0, 0, 0]),
        ];
        assert_eq!(found(&stretches), [(1, 2)]);
    }

    #[test]
    fn rest_and_load_must_both_have_been_seen() {
        let (load, idle) = (stretch(true, &[200]), stretch(false, &[0]));
        assert_eq!(found(&[load.clone(), idle.clone()]), [], "400 ms are too short to see rest");
        assert_eq!(found(&[load.clone(), idle.clone(), idle.clone()]), [(1, 1)]);
        assert_eq!(found(&[idle.clone(), idle.clone()]), []);
        let gone = stretch(false, &[]);
        assert_eq!(found(&[load, idle.clone(), idle, gone]), [], "it ended meanwhile");
        assert_eq!(found(&[]), []);
    }
}
