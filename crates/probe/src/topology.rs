//! Which logical processors share a core or a cache (kernel
//! `Documentation/admin-guide/cputopology.rst`,
//! `Documentation/ABI/testing/sysfs-devices-system-cpu`).
use pippin_model::plan::cpus::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

use crate::kernel_files::KernelFiles;

const CPUS: &str = "sys/devices/system/cpu";

/// Where one logical processor sits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The socket.
    pub package: Option<u32>,
    /// The core within the socket.
    pub core: Option<u32>,
    /// The logical processors that share its last-level cache, itself included.
    pub last_level_cache: Option<CpuSet>,
}

/// All online processors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// By number.
    pub cpus: BTreeMap<u32, Place>,
    /// Whether simultaneous multithreading is in use (`smt/active`).
    pub smt: Option<bool>,
}

impl Topology {
    /// How many physical cores these processors are on; `None` if one of them is not placed.
    #[must_use]
    pub fn cores(&self, cpus: &CpuSet) -> Option<u32> {
        let cores: Option<BTreeSet<(u32, u32)>> =
            cpus.0.iter().map(|cpu| self.core_of(*cpu)).collect();
        u32::try_from(cores?.len()).ok()
    }

    /// Pairs of processors, one of each set, that share a core without being the same.
    #[must_use]
    pub fn siblings(&self, these: &CpuSet, those: &CpuSet) -> Vec<(u32, u32)> {
        let pairs = these.0.iter().flat_map(|&this| those.0.iter().map(move |&that| (this, that)));
        pairs
            .filter(|&(this, that)| {
                this != that
                    && self.core_of(this).is_some()
                    && self.core_of(this) == self.core_of(that)
            })
            .collect()
    }

    /// Whether a processor of the one set shares its last-level cache with one of the other; `None`
    /// if that is not visible.
    #[must_use]
    pub fn share_cache(&self, these: &CpuSet, those: &CpuSet) -> Option<bool> {
        let caches: Option<Vec<&CpuSet>> =
            these.0.iter().map(|cpu| self.cpus.get(cpu)?.last_level_cache.as_ref()).collect();
        Some(caches?.into_iter().any(|cache| cache.overlaps(those)))
    }

    fn core_of(&self, cpu: u32) -> Option<(u32, u32)> {
        let place = self.cpus.get(&cpu)?;
        place.package.zip(place.core)
    }
}

/// Reads the topology of all online processors.
#[must_use]
pub fn topology(files: &KernelFiles) -> Topology {
    let smt = match files.line(&format!("{CPUS}/smt/active")).as_deref() {
        Some("1") => Some(true),
        Some("0") => Some(false),
        _ => None,
    };
    Topology {
        cpus: files.numbered(CPUS, "cpu").into_iter().map(|cpu| (cpu, place(files, cpu))).collect(),
        smt,
    }
}

fn place(files: &KernelFiles, cpu: u32) -> Place {
    let number = |name: &str| files.line(&format!("{CPUS}/cpu{cpu}/topology/{name}"))?.parse().ok();
    Place {
        package: number("physical_package_id"),
        core: number("core_id"),
        last_level_cache: last_level_cache(files, cpu),
    }
}

fn last_level_cache(files: &KernelFiles, cpu: u32) -> Option<CpuSet> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    let level = |index: u32| {
        Some((files.line(&format!("{folder}/index{index}/level"))?.parse::<u32>().ok()?, index))
    };
    let (_, last) = files.numbered(&folder, "index").into_iter().filter_map(level).max()?;
    CpuSet::parse(&files.line(&format!("{folder}/index{last}/shared_cpu_list"))?).ok()
}

/// The processors that this thread may use (sched_getaffinity(2)); `None` if the kernel has more
/// than glibc's set holds (1024).
#[must_use]
pub fn allowed_cpus() -> Option<CpuSet> {
    // SAFETY: an all-zero set is the empty set, and the kernel fills at most its size.
    let (failed, set) = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set), set)
    };
    // SAFETY: every number asked for is below the set's size.
    let allowed = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    (failed == 0).then(|| CpuSet((0..libc::CPU_SETSIZE.unsigned_abs()).filter(allowed).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cores with two threads each, numbered as Intel does: 0 and 2 share a core, 1 and 3 the
    /// other; one cache for all.
    fn two_cores() -> (tempfile::TempDir, KernelFiles) {
        let root = tempfile::tempdir().unwrap();
        let write = |name: String, text: &str| {
            let path = root.path().join(CPUS).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for cpu in 0..4 {
            write(format!("cpu{cpu}/topology/physical_package_id"), "0\n");
            write(format!("cpu{cpu}/topology/core_id"), &format!("{}\n", cpu % 2));
            write(format!("cpu{cpu}/cache/index0/level"), "1\n");
            write(format!("cpu{cpu}/cache/index0/shared_cpu_list"), &format!("{cpu}\n"));
            write(format!("cpu{cpu}/cache/index3/level"), "3\n");
            write(format!("cpu{cpu}/cache/index3/shared_cpu_list"), "0-3\n");
        }
        write("smt/active".into(), "1\n");
        let files = KernelFiles::below(root.path());
        (root, files)
    }

    fn set(text: &str) -> CpuSet {
        CpuSet::parse(text).unwrap()
    }

    #[test]
    fn cores_siblings_and_caches_are_known() {
        let (_root, files) = two_cores();
        let topology = topology(&files);
        assert_eq!(topology.smt, Some(true));
        assert_eq!(
            (topology.cores(&set("0-3")), topology.cores(&set("0,2")), topology.cores(&set("0-1"))),
            (Some(2), Some(1), Some(2))
        );
        assert_eq!(topology.siblings(&set("0"), &set("1-2")), [(0, 2)]);
        assert_eq!(topology.siblings(&set("0,2"), &set("1,3")), []);
        assert_eq!(topology.share_cache(&set("0"), &set("1")), Some(true));
    }

    #[test]
    fn what_is_not_visible_is_unknown() {
        let nothing = Topology::default();
        assert_eq!(
            (nothing.cores(&set("0")), nothing.share_cache(&set("0"), &set("1")), nothing.smt),
            (None, None, None)
        );
        assert_eq!(nothing.siblings(&set("0"), &set("1")), []);
    }

    #[test]
    fn this_thread_may_use_at_least_one() {
        assert!(!allowed_cpus().unwrap().is_empty());
    }
}
