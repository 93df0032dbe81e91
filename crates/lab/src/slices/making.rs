//! Makes one slice: a load of its own, and what the host did meanwhile.
use pippin_engine::Referee;
use pippin_model::host::usage::{Role, Usage};
use pippin_model::load::{LoadSpec, WarmUp};
use pippin_model::plan::cpus::CpuSplit;
use pippin_model::result::histogram::Summary;
use pippin_model::result::{self as model, LoadResult};
use pippin_model::trial::slice::{Slice, SliceFigures, SliceQuantiles};
use pippin_probe::{Roots, TreeMemory, disturbance};
use pippin_stats::rank::due;
use pippin_stats::rounds::calm;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::stretch::Stretch;
use crate::lifecycle::life::Life;
use crate::trial::{Measured, NotMeasured, SAMPLE_EVERY, Trial, Watch};

/// In slices up to this length, samples are taken only at the ends: each takes the generator's
/// processor for a moment.
const ONE_LOOK: Duration = Duration::from_secs(1);

/// Makes a load of a target that is up and warm. It ends at once if the target does.
///
/// # Errors
/// As [`Trial::measure`].
pub fn load(
    load: LoadSpec,
    roots: &Roots,
    life: Option<Arc<Life>>,
    referee: Option<Arc<dyn Referee>>,
    memory: &mut TreeMemory,
    watch: &Watch<'_>,
) -> Result<Measured, NotMeasured> {
    let length = Duration::from_nanos(load.stop.duration_ns.unwrap_or(0));
    // Whether a target is warm is seen in samples.
    let warms_up = matches!(load.warm_up, WarmUp::Auto { .. });
    let every = if length <= ONE_LOOK && !warms_up { 4 * ONE_LOOK } else { SAMPLE_EVERY };
    Trial { roots: Some(roots.clone()), life, referee, ..Trial::from_load(load) }
        .measure_on(memory, every, watch)
}

/// The slice that such a load was; what the host did is that of the stretch that ends with it.
/// `company_cores` is what the other targets that are up and idle use ([`disturbance::from_usage`]).
#[must_use]
pub fn slice(
    round: u32,
    measured: &Measured,
    cpus: &CpuSplit,
    company_cores: f64,
    stretch: &mut Stretch,
) -> Slice {
    let Measured { load, usage, .. } = measured;
    let own = usage
        .as_ref()
        .map(|usage| disturbance::from_usage(usage, &processors(cpus), company_cores))
        .unwrap_or_default();
    let host = stretch.with(own, load.measured.duration_ns);
    Slice {
        round,
        started_unix_ns: load.started_unix_ns + (load.measured_from_ns - load.started_ns),
        measured_ns: load.measured.duration_ns,
        figures: figures(load, usage.as_ref()),
        host,
        calm: calm::is_calm(&host),
        used: false,
    }
}

/// The processors of all roles; none, which means all, if the target is not bound to any.
fn processors(cpus: &CpuSplit) -> BTreeSet<u32> {
    if cpus.target.is_empty() {
        return BTreeSet::new();
    }
    [&cpus.target, &cpus.generator, &cpus.services]
        .into_iter()
        .flat_map(|set| set.0.iter().copied())
        .collect()
}

fn figures(load: &LoadResult, usage: Option<&Usage>) -> SliceFigures {
    let measured = &load.measured;
    SliceFigures {
        requests: measured.requests.scheduled,
        answered: measured.answered.completed,
        right: measured.answered.good,
        errors: measured.errors_total(),
        goodput_per_s: measured.goodput_per_s().unwrap_or(0.0),
        response: response(measured),
        service: quantiles(&measured.spans.service_time.summary()),
        target_cpu_ns: usage.and_then(|usage| usage.roles.get(&Role::Target)?.cpu_ns),
        generator_cpu_ns: usage.and_then(|usage| usage.roles.get(&Role::Generator)?.cpu_ns),
    }
}

/// Over all requests that were due: one that had no right answer is later than any.
fn response(measured: &model::Measured) -> SliceQuantiles {
    let q = |q| due::quantile_ns(measured, q);
    SliceQuantiles {
        p50_ns: q(0.5),
        p90_ns: q(0.9),
        p99_ns: q(0.99),
        // A gate on it counts the slices in which a request broke off, too.
        max_ns: due::longest_ns(measured),
    }
}

fn quantiles(times: &Summary) -> SliceQuantiles {
    let Summary { p50_ns, p90_ns, p99_ns, max_ns, .. } = *times;
    SliceQuantiles { p50_ns, p90_ns, p99_ns, max_ns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn a_slice_holds_what_its_load_measured() {
        let record = ExampleTrial::hello().build();
        let (load, usage) = (record.load.unwrap(), record.usage);
        let cpu_ns = usage.as_ref().unwrap().roles[&Role::Target].cpu_ns;
        let measured = Measured::from_load(load.clone(), usage);
        let slice = slice(3, &measured, &record.spec.cpus, 0.0, &mut Stretch::default());
        assert_eq!((slice.round, slice.measured_ns), (3, load.measured.duration_ns));
        assert_eq!(slice.figures.right, load.measured.answered.good);
        assert_eq!(Some(slice.figures.goodput_per_s), load.measured.goodput_per_s());
        assert_eq!(slice.figures.target_cpu_ns, cpu_ns);
        assert_eq!(
            slice.figures.response.p99_ns,
            load.measured.spans.response_time.quantile_ns(0.99)
        );
        assert!(!slice.used);
        let without = Measured { usage: None, ..measured };
        let unknown = super::slice(0, &without, &record.spec.cpus, 0.0, &mut Stretch::default());
        assert_eq!((unknown.host.steal, unknown.figures.target_cpu_ns), (None, None));
    }
}
