//! NOTE: one of several workers of a target does nearly all of the work.
use pippin_model::host::usage::{RoleUse, Usage};
use pippin_model::verdict::{Caveat, Severity};
use std::collections::BTreeMap;

use crate::judge::evidence::{Evidence, caveat};

/// The share of the work from which one worker does nearly all of it.
const NEARLY_ALL: f64 = 0.9;
/// Less work than this, in processors, says nothing about who does it.
const SOME_CORES: f64 = 0.1;
/// What helps.
pub const ADVICE: &str = "connections are spread unevenly over the workers: more connections, or a server that lets all workers accept (SO_REUSEPORT), use them all";

/// Whether one worker did nearly all of the work while the others rested.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    Some(caveat("workers_uneven", Severity::Note, unevenness(evidence)?, ADVICE))
}

/// That one worker did nearly all, in words; `None` if the work was shared, there is only one worker
/// or nothing is known of them.
pub(crate) fn unevenness(evidence: &Evidence) -> Option<String> {
    let usage = evidence.usage()?;
    let (name, used) = busiest_tier(usage)?;
    let workers: &BTreeMap<i32, u64> = &used.workers_ns;
    let (all, most): (u64, u64) = (workers.values().sum(), *workers.values().max()?);
    let share = most as f64 / all as f64;
    let of_tier = name.map(|name| format!(" of {name}")).unwrap_or_default();
    (workers.len() > 1 && used.cores? >= SOME_CORES && share >= NEARLY_ALL).then(|| {
        let percent = share * 100.0;
        format!("1 of {} workers{of_tier} did {percent:.0} % of the work", workers.len())
    })
}

/// The tier that uses most, with its name if there are several.
fn busiest_tier(usage: &Usage) -> Option<(Option<&str>, &RoleUse)> {
    let busiest = usage.tiers.iter().max_by_key(|tier| tier.used.cpu_ns);
    match busiest {
        Some(tier) => Some((Some(&tier.name), &tier.used)),
        None => Some((None, usage.roles.get(&pippin_model::host::usage::Role::Target)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::usage::{Role, Tier};

    #[test]
    fn work_that_is_shared_and_a_single_worker_are_silent() {
        let with = |workers: &[(i32, u64)]| {
            let mut record = ExampleTrial::hello().build();
            let target = record.usage.as_mut().unwrap().roles.get_mut(&Role::Target).unwrap();
            target.workers_ns = workers.iter().copied().collect();
            judged(judge, &record)
        };
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[(1, 100)]), None);
        assert_eq!(with(&[(1, 89), (2, 11)]), None);
        assert_eq!(with(&[(1, 0), (2, 0)]), None);
        let found = with(&[(1, 97), (2, 3)]).unwrap();
        assert_eq!(found.evidence, "1 of 2 workers did 97 % of the work");
    }

    #[test]
    fn the_tier_whose_workers_they_are_is_named_unless_it_hardly_works() {
        let with = |cores| {
            let used = RoleUse {
                cores: Some(cores),
                cpu_ns: Some(100),
                workers_ns: [(1, 97), (2, 3)].into(),
                ..RoleUse::default()
            };
            let tier = |name: &str, used| Tier { name: name.into(), used };
            let mut record = ExampleTrial::hello().build();
            record.usage.as_mut().unwrap().tiers =
                vec![tier("nginx", RoleUse::default()), tier("gunicorn", used)];
            judged(judge, &record).map(|found| found.evidence)
        };
        let seen = "1 of 2 workers of gunicorn did 97 % of the work";
        assert_eq!(with(0.1).as_deref(), Some(seen));
        assert_eq!(with(0.09), None);
    }
}
