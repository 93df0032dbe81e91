//! RAPL: the energy that the packages of processors used, as the kernel counts it (kernel
//! `Documentation/power/powercap/powercap.rst`). Virtual machines rarely show it, and on most hosts
//! only root may read it (CVE-2020-8694).
use crate::kernel_files::KernelFiles;

const ZONES: &str = "sys/class/powercap";

/// The packages of a host. Their counters begin anew at a largest value, here they go on.
#[derive(Debug, Default)]
pub struct Packages(Vec<Package>);

#[derive(Debug)]
struct Package {
    zone: u32,
    /// The counter begins anew after this value.
    range_uj: u64,
    last_uj: u64,
    used_uj: u64,
}

impl Packages {
    /// Those that can be read; none if one of them cannot, because a sum without it would be wrong.
    #[must_use]
    pub fn read(files: &KernelFiles) -> Self {
        // Other zones are parts of a package (their numbers have two parts), or hold all of the
        // machine and so the packages too (psys).
        let is_package = |zone: &u32| {
            let name = files.line(&format!("{ZONES}/intel-rapl:{zone}/name"));
            name.is_some_and(|name| name.starts_with("package"))
        };
        let package = |zone| {
            let range_uj = number(files, zone, "max_energy_range_uj")?;
            let last_uj = number(files, zone, "energy_uj")?;
            Some(Package { zone, range_uj, last_uj, used_uj: 0 })
        };
        let zones = files.numbered(ZONES, "intel-rapl:").into_iter().filter(is_package);
        Self(zones.map(package).collect::<Option<_>>().unwrap_or_default())
    }

    /// The energy that all packages used since the first reading, in microjoules; `None` without
    /// packages, and if one cannot be read. A counter must be read at least once in each of its
    /// turns, which take minutes.
    pub fn used_uj(&mut self, files: &KernelFiles) -> Option<u64> {
        for package in &mut self.0 {
            let now_uj = number(files, package.zone, "energy_uj")?;
            let turn_uj = if now_uj < package.last_uj { package.range_uj } else { 0 };
            package.used_uj += (now_uj + turn_uj).saturating_sub(package.last_uj);
            package.last_uj = now_uj;
        }
        (!self.0.is_empty()).then(|| self.0.iter().map(|package| package.used_uj).sum())
    }
}

fn number(files: &KernelFiles, zone: u32, name: &str) -> Option<u64> {
    files.line(&format!("{ZONES}/intel-rapl:{zone}/{name}"))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_files::captured;

    /// Two packages, a part of the first, and the whole machine.
    fn host() -> (tempfile::TempDir, KernelFiles) {
        let file = |zone: &str, name: &str| format!("{ZONES}/intel-rapl:{zone}/{name}");
        let mut files = Vec::new();
        for (zone, name) in [("0", "package-0"), ("1", "package-1"), ("0:0", "core"), ("2", "psys")]
        {
            files.push((file(zone, "name"), format!("{name}\n")));
            files.push((file(zone, "max_energy_range_uj"), "1000\n".into()));
            files.push((file(zone, "energy_uj"), "900\n".into()));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        captured(&files)
    }

    #[test]
    fn packages_are_summed_and_their_counters_go_on_after_a_turn() {
        let (_root, files) = host();
        let write = |zone: u32, text: &str| {
            let path = files.path(&format!("{ZONES}/intel-rapl:{zone}/energy_uj"));
            std::fs::write(path, text).unwrap();
        };
        let mut packages = Packages::read(&files);
        assert_eq!(packages.used_uj(&files), Some(0));
        write(0, "950\n");
        assert_eq!(packages.used_uj(&files), Some(50));
        write(0, "30\n");
        write(1, "1000\n");
        assert_eq!(packages.used_uj(&files), Some(50 + 80 + 100));
        write(1, "unknown\n");
        assert_eq!(packages.used_uj(&files), None);
        write(1, "0\n");
        assert_eq!(packages.used_uj(&files), Some(230));
        write(1, "");
        assert_eq!(Packages::read(&files).used_uj(&files), None, "one of two says too little");
    }

    #[test]
    fn a_host_without_it_is_unknown() {
        let (_root, files) = captured(&[("proc/stat", "")]);
        assert_eq!(Packages::read(&files).used_uj(&files), None);
    }
}
