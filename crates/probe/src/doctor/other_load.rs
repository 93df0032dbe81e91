//! Other load: on this machine, and on the physical machine below it.
use super::demand::Demand;
use super::figures::percent;
use super::finding::{Finding, Severity};
use super::host::Host;

/// Above this share of all processors trials become SUSPECT.
const SUSPECT: f64 = 0.02;
/// Above this share hardly anything can be measured.
const HOPELESS: f64 = 0.5;

/// Other load on this host while nothing is measured.
#[must_use]
pub fn other_programs(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "other_load";
    demands.first()?;
    let Some(load) = host.load else {
        return Some(Finding::unseen(
            id,
            "the time of the processors",
            "any load: other load would not be noticed",
        ));
    };
    let averages = host.fingerprint.load_average.map_or_else(String::new, |[one, five, _]| {
        format!("; load average {one:.2}, {five:.2} over 5 minutes")
    });
    let what =
        format!("processors busy while nothing is measured: {}{averages}", percent(load.busy));
    let severity = match load.busy {
        busy if busy > HOPELESS => Severity::Problem,
        busy if busy > SUSPECT => Severity::Warning,
        _ => return Some(Finding::fine(id, what)),
    };
    let effect = "any load: other programs take CPU time from target and generator; above 2 %, trials become SUSPECT";
    Some(Finding::new(id, severity, what, effect).with_command(
        "top -b -n 1 -o %CPU | head -n 15   # shows the programs; end them or wait",
        None,
    ))
}

/// Time that the hypervisor gave to other machines.
#[must_use]
pub fn steal(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "steal";
    demands.first()?;
    let load = host.load?;
    let what = format!("time stolen by the hypervisor: {}", percent(load.steal));
    if load.steal <= SUSPECT {
        return Some(Finding::fine(id, what));
    }
    let effect =
        "any load: the machine shares its processors with others; above 2 %, trials become SUSPECT";
    Some(Finding::new(id, Severity::Warning, what, effect).with_command(
        "vmstat 1 5   # column st; measure at a quieter time or on dedicated processors",
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_load::HostLoad;

    fn host(busy: f64, steal: f64) -> Host {
        Host { load: Some(HostLoad { busy, steal }), ..Host::well_tuned() }
    }

    #[test]
    fn more_than_two_percent_of_others_is_told() {
        let demands = [Demand::new("hello", 10)];
        let at = |busy| other_programs(&host(busy, 0.0), &demands).unwrap().severity;
        assert_eq!(
            (at(0.02), at(0.021), at(0.5), at(0.51)),
            (Severity::Ok, Severity::Warning, Severity::Warning, Severity::Problem)
        );
        assert_eq!(other_programs(&Host::default(), &demands).unwrap().severity, Severity::Note);
    }

    #[test]
    fn stolen_time_is_told() {
        let demands = [Demand::new("hello", 10)];
        let at = |share| steal(&host(0.0, share), &demands).unwrap().severity;
        assert_eq!((at(0.02), at(0.03)), (Severity::Ok, Severity::Warning));
        assert_eq!(steal(&Host::default(), &demands), None);
    }
}
