//! Whether this is a virtual machine, a container or both. The rules are those that
//! systemd-detect-virt(1) documents, as far as files show it.
use crate::cpuinfo::parse_hypervisor;
use crate::kernel_files::KernelFiles;

/// "docker in kvm", "podman", "vmware", "none"; `None` if nothing is known (no x86 processor flags,
/// no DMI, no trace of a container).
#[must_use]
pub fn virtualisation(files: &KernelFiles, hypervisor: Option<&str>) -> Option<String> {
    let machine = machine(files, hypervisor);
    match (container(files), machine) {
        (Some(container), Some(machine)) if machine != "none" => {
            Some(format!("{container} in {machine}"))
        }
        (Some(container), _) => Some(container),
        (None, machine) => machine,
    }
}

/// The container this process runs in, by the traces that engines leave.
fn container(files: &KernelFiles) -> Option<String> {
    // Engines that follow systemd's container interface name themselves in the environment of the
    // first process.
    let named = files.line("run/systemd/container").or_else(|| {
        let environment = files.text("proc/1/environ")?;
        environment
            .split('\0')
            .find_map(|entry| entry.strip_prefix("container="))
            .filter(|name| !name.is_empty())
            .map(String::from)
    });
    if named.is_some() {
        return named;
    }
    if files.exists("run/.containerenv") {
        return Some("podman".into());
    }
    let group = files.text("proc/1/cgroup").unwrap_or_default();
    let by_group = [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("lxc", "lxc"),
        ("containerd", "containerd"),
    ];
    let by_group = by_group
        .into_iter()
        .find(|(trace, _)| group.contains(trace))
        .map(|(_, name)| name.to_string());
    by_group.or_else(|| files.exists(".dockerenv").then(|| "docker".to_string()))
}

/// The virtual machine, from the hypervisor's own name, otherwise from the firmware (DMI),
/// otherwise from the processor's flag alone.
fn machine(files: &KernelFiles, hypervisor: Option<&str>) -> Option<String> {
    let flag = files.text("proc/cpuinfo").and_then(|text| parse_hypervisor(&text));
    let by_dmi = ["sys_vendor", "product_name", "board_vendor", "bios_vendor"]
        .into_iter()
        .filter_map(|name| files.line(&format!("sys/class/dmi/id/{name}")))
        .find_map(|text| machine_of_dmi(&text));
    let known =
        hypervisor.or(by_dmi).map(String::from).or_else(|| files.line("sys/hypervisor/type"));
    known.or_else(|| match flag {
        Some(true) => Some("virtual machine".into()),
        Some(false) => Some("none".into()),
        None => None,
    })
}

/// The names that firmware of virtual machines uses.
fn machine_of_dmi(text: &str) -> Option<&'static str> {
    let names = [
        ("KVM", "kvm"),
        ("OpenStack", "kvm"),
        ("Amazon EC2", "amazon"),
        ("Google", "google"),
        ("QEMU", "qemu"),
        ("VMware", "vmware"),
        ("VMW", "vmware"),
        ("innotek GmbH", "virtualbox"),
        ("VirtualBox", "virtualbox"),
        ("Xen", "xen"),
        ("Bochs", "bochs"),
        ("Parallels", "parallels"),
        ("BHYVE", "bhyve"),
        ("Virtual Machine", "hyper-v"),
    ];
    names.into_iter().find(|(prefix, _)| text.starts_with(prefix)).map(|(_, name)| name)
}

/// The hypervisor's own name: CPUID leaf 0x4000_0000, which is only defined if leaf 1 has the
/// hypervisor bit (31 of ECX). `None` on real hardware, on other architectures and for unknown
/// names.
#[must_use]
pub fn hypervisor_of_this_host() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has CPUID. (Newer compilers know that and need no
        // `unsafe`.)
        #[allow(unused_unsafe, reason = "unsafe up to Rust 1.93")]
        let leaf = |number| unsafe { std::arch::x86_64::__cpuid(number) };
        if leaf(1).ecx >> 31 == 0 {
            return None;
        }
        let answer = leaf(0x4000_0000);
        let bytes: Vec<u8> =
            [answer.ebx, answer.ecx, answer.edx].into_iter().flat_map(u32::to_le_bytes).collect();
        hypervisor_of_signature(&bytes)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only x86 has CPUID"))]
fn hypervisor_of_signature(signature: &[u8]) -> Option<&'static str> {
    match signature {
        b"KVMKVMKVM\0\0\0" | b"Linux KVM Hv" => Some("kvm"),
        b"Microsoft Hv" => Some("hyper-v"),
        b"VMwareVMware" => Some("vmware"),
        b"XenVMMXenVMM" => Some("xen"),
        b"TCGTCGTCGTCG" => Some("qemu"),
        b"bhyve bhyve " => Some("bhyve"),
        b"ACRNACRNACRN" => Some("acrn"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_files::captured as host;

    #[test]
    fn each_trace_has_its_name() {
        let virtual_flags = ("proc/cpuinfo", "flags\t: fpu hypervisor\n");
        let real_flags = ("proc/cpuinfo", "flags\t: fpu\n");
        type Case<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>, Option<&'a str>);
        let cases: &[Case] = &[
            (&[real_flags], None, Some("none")),
            (&[virtual_flags], None, Some("virtual machine")),
            (&[virtual_flags], Some("kvm"), Some("kvm")),
            (&[virtual_flags, (".dockerenv", "")], Some("kvm"), Some("docker in kvm")),
            (&[real_flags, (".dockerenv", "")], None, Some("docker")),
            (
                &[
                    real_flags,
                    ("run/.containerenv", ""),
                    ("proc/1/environ", "PATH=/bin\0container=\0"),
                ],
                None,
                Some("podman"),
            ),
            (
                &[real_flags, ("proc/1/environ", "PATH=/bin\0container=systemd-nspawn\0")],
                None,
                Some("systemd-nspawn"),
            ),
            (
                &[real_flags, ("proc/1/cgroup", "0::/kubepods/burstable/pod1/x\n")],
                None,
                Some("kubernetes"),
            ),
            (&[virtual_flags, ("sys/class/dmi/id/sys_vendor", "QEMU\n")], None, Some("qemu")),
            (
                &[virtual_flags, ("sys/class/dmi/id/product_name", "Virtual Machine\n")],
                None,
                Some("hyper-v"),
            ),
            (&[], None, None),
        ];
        for (files, hypervisor, expected) in cases {
            let (_root, kernel) = host(files);
            assert_eq!(virtualisation(&kernel, *hypervisor).as_deref(), *expected, "{files:?}");
        }
    }

    #[test]
    fn signatures_of_hypervisors_are_known() {
        assert_eq!(hypervisor_of_signature(b"KVMKVMKVM\0\0\0"), Some("kvm"));
        assert_eq!(hypervisor_of_signature(b"            "), None);
    }
}
