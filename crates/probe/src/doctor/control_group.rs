//! Whether targets can have control groups of their own.
use super::demand::Demand;
use super::finding::{Finding, Severity};
use super::host::Host;

/// Whether a group of version 2 can be made below this process's own.
#[must_use]
pub fn allowed(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "control_group";
    demands.first()?;
    let effect = "any load: CPU time of children that nobody waits for (SIGCHLD ignored) is not counted, and such a target is SUSPECT";
    Some(match &host.control_group {
        None => Finding::unseen(id, "control groups", effect),
        Some(Ok(())) => Finding::fine(
            id,
            "each target has a control group of its own (1 was made): its CPU time holds every process",
        ),
        Some(Err(reason)) => Finding::new(
            id,
            Severity::Note,
            format!("no control group of version 2 can be made: {reason}"),
            effect,
        )
        .with_command("systemd-run --user --scope -p Delegate=yes pippin run ...", None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_cannot_be_made_are_told() {
        let demands = [Demand::new("hello", 10)];
        let of = |made| {
            let host = Host { control_group: made, ..Host::well_tuned() };
            allowed(&host, &demands).unwrap()
        };
        assert_eq!(of(Some(Ok(()))).severity, Severity::Ok);
        let refused = of(Some(Err("Permission denied".into())));
        assert_eq!(refused.severity, Severity::Note);
        assert!(refused.what.ends_with("Permission denied"));
        assert!(of(None).what.contains("not visible"));
        assert!(allowed(&Host::well_tuned(), &[]).is_none());
    }
}
