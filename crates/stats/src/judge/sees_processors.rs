//! NOTE: the processors that the target was given make its runtime another one than in production.
//!
//! Sources: HotSpot Virtual Machine Garbage Collection Tuning Guide, "Ergonomics": a machine of the
//! server class has two or more processors and at least 1,792 MB of memory and gets G1, any other one
//! SerialGC (`AVAILABLE_PROCESSORS`, `os::is_server_class_machine`). .NET documentation, "Workstation
//! and server garbage collection": with one logical processor the collector is the workstation's,
//! whatever is configured.
use pippin_model::host::usage::{Compiler, Role};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// With so many processors, runtimes choose another collector.
const ENOUGH: f64 = 2.0;
/// The collector that HotSpot chooses for one processor.
const FOR_ONE: &str = "SerialGC";

/// What the runtime of a target that was given one processor does with it. Silent if the collector
/// was chosen by options, as far as the runtime says which one it uses.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let usage = evidence.usage()?;
    let target = usage.roles.get(&Role::Target)?;
    // Runtimes round a quota up to whole processors.
    let seen = usage.may_use.as_ref()?.cores()?.ceil();
    if seen >= ENOUGH {
        return None;
    }
    let collector = target.jvm.as_ref().and_then(|jvm| jvm.collector.as_deref());
    let (seen, usual) = match (target.compiler?.compiler, collector) {
        (Compiler::Jvm, Some(FOR_ONE)) => (
            "the JVM sees 1 processor: SerialGC",
            "with 2 processors and 1,792 MB of memory the JVM chooses G1 by itself",
        ),
        (Compiler::Jvm, Some(_)) => return None,
        (Compiler::Jvm, None) => (
            "the JVM sees 1 processor: SerialGC, unless its options name another collector",
            "with 2 processors and 1,792 MB of memory the JVM chooses G1 by itself",
        ),
        (Compiler::DotNet, _) => (
            ".NET sees 1 processor: the workstation collector",
            "with 2 processors ASP.NET Core has the server collector",
        ),
    };
    let how = evidence.option_source().words(
        "start the server with as many as production has",
        "give it as many as production has: [cpus] target",
    );
    Some(caveat("sees_processors", Severity::Note, seen.into(), format!("{usual}; {how}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::usage::{CompilerUse, JvmUse, MayUse};
    use pippin_model::plan::cpus::CpuSet;

    fn words(
        cpus: u32,
        quota: Option<f64>,
        compiler: Option<Compiler>,
        collector: Option<&str>,
    ) -> String {
        let mut record = ExampleTrial::hello().build();
        let usage = record.usage.as_mut().unwrap();
        let cpus = CpuSet((0..cpus).collect());
        usage.may_use = Some(MayUse { cpus, quota, ..MayUse::default() });
        let target = usage.roles.get_mut(&Role::Target).unwrap();
        target.compiler = compiler.map(|compiler| CompilerUse { compiler, cpu_ns: 0, age_ns: 0 });
        target.jvm =
            collector.map(|name| JvmUse { collector: Some(name.into()), ..JvmUse::default() });
        judged(judge, &record).map(|found| found.evidence).unwrap_or_default()
    }

    #[test]
    fn one_processor_is_said_with_what_the_runtime_makes_of_it() {
        let jvm = Some(Compiler::Jvm);
        assert_eq!(words(1, None, jvm, Some("SerialGC")), "the JVM sees 1 processor: SerialGC");
        assert_eq!(
            words(4, Some(0.5), jvm, Some("SerialGC")),
            "the JVM sees 1 processor: SerialGC"
        );
        let unsure =
            "the JVM sees 1 processor: SerialGC, unless its options name another collector";
        assert_eq!(words(1, None, jvm, None), unsure);
        let dotnet = words(1, None, Some(Compiler::DotNet), None);
        assert_eq!(dotnet, ".NET sees 1 processor: the workstation collector");
    }

    #[test]
    fn two_processors_another_collector_and_a_native_server_are_not() {
        let jvm = Some(Compiler::Jvm);
        assert_eq!(words(2, None, jvm, Some("SerialGC")), "");
        assert_eq!(words(4, Some(1.5), jvm, Some("SerialGC")), "", "rounded up to 2");
        assert_eq!(words(1, None, jvm, Some("G1GC")), "", "its options chose it");
        assert_eq!(words(1, None, None, None), "");
        assert_eq!(words(0, None, jvm, None), "", "unknown");
    }
}
