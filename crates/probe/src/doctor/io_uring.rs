//! io_uring, with which the generator sends and receives with few system calls.
use super::demand::Demand;
use super::finding::{Finding, Severity};
use super::host::Host;

/// Whether a ring can be made.
#[must_use]
pub fn allowed(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "io_uring";
    demands.first()?;
    let setting = host.sysctl_number("kernel.io_uring_disabled");
    let reason = match host.io_uring.as_ref() {
        None => {
            return Some(Finding::unseen(
                id,
                "io_uring",
                "any load: without it, the generator uses more CPU time per request",
            ));
        }
        Some(Ok(())) => {
            return Some(Finding::fine(id, "io_uring can be used (a ring of 1 entry was made)"));
        }
        Some(Err(reason)) => reason,
    };
    let told = setting.map_or_else(|| "unknown to this kernel".into(), |value| value.to_string());
    let what = format!("io_uring cannot be used: {reason} (kernel.io_uring_disabled is {told})");
    let effect = "any load: the generator uses epoll instead, with more CPU time per request and a lower ceiling";
    let finding = Finding::new(id, Severity::Note, what, effect);
    // Somebody switched it off for safety, so they must decide to switch it on.
    Some(match setting {
        Some(value @ 1..) => {
            finding.with_command("sudo sysctl -w kernel.io_uring_disabled=0", Some(format!("sudo sysctl -w kernel.io_uring_disabled={value}")))
        }
        _ => finding.with_command("in a container: start it with a seccomp profile that allows io_uring_setup; else a kernel of 5.19 or later", None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_that_cannot_be_made_is_told() {
        let demands = [Demand::new("hello", 10)];
        let refused =
            Host { io_uring: Some(Err("Operation not permitted".into())), ..Host::well_tuned() };
        let finding =
            allowed(&refused.clone().with_sysctl("kernel.io_uring_disabled", "2"), &demands)
                .unwrap();
        assert_eq!(
            (finding.severity, finding.undo[0].as_str()),
            (Severity::Note, "sudo sysctl -w kernel.io_uring_disabled=2")
        );
        let by_filter =
            allowed(&refused.with_sysctl("kernel.io_uring_disabled", "0"), &demands).unwrap();
        assert!(by_filter.commands[0].contains("seccomp"), "{by_filter:?}");
        assert_eq!(allowed(&Host::well_tuned(), &demands).unwrap().severity, Severity::Ok);
        assert!(allowed(&Host::default(), &demands).unwrap().what.contains("not visible"));
    }
}
