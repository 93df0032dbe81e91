//! TCP's congestion control, which has no use on loopback.
use super::demand::Demand;
use super::finding::{Finding, Severity};
use super::host::Host;

const CONTROL: &str = "net.ipv4.tcp_congestion_control";

/// Algorithms that limit the sending rate to that of the path (pacing) delay packets on loopback
/// too.
#[must_use]
pub fn control(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "congestion_control";
    demands.first()?;
    let Some(control) = host.sysctl(CONTROL) else {
        return Some(Finding::unseen(
            id,
            CONTROL,
            "any load: an algorithm that paces packets would not be noticed",
        ));
    };
    let what = format!("congestion control: {control}");
    if !control.starts_with("bbr") {
        return Some(Finding::fine(id, what));
    }
    let effect = "any load: packets of larger answers are paced by an estimate of the path, which costs timers on loopback; figures compare only with hosts \
                  that do the same (the default of Linux is cubic)";
    Some(Finding::new(id, Severity::Note, what, effect).with_sysctl(host, CONTROL, "cubic"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_is_told_and_the_default_is_fine() {
        let demands = [Demand::new("hello", 10)];
        let with =
            |name: &str| control(&Host::well_tuned().with_sysctl(CONTROL, name), &demands).unwrap();
        assert_eq!(
            (with("bbr").severity, with("cubic").severity, with("reno").severity),
            (Severity::Note, Severity::Ok, Severity::Ok)
        );
        assert_eq!(with("bbr").undo, ["sudo sysctl -w net.ipv4.tcp_congestion_control=\"bbr\""]);
        assert!(control(&Host::default(), &demands).unwrap().what.contains("not visible"));
    }
}
