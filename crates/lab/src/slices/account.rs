//! All slices of a target in one repetition, and the record that they add up to.
use pippin_model::host::usage::Usage;
use pippin_model::result::LoadResult;
use pippin_model::trial::TrialRecord;
use pippin_model::trial::sequence;
use pippin_model::trial::slice::Slice;
use pippin_stats::rounds::calm;
use std::collections::BTreeMap;

use crate::trial::Measured;

/// What services counted, by name.
pub type Services = BTreeMap<String, f64>;

/// Names of counts that are highest values: they do not add up.
const HIGHEST: [&str; 2] = ["peak", "longest"];

/// The slices of a target.
#[derive(Debug, Default)]
pub struct Account {
    warm_ups: Vec<PackedLoad>,
    slices: Vec<(Slice, PackedLoad)>,
}

/// A load, packed until it is known whether it is used. In memory each of its histograms takes two
/// megabytes; as text it takes some kilobytes.
#[derive(Debug)]
struct PackedLoad {
    load: Vec<u8>,
    usage: Option<Usage>,
    services: Services,
}

impl PackedLoad {
    fn from_measured(measured: &Measured, services: Services) -> Self {
        // If a load cannot be packed, it is missing.
        let load = serde_json::to_vec(&measured.load).unwrap_or_default();
        Self { load, usage: measured.usage.clone(), services }
    }

    fn load(&self) -> Option<LoadResult> {
        serde_json::from_slice(&self.load).ok()
    }
}

impl Account {
    /// Adds a load that is not measured.
    pub fn warm_up(&mut self, measured: &Measured, services: Services) {
        self.warm_ups.push(PackedLoad::from_measured(measured, services));
    }

    /// Adds a slice.
    pub fn add(&mut self, slice: Slice, measured: &Measured, services: Services) {
        self.slices.push((slice, PackedLoad::from_measured(measured, services)));
    }

    /// Calm slices so far.
    #[must_use]
    pub fn calm(&self) -> u32 {
        self.slices.iter().filter(|(slice, _)| slice.calm).count() as u32
    }

    /// Whether there is no slice yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// Forgets the slices of this round and of later ones.
    pub fn forget_from(&mut self, round: u32) {
        self.slices.retain(|(slice, _)| slice.round < round);
    }

    /// All slices so far.
    #[must_use]
    pub fn slices(&self) -> Vec<&Slice> {
        self.slices.iter().map(|(slice, _)| slice).collect()
    }

    /// Writes all slices into the record, and the sum of those that are used: load, usage, samples
    /// and what services counted.
    pub fn settle(self, rounds: u32, calmest: &[u32], interrupted: bool, record: &mut TrialRecord) {
        let (mut slices, kept): (Vec<Slice>, Vec<PackedLoad>) = self.slices.into_iter().unzip();
        calm::choose(&mut slices, rounds, calmest);
        let used: Vec<&PackedLoad> = slices
            .iter()
            .zip(&kept)
            .filter(|(slice, _)| slice.used)
            .map(|(_, kept)| kept)
            .collect();
        let loads = |kept: &mut dyn Iterator<Item = &PackedLoad>| -> Vec<LoadResult> {
            kept.filter_map(PackedLoad::load).collect()
        };
        let warm_ups = loads(&mut self.warm_ups.iter());
        record.load = sequence::load_of(&warm_ups, &loads(&mut used.iter().copied()));
        if let Some(load) = &mut record.load {
            load.interrupted |= interrupted;
        }
        let usages: Option<Vec<Usage>> = used.iter().map(|kept| kept.usage.clone()).collect();
        if let (Some(usages), Some(load)) = (usages, &record.load) {
            record.usage = sequence::usage_of(&usages);
            record.samples = sequence::samples_of(load.measured_from_ns, &usages);
        }
        record.services = Services::new();
        for kept in self.warm_ups.iter().chain(used) {
            add(&mut record.services, &kept.services);
        }
        record.slices = slices;
    }
}

fn add(all: &mut Services, more: &Services) {
    for (name, value) in more {
        let sum = all.entry(name.clone()).or_insert(0.0);
        let is_highest = HIGHEST.iter().any(|word| name.contains(word));
        *sum = if is_highest { sum.max(*value) } else { *sum + value };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::making;
    use crate::slices::stretch::Stretch;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::slice::SliceHost;

    fn measured(answers: u64) -> Measured {
        let record = ExampleTrial::hello().seconds(1).completed(answers).build();
        Measured::from_load(record.load.unwrap(), record.usage)
    }

    fn services(calls: f64, peak: f64) -> Services {
        [("upstream_calls".into(), calls), ("upstream_peak_waiting".into(), peak)].into()
    }

    fn add(account: &mut Account, round: u32, answers: u64, steal: f64) {
        let (measured, cpus) = (measured(answers), ExampleTrial::hello().spec().cpus);
        let mut slice = making::slice(round, &measured, &cpus, 0.0, &mut Stretch::default());
        slice.host = SliceHost { steal: Some(steal), ..SliceHost::default() };
        slice.calm = calm::is_calm(&slice.host);
        account.add(slice, &measured, services(answers as f64, 7.0 + f64::from(round)));
    }

    #[test]
    fn the_record_is_the_sum_of_calm_slices() {
        let mut account = Account::default();
        account.warm_up(&measured(50), services(60.0, 1.0));
        for (round, answers, steal) in [(0, 1_000, 0.0), (1, 10, 0.5), (2, 3_000, 0.0)] {
            add(&mut account, round, answers, steal);
        }
        assert_eq!(account.calm(), 2);
        let mut record = ExampleTrial::hello().build();
        account.settle(3, &[], false, &mut record);
        assert_eq!(record.slices.iter().filter(|slice| slice.used).count(), 2);
        let load = record.load.unwrap();
        assert_eq!(load.measured.answered.completed, 4_000);
        assert_eq!(load.measured.duration_ns, record.usage.unwrap().duration_ns);
        assert_eq!(record.services, services(4_060.0, 9.0));
        assert_eq!(record.samples.len(), 3);
        assert!(!load.interrupted);
    }

    #[test]
    fn without_enough_calm_ones_the_calmest_are_taken_and_cut_rounds_are_forgotten() {
        let mut account = Account::default();
        for (round, answers, steal) in [(0, 100, 0.3), (1, 200, 0.1), (2, 300, 0.2), (3, 400, 0.0)]
        {
            add(&mut account, round, answers, steal);
        }
        account.forget_from(3);
        let mut record = ExampleTrial::hello().build();
        account.settle(4, &[], true, &mut record);
        let load = record.load.unwrap();
        assert_eq!((load.measured.answered.completed, load.interrupted), (500, true));
        assert_eq!(record.slices.len(), 3);
        let mut nothing = ExampleTrial::hello().build();
        Account::default().settle(4, &[], false, &mut nothing);
        assert!(nothing.load.is_none() && nothing.slices.is_empty());
    }
}
