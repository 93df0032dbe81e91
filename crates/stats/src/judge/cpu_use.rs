//! NOTE: whether the processor limits the target.
use pippin_model::host::usage::{Role, Tier};
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::{
    Bound, cpu_bound, full_in_words, given_cores, processors, throttled,
};
use crate::judge::evidence::{Evidence, caveat};

/// Whether the target keeps its processors busy or has some to spare.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let cores = evidence.cores(Role::Target)?;
    let given = processors(given_cores(evidence)?);
    let (id, mut seen) = match cpu_bound(evidence) {
        Some(Bound::SharedCores { busy, .. }) => (
            "cpu_bound",
            format!(
                "CPU-bound: {cores:.2} of {given}, which it shares and which are {:.0} % busy",
                busy * 100.0
            ),
        ),
        Some(Bound::AllItsCores { given, stolen, others, .. }) => {
            ("cpu_bound", full_in_words(cores, given, stolen, others))
        }
        Some(Bound::SomeOfItsCores { .. }) => {
            ("cpu_bound", format!("CPU-bound: {cores:.2} of {given} busy"))
        }
        None => ("not_cpu_bound", format!("not CPU-bound: {cores:.2} of {given} busy")),
    };
    if let Some((waited, all)) = throttled(evidence).filter(|(waited, _)| *waited > 0) {
        let limited =
            format!(": its control group had to wait in {waited} of {all} periods of its quota");
        seen.push_str(&limited);
    }
    if let Some(tiers) = by_tier(evidence) {
        seen.push_str(&tiers);
    }
    Some(caveat(id, Severity::Note, seen, "nothing to do"))
}

/// Which tier did how much, if there are several.
fn by_tier(evidence: &Evidence) -> Option<String> {
    let tiers = &evidence.usage()?.tiers;
    let cores = |tier: &Tier| Some(format!("{} {:.2}", tier.name, tier.used.cores?));
    let texts: Vec<String> = tiers.iter().filter_map(cores).collect();
    (texts.len() > 1).then(|| format!(" ({})", texts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::usage::{MayUse, RoleUse};
    use pippin_model::plan::cpus::CpuSet;
    use pippin_model::trial::TrialRecord;

    #[test]
    fn nine_tenths_are_bound_and_eight_are_not() {
        assert_eq!(
            judged(judge, &ExampleTrial::hello().target_cores(0.92, 1).build()).unwrap().id,
            "cpu_bound"
        );
        assert_eq!(
            judged(judge, &ExampleTrial::hello().target_cores(0.8, 1).build()).unwrap().id,
            "not_cpu_bound"
        );
        let mut stolen = ExampleTrial::hello().target_cores(0.8, 1).build();
        stolen.usage.as_mut().unwrap().stolen_by_cpu = [(0, 0.12)].into();
        let found = judged(judge, &stolen).unwrap();
        assert_eq!(
            (found.id.as_str(), found.evidence.as_str()),
            (
                "cpu_bound",
                "CPU-bound: it keeps 0.80 of its 1 processor busy, and the hypervisor took 0.12"
            )
        );
        let mut beside = ExampleTrial::hello().target_cores(0.48, 1).build();
        let usage = beside.usage.as_mut().unwrap();
        (usage.other_cores, usage.busy_by_cpu) = (Some(0.48), [(0, 0.96)].into());
        assert_eq!(
            judged(judge, &beside).unwrap().evidence,
            "Its 1 processor is full: it used 0.48 of it, and other programs took 0.48"
        );
        let mut unknown = ExampleTrial::hello().build();
        unknown.usage = None;
        assert_eq!(judged(judge, &unknown), None);
    }

    #[test]
    fn how_many_of_how_many_are_busy_and_which_tier_keeps_them_so() {
        let seen = |record: &TrialRecord| judged(judge, record).unwrap().evidence;
        let one_of_four = ExampleTrial::hello().target_cores(1.01, 4).build();
        assert_eq!(seen(&one_of_four), "CPU-bound: 1.01 of 4 processors busy");
        let mut tiers = ExampleTrial::hello().build();
        assert_eq!(seen(&tiers), "not CPU-bound: 0.50 of 1 processor busy");
        let tier = |name: &str, cores| Tier {
            name: name.into(),
            used: RoleUse { cores: Some(cores), ..RoleUse::default() },
        };
        tiers.usage.as_mut().unwrap().tiers = vec![tier("nginx", 0.05), tier("app", 0.45)];
        let both = "not CPU-bound: 0.50 of 1 processor busy (nginx 0.05, app 0.45)";
        assert_eq!(seen(&tiers), both);
        tiers.usage.as_mut().unwrap().tiers.truncate(1);
        assert_eq!(seen(&tiers), "not CPU-bound: 0.50 of 1 processor busy", "there is only one");
    }

    #[test]
    fn a_quota_that_never_made_it_wait_is_not_told() {
        let mut record = ExampleTrial::hello().build();
        let cpus = CpuSet([0].into());
        let quota = MayUse { cpus, quota: Some(1.0), periods: 300, throttled: 0 };
        record.usage.as_mut().unwrap().may_use = Some(quota);
        assert!(!judged(judge, &record).unwrap().evidence.contains("quota"));
    }

    #[test]
    fn what_limits_a_server_that_ran_before_is_its_own_quota_and_affinity() {
        let mut limited = ExampleTrial::hello().target_cores(0.21, 1).build();
        limited.spec.cpus.target.0.clear();
        let usage = limited.usage.as_mut().unwrap();
        usage.busy_by_cpu = [(0, 0.3), (1, 0.1)].into();
        let cpus = CpuSet([0, 1].into());
        usage.may_use = Some(MayUse { cpus, quota: Some(0.2), periods: 34, throttled: 30 });
        assert_eq!(
            judged(judge, &limited).unwrap().evidence,
            "CPU-bound: it keeps 0.21 of its 0.20 processors busy: its control group had to wait in 30 of 34 periods of its quota"
        );
        let usage = limited.usage.as_mut().unwrap();
        usage.roles.get_mut(&Role::Target).unwrap().cores = Some(0.97);
        let cpus = CpuSet([1].into());
        usage.may_use = Some(MayUse { cpus, ..MayUse::default() });
        assert_eq!(
            judged(judge, &limited).unwrap().evidence,
            "CPU-bound: it keeps 0.97 of its 1 processor busy"
        );
    }

    #[test]
    fn a_full_machine_limits_a_server_that_ran_before() {
        // Target 1.68, database 0.24 and generator 0.07 of 2 processors.
        let mut full = ExampleTrial::hello().target_cores(1.68, 1).build();
        full.spec.cpus.target.0.clear();
        full.usage.as_mut().unwrap().busy_by_cpu = [(0, 1.0), (1, 0.99)].into();
        assert_eq!(judged(judge, &full).unwrap().id, "cpu_bound");
        full.usage.as_mut().unwrap().busy_by_cpu = [(0, 1.0), (1, 0.7)].into();
        assert_eq!(judged(judge, &full).unwrap().id, "not_cpu_bound");
    }

    #[test]
    fn on_shared_processors_the_processors_decide() {
        let mut shared = ExampleTrial::hello().target_cores(0.5, 1).build();
        shared.spec.cpus.generator = shared.spec.cpus.target.clone();
        shared.usage.as_mut().unwrap().busy_by_cpu = [(0, 0.99)].into();
        assert!(judged(judge, &shared).unwrap().evidence.contains("99 % busy"));
        // Other programs use it, and the roles do not ask for more.
        let usage = shared.usage.as_mut().unwrap();
        usage.roles.values_mut().for_each(|role| role.cores = Some(0.15));
        assert_eq!(judged(judge, &shared).unwrap().id, "not_cpu_bound");
        shared.usage.as_mut().unwrap().busy_by_cpu = [(0, 0.7)].into();
        assert_eq!(judged(judge, &shared).unwrap().id, "not_cpu_bound");
    }
}
