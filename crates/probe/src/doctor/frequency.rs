//! The clock frequency of the processors.
use super::demand::Demand;
use super::finding::{Finding, Severity};
use super::fix::{Fix, Setting};
use super::host::Host;

/// Any governor but `performance` changes the frequency with the load.
#[must_use]
pub fn governor(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "governor";
    demands.first()?;
    let Some(governor) = &host.fingerprint.governor else {
        let effect = "any load: a change of frequency would not be noticed, which is normal in a virtual machine; look at the spread between repetitions";
        return Some(Finding::unseen(id, "the frequency governor", effect));
    };
    let what = format!("frequency governor: {governor} on {} processors", host.fingerprint.cpus);
    if governor == "performance" {
        return Some(Finding::fine(id, what));
    }
    let effect = "any load: processors clock down while they wait, so light loads look slow and figures depend on what ran before";
    let all = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    let mut finding = Finding::new(id, Severity::Warning, what, effect).with_command(
        format!("echo performance | sudo tee {all}"),
        Some(format!("echo {governor} | sudo tee {all}")),
    );
    let settings = host.topology.cpus.keys().map(|cpu| Setting {
        file: format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
        value: "performance".into(),
    });
    finding.fixable =
        Some(Fix { settings: settings.collect() }).filter(|fix| !fix.settings.is_empty());
    Some(finding)
}

/// Turbo frequencies depend on temperature and on the number of busy cores.
#[must_use]
pub fn turbo(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "turbo";
    demands.first()?;
    let Some(turbo) = host.fingerprint.turbo else {
        return Some(Finding::unseen(
            id,
            "turbo",
            "any load: frequencies above the nominal one would not be noticed, which is normal in a virtual machine",
        ));
    };
    if !turbo {
        return Some(Finding::fine(
            id,
            format!("turbo is off on {} processors", host.fingerprint.cpus),
        ));
    }
    let what = format!("turbo is on for {} processors", host.fingerprint.cpus);
    let effect = "any load: the first trials on a cool machine run faster, and a busy generator slows the target down; interleaved repetitions even that \
                  out, turning it off removes it";
    let finding = Finding::new(id, Severity::Note, what, effect);
    let intel = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    let other = "/sys/devices/system/cpu/cpufreq/boost";
    let write = |on_intel: u8, elsewhere: u8| {
        format!(
            "if [ -e {intel} ]; then echo {on_intel} | sudo tee {intel}; else echo {elsewhere} | sudo tee {other}; fi"
        )
    };
    // Turbo makes the machine faster on average, so a person must decide to give it up.
    Some(finding.with_command(write(1, 0), Some(write(0, 1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(governor: Option<&str>, turbo: Option<bool>) -> Host {
        let mut host = Host::well_tuned();
        host.fingerprint.governor = governor.map(String::from);
        host.fingerprint.turbo = turbo;
        host
    }

    #[test]
    fn a_governor_that_changes_the_frequency_is_told() {
        let demands = [Demand::new("hello", 10)];
        let finding = governor(&host(Some("powersave"), None), &demands).unwrap();
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.undo[0].starts_with("echo powersave |"));
        assert_eq!(finding.fixable.unwrap().settings.len(), 8);
        assert_eq!(
            governor(&host(Some("performance"), None), &demands).unwrap().severity,
            Severity::Ok
        );
        assert_eq!(governor(&host(None, None), &demands).unwrap().severity, Severity::Note);
    }

    #[test]
    fn turbo_is_worth_knowing_and_never_changed_unasked() {
        let demands = [Demand::new("hello", 10)];
        let finding = turbo(&host(None, Some(true)), &demands).unwrap();
        assert_eq!(
            (finding.severity, &finding.fixable, finding.commands.len()),
            (Severity::Note, &None, 1)
        );
        assert_eq!(turbo(&host(None, Some(false)), &demands).unwrap().severity, Severity::Ok);
        assert!(turbo(&host(None, None), &demands).unwrap().what.contains("not visible"));
    }
}
