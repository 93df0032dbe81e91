//! SUSPECT: the target's compiler worked while it was measured. NOTE where a plan measures a fixed
//! number of requests from a fresh start, as the published comparisons do.
use pippin_model::host::usage::Role;
use pippin_model::text::units::format_ns;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Context, Evidence, caveat, percent};
use crate::judge::option_source::OptionSource;

/// The share of a processor that a compiler may use. One that rests uses up to 1 %.
const LIMIT: f64 = 0.03;

/// Whether the compiler of the target's runtime used more than 3 % of a processor in the measured
/// part: a warm target needs less time per request.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let usage = evidence.record.usage.as_ref()?;
    let target = usage.roles.get(&Role::Target)?;
    let share = target.compiler_cores(usage.duration_ns).filter(|share| *share > LIMIT)?;
    let compiler = target.compiler?;
    let of_all = target.cpu_ns.filter(|ns| *ns > 0);
    let part = of_all.map_or_else(String::new, |all| {
        format!(", {} of the target's own time", percent(compiler.cpu_ns as f64 / all as f64))
    });
    let seen = format!(
        "{} compiled for {} of a processor while it was measured{part} (limit 3 %); it had started {} before",
        compiler.compiler.runtime(),
        percent(share),
        format_ns(compiler.age_ns)
    );
    let is_planned =
        evidence.counted_requests().is_some() && evidence.option_source() == OptionSource::Plan;
    if is_planned {
        let advice = "the plan measures a cold server, as the published comparison did; a warm one is faster";
        return Some(caveat("compiling", Severity::Note, seen, advice));
    }
    let advice = evidence.option_source().words(
        "a warm server needs less time per request: warm up longer (--warm-up 30s)",
        "a warm server needs less time per request: warm up longer (warm_up = \"30s\", or \"auto\")",
    );
    Some(caveat("compiling", Severity::Suspect, seen, advice))
}

/// The caveat of one trial by itself.
#[must_use]
pub fn find(record: &TrialRecord) -> Option<Caveat> {
    judge(&Evidence { record, context: &Context::default() })
}

/// The gravest caveat of these trials of one target.
#[must_use]
pub fn of_all(trials: &[&TrialRecord]) -> Option<Caveat> {
    trials.iter().filter_map(|record| find(record)).max_by_key(|caveat| caveat.severity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::{judged, target};
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::usage::{Compiler, CompilerUse, RoleUse};

    fn compiled(mut record: TrialRecord, share: f64) -> TrialRecord {
        let usage = record.usage.as_mut().unwrap();
        let cpu_ns = (usage.duration_ns as f64 * share) as u64;
        let used = CompilerUse { compiler: Compiler::Jvm, cpu_ns, age_ns: 3_000_000_000 };
        usage.roles.get_mut(&Role::Target).unwrap().compiler = Some(used);
        record
    }

    #[test]
    fn a_compiler_at_work_is_named_with_its_share_and_age() {
        let found = judged(judge, &compiled(ExampleTrial::hello().build(), 0.24)).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.evidence.starts_with("the JVM compiled for 24.0 % of a processor"));
        assert!(found.evidence.ends_with("it had started 3.00 s before"), "{}", found.evidence);
    }

    #[test]
    fn a_plan_that_measures_cold_servers_gets_a_note() {
        let counted = || ExampleTrial::hello().counted(200).build();
        let found = judged(judge, &compiled(counted(), 0.5)).unwrap();
        assert_eq!(found.severity, Severity::Note);
        assert!(found.advice.contains("cold server"), "{}", found.advice);
        let mut load = compiled(counted(), 0.5);
        load.spec.target = "url/shop".parse().unwrap();
        load.spec.cpus.target = Default::default();
        assert_eq!(judged(judge, &load).unwrap().severity, Severity::Suspect);
    }

    #[test]
    fn its_part_of_the_targets_own_time_is_said_where_that_is_known() {
        let seen = |change: fn(&mut RoleUse)| {
            let mut record = compiled(ExampleTrial::hello().target_cores(0.5, 1).build(), 0.24);
            change(target(&mut record));
            judged(judge, &record).unwrap().evidence
        };
        assert_eq!(
            seen(|used| used.compiler.as_mut().unwrap().compiler = Compiler::DotNet),
            ".NET compiled for 24.0 % of a processor while it was measured, 48.0 % of the target's own time (limit 3 %); it had started 3.00 s before"
        );
        assert!(seen(|used| used.cpu_ns = None).contains("while it was measured (limit 3 %)"));
    }

    #[test]
    fn one_that_rests_and_a_native_server_are_not() {
        assert_eq!(judged(judge, &compiled(ExampleTrial::hello().build(), 0.029)), None);
        assert_eq!(judged(judge, &ExampleTrial::hello().build()), None);
    }
}
