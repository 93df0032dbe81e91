//! The kernel's clock source. A generator reads the clock several times for each request.
use super::demand::Demand;
use super::finding::{Finding, Severity};
use super::host::Host;

/// Steady sources that are read without entering the kernel (vDSO), or nearly as cheaply.
const CHEAP: &[&str] = &[
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "riscv_clocksource",
    "timebase",
    "tod",
];

/// Whether the clock is cheap to read.
#[must_use]
pub fn cheap(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "clock_source";
    demands.first()?;
    let Some(source) = &host.fingerprint.clock_source else {
        return Some(Finding::unseen(
            id,
            "the clock source",
            "any load: a slow clock costs the generator a microsecond per reading",
        ));
    };
    let what = format!("clock source: {source} (available: {})", host.clock_sources.join(", "));
    if CHEAP.contains(&source.as_str()) {
        return Some(Finding::fine(id, what));
    }
    let effect = "any load: each reading of the clock is a system call of up to some microseconds, in the generator and in servers that log or date answers";
    let mut finding = Finding::new(id, Severity::Warning, what, effect);
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    if let Some(better) =
        host.clock_sources.iter().find(|available| CHEAP.contains(&available.as_str()))
    {
        // The kernel stopped using it for a reason (usually an unsteady TSC), so a person must
        // decide.
        finding = finding.with_command(
            format!("echo {better} | sudo tee {file}"),
            Some(format!("echo {source} | sudo tee {file}")),
        );
    } else {
        finding = finding.with_command(
            "sudo dmesg | grep -i clocksource   # why the kernel prefers this one",
            None,
        );
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(source: &str, available: &[&str]) -> Host {
        let mut host = Host {
            clock_sources: available.iter().map(|name| (*name).into()).collect(),
            ..Host::well_tuned()
        };
        host.fingerprint.clock_source = Some(source.into());
        host
    }

    #[test]
    fn a_dear_clock_is_told_with_the_better_one_if_there_is_one() {
        let demands = [Demand::new("hello", 10)];
        let finding = cheap(&host("hpet", &["tsc", "hpet", "acpi_pm"]), &demands).unwrap();
        assert_eq!(finding.severity, Severity::Warning);
        assert!(
            finding.commands[0].starts_with("echo tsc |")
                && finding.undo[0].starts_with("echo hpet |")
        );
        assert!(
            cheap(&host("acpi_pm", &["acpi_pm"]), &demands).unwrap().commands[0].contains("dmesg")
        );
        assert_eq!(
            cheap(&host("kvm-clock", &["kvm-clock"]), &demands).unwrap().severity,
            Severity::Ok
        );
        assert_eq!(cheap(&Host::default(), &demands).unwrap().severity, Severity::Note);
    }
}
