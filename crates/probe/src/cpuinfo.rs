//! `/proc/cpuinfo`: which processor it is (proc_cpuinfo(5); the lines differ between
//! architectures).

/// The processor's name: "model name" on x86 and some ARM kernels, "cpu model" on MIPS, "cpu" on
/// POWER, "Model" of the board on other ARM ones.
#[must_use]
pub fn parse_model(text: &str) -> Option<String> {
    ["model name", "cpu model", "cpu", "Model"]
        .into_iter()
        .find_map(|key| value(text, key))
        .map(String::from)
}

/// Whether the processor reports that it belongs to a virtual machine: the flag `hypervisor`, which
/// real hardware never sets (x86 only; `None` elsewhere).
#[must_use]
pub fn parse_hypervisor(text: &str) -> Option<bool> {
    value(text, "flags")
        .map(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut values = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.trim_end() == key);
    values.next().map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPTURED: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor\ncpu MHz\t\t: 2299.998\nflags\t\t: fpu vme hypervisor lahf_lm\n\nprocessor\t: 1\n";

    #[test]
    fn name_and_hypervisor_flag_are_read() {
        assert_eq!(parse_model(CAPTURED).as_deref(), Some("Intel(R) Xeon(R) Processor"));
        assert_eq!(parse_hypervisor(CAPTURED), Some(true));
        assert_eq!(parse_hypervisor(&CAPTURED.replace("hypervisor ", "")), Some(false));
    }

    #[test]
    fn other_architectures_are_known_by_other_lines_or_not_at_all() {
        let arm = "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\n\nModel\t\t: Raspberry Pi 5 Model B Rev 1.0\n";
        assert_eq!(parse_model(arm).as_deref(), Some("Raspberry Pi 5 Model B Rev 1.0"));
        assert_eq!(parse_hypervisor(arm), None);
        assert_eq!(parse_model("processor\t: 0\n"), None);
    }
}
