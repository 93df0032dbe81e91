//! What counts the instructions of a program: callgrind, and the counter of the processor.
use super::demand::Demand;
use super::finding::{Finding, Severity};
use super::host::Host;

/// Whether the processor's counter of instructions can be read.
#[must_use]
pub fn counter(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "instruction_counter";
    demands.first()?;
    let reason = match host.instructions.as_ref() {
        None => return Some(Finding::unseen(id, "the counter of instructions", NO_LOAD)),
        Some(Ok(())) => {
            let what = "the processor's counter of instructions can be read (1 was opened), so that --instructions can count what callgrind cannot";
            return Some(Finding::fine(id, what));
        }
        Some(Err(reason)) => reason,
    };
    let what = format!("the processor's counter of instructions cannot be read: {reason}");
    Some(Finding::new(id, Severity::Note, what, NO_LOAD))
}

/// Whether callgrind is there, by which Pippin counts.
#[must_use]
pub fn callgrind(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "callgrind";
    demands.first()?;
    let effect = "--instructions and gates on instructions; no other figure needs it";
    Some(match host.valgrind {
        None => Finding::unseen(id, "callgrind", effect),
        Some(true) => Finding::fine(id, "valgrind is installed, so that --instructions can count"),
        Some(false) => {
            let what = "valgrind is not installed, so that --instructions cannot count";
            Finding::new(id, Severity::Note, what, effect).with_command(
                "sudo apt-get install valgrind",
                Some("sudo apt-get remove valgrind".into()),
            )
        }
    })
}

/// What lacks without a counter.
const NO_LOAD: &str = "--instructions and gates on instructions, for programs that callgrind cannot run (Go, Node, the JVM, .NET)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_said_and_what_does_not_is_a_note() {
        let demands = [Demand::new("hello", 10)];
        let found =
            |host: &Host| [counter(host, &demands).unwrap(), callgrind(host, &demands).unwrap()];
        let severities = |host: &Host| found(host).map(|finding| finding.severity);
        assert_eq!(severities(&Host::well_tuned()), [Severity::Ok; 2]);
        let virtual_machine = Host {
            instructions: Some(Err("No such file or directory (os error 2)".into())),
            valgrind: Some(false),
            ..Host::well_tuned()
        };
        assert_eq!(severities(&virtual_machine), [Severity::Note; 2]);
        let [counter, callgrind] = found(&virtual_machine);
        assert!(counter.what.ends_with("cannot be read: No such file or directory (os error 2)"));
        assert_eq!(callgrind.commands, ["sudo apt-get install valgrind"]);
        for finding in found(&Host::default()) {
            assert!(finding.what.contains("not visible"), "{finding:?}");
        }
    }
}
