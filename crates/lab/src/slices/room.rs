//! Decides which targets fit into memory together.
use pippin_model::target::TargetId;
use pippin_probe::kernel_files::KernelFiles;
use pippin_probe::memory::parse_meminfo;
use std::collections::BTreeMap;

/// The part of the memory to keep free for the page cache and for targets under load.
const RESERVE: f64 = 0.1;

/// What targets are known to need.
#[derive(Debug, Default)]
pub struct Room {
    used: BTreeMap<TargetId, u64>,
}

impl Room {
    /// Notes how much memory per target used, in resident bytes; the highest value counts.
    pub fn note(&mut self, target: &TargetId, bytes: u64) {
        let known = self.used.entry(target.clone()).or_insert(0);
        *known = (*known).max(bytes);
    }

    /// Whether another target may be started beside those that are up. A tenth of the memory must
    /// stay free if it uses as much as before in this run, or else as much as the largest target so
    /// far. If nothing is known, it fits.
    #[must_use]
    pub fn fits(&self, target: &TargetId) -> bool {
        let text = KernelFiles::default().text("proc/meminfo").unwrap_or_default();
        let memory = parse_meminfo(&text);
        match (memory.available_bytes, memory.total_bytes) {
            (Some(available), Some(total)) => self.fits_into(target, available, total),
            _ => true,
        }
    }

    fn fits_into(&self, target: &TargetId, available: u64, total: u64) -> bool {
        let largest = self.used.values().copied().max();
        let need = self.used.get(target).copied().or(largest).unwrap_or(0);
        available.saturating_sub(need) as f64 >= RESERVE * total as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_joins_while_a_tenth_stays_free() {
        let (small, large, new): (TargetId, TargetId, TargetId) =
            ("go/a".parse().unwrap(), "java/b".parse().unwrap(), "c/d".parse().unwrap());
        let mut room = Room::default();
        assert!(room.fits_into(&new, 100, 1_000) && !room.fits_into(&new, 99, 1_000));
        room.note(&small, 10);
        room.note(&large, 300);
        room.note(&large, 200);
        assert!(room.fits_into(&small, 110, 1_000));
        assert!(!room.fits_into(&large, 399, 1_000) && room.fits_into(&large, 400, 1_000));
        assert!(!room.fits_into(&new, 399, 1_000), "as much as the largest");
    }
}
