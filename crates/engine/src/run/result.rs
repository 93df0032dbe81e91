//! Makes the result of a load from what its threads have counted.
use pippin_model::load::proxy::ProxyUse;
use pippin_model::load::tls::{TlsSpec, TlsUse};
use pippin_model::load::websocket::WebSocketUse;
use pippin_model::load::{LoadSpec, Proxy, WarmUp};
use pippin_model::result::{GeneratorUse, LoadResult, Phase, QuicUse, Slowest, StepMeasured};

use std::collections::BTreeMap;

use crate::record::outcome::{Mark, Outcome};
use crate::record::paths::Paths;
use crate::record::recorder::{MEASURED, WARM_UP};
use crate::record::tally::Tally;
use crate::run::coordinator::Course;
use crate::run::cpu;
use crate::run::exchanges::Names;
use crate::run::validate::users;
use crate::tls::config;

/// How many stretches the load has, whether the first is a warm-up, and which of them is the
/// headline.
pub(crate) const fn stretches(spec: &LoadSpec) -> (usize, bool, usize) {
    match (spec.schedule.phases(), spec.warm_up) {
        (Some(phases), _) => (phases.len(), false, SUSTAIN),
        (_, WarmUp::None) => (1, false, 0),
        (_, WarmUp::Fixed { .. } | WarmUp::Auto { .. }) => (2, true, MEASURED),
    }
}

/// Which phase the headline is taken in.
const SUSTAIN: usize = 1;

/// Merges what the threads have counted.
pub(crate) fn assemble(
    spec: &LoadSpec,
    io: &str,
    started_unix_ns: u64,
    mut course: Course,
    outcomes: &[Outcome],
) -> LoadResult {
    let asked = u64::from(users(spec));
    let (count, has_warm_up, headline) = stretches(spec);
    let mut merged: Vec<Tally> = (0..count).map(|_| Tally::default()).collect();
    let names = Names::from_spec(spec, (started_unix_ns, course.started_ns));
    let in_stretch = |stretch: usize| {
        outcomes.iter().map(move |it| (it.thread, &it.stretches[stretch].exchanges))
    };
    let slowest: Vec<Slowest> =
        (0..count).map(|stretch| names.slowest(spec, in_stretch(stretch))).collect();
    let request_sample = names.sample(spec, in_stretch(headline));
    for outcome in outcomes {
        for (all, one) in merged.iter_mut().zip(&outcome.stretches) {
            all.merge(one);
        }
    }
    let generator = generator(outcomes, headline);
    if has_warm_up {
        course.warm_up.completed = merged[WARM_UP].requests.completed;
        course.warm_up.errors = merged[WARM_UP].errors();
    }
    let tables: Vec<_> = merged
        .iter_mut()
        .map(|tally| (steps(spec, tally), followed(spec, tally), paths(spec, tally)))
        .collect();
    let mut phases = phases(spec, &course, merged, asked);
    for ((phase, (steps, followed, paths)), slowest) in phases.iter_mut().zip(tables).zip(slowest) {
        (phase.measured.steps, phase.measured.by_request) = (steps, paths);
        phase.measured.followed = followed;
        phase.measured.slowest = slowest;
    }
    let measured = phases[headline].measured.clone();
    if spec.schedule.phases().is_none() {
        phases.clear();
    }
    LoadResult {
        io: io.into(),
        threads: spec.threads,
        started_unix_ns,
        started_ns: course.started_ns,
        measured_from_ns: course.measured_from_ns,
        measured_to_ns: course.measured_to_ns,
        warm_up: course.warm_up,
        measured,
        phases,
        windows: course.windows,
        generator,
        proxy: spec.proxy.as_ref().map(|proxy| proxy_use(proxy, outcomes)),
        tls: spec.tls.as_ref().map(|tls| tls_use(tls, outcomes)),
        websocket: websocket_use(outcomes),
        quic: quic_use(outcomes),
        // Whoever puts one in between knows of it.
        network: None,
        interrupted: course.interrupted,
        request_sample,
    }
}

/// The steps of a scenario in a stretch; all of them, whether any request was sent or not.
pub(crate) fn steps(spec: &LoadSpec, tally: &mut Tally) -> Vec<StepMeasured> {
    let Some(scenario) = &spec.scenario else { return Vec::new() };
    let mut counted = std::mem::take(&mut tally.steps).into_iter();
    let mut all = Vec::new();
    for part in scenario.parts() {
        for step in part.steps {
            let measured = counted.next().unwrap_or_default().into_measured(&step.name);
            all.push(StepMeasured { scenario: part.name.map(str::to_string), ..measured });
        }
    }
    all
}

/// The redirections that were followed in a stretch; `None` if the load follows none.
pub(crate) fn followed(spec: &LoadSpec, tally: &mut Tally) -> Option<Box<StepMeasured>> {
    let counted = std::mem::take(&mut tally.followed);
    (spec.follow > 0).then(|| Box::new(counted.into_measured("redirections followed")))
}

/// The table of paths of a stretch; empty if the load has none.
pub(crate) fn paths(spec: &LoadSpec, tally: &mut Tally) -> Vec<StepMeasured> {
    let counted = std::mem::take(&mut tally.paths);
    Paths::from_spec(spec).map_or(Vec::new(), |paths| paths.into_measured(counted))
}

/// Each stretch with its place in time. The names are for schedules with phases.
fn phases(spec: &LoadSpec, course: &Course, merged: Vec<Tally>, asked: u64) -> Vec<Phase> {
    let phases = spec.schedule.phases();
    let names = phases.map(|phases| phases.map(|(name, _)| name)).unwrap_or_default();
    let bounds = match phases {
        Some([(_, ramp_up_ns), (_, sustain_ns), _]) => {
            let sustain = course.start_ns + ramp_up_ns;
            vec![course.start_ns, sustain, sustain + sustain_ns, course.end_ns]
        }
        _ if merged.len() == 1 => vec![course.measured_from_ns, course.measured_to_ns],
        _ => vec![course.start_ns, course.measured_from_ns, course.measured_to_ns],
    };
    let within = |instant: u64| instant.clamp(course.started_ns.min(course.end_ns), course.end_ns);
    merged
        .into_iter()
        .zip(names)
        .zip(bounds.windows(2))
        .map(|((tally, name), bounds)| {
            let (from, to) = (within(bounds[0]), within(bounds[1]));
            Phase {
                name: name.into(),
                from_ns: from - course.started_ns.min(from),
                measured: tally.into_measured(to - from, asked),
            }
        })
        .collect()
}

/// What all threads have seen of the proxy.
fn proxy_use(proxy: &Proxy, outcomes: &[Outcome]) -> ProxyUse {
    let mut failures = BTreeMap::new();
    for (why, count) in outcomes.iter().flat_map(|outcome| &outcome.without_tunnel) {
        *failures.entry(why.clone()).or_default() += count;
    }
    ProxyUse { authority: proxy.authority.clone(), tunnel: proxy.tunnel.clone(), failures }
}

/// What all threads have seen of TLS.
fn tls_use(spec: &TlsSpec, outcomes: &[Outcome]) -> TlsUse {
    let mut all = config::nothing_yet(spec);
    outcomes.iter().filter_map(|outcome| outcome.tls.as_ref()).for_each(|seen| all.merge(seen));
    all
}

/// What all threads have seen of WebSockets.
fn websocket_use(outcomes: &[Outcome]) -> Option<WebSocketUse> {
    outcomes.iter().filter_map(|outcome| outcome.websocket.clone()).reduce(|mut all, one| {
        all.merge(&one);
        all
    })
}

/// What QUIC did on all threads.
fn quic_use(outcomes: &[Outcome]) -> Option<QuicUse> {
    outcomes.iter().filter_map(|outcome| outcome.quic).reduce(|mut all, one| {
        all.merge(&one);
        all
    })
}

fn generator(outcomes: &[Outcome], headline: usize) -> GeneratorUse {
    // Without marks the load was interrupted before measuring began.
    let spent = |of: fn(&Mark) -> u64| {
        outcomes.iter().map(move |outcome| {
            match (outcome.marks.get(headline), outcome.marks.get(headline + 1)) {
                (Some(from), Some(to)) => of(to) - of(from),
                _ => 0,
            }
        })
    };
    GeneratorUse {
        cpu_ns: spent(|mark| mark.cpu_ns).sum(),
        cpu_ns_by_thread: spent(|mark| mark.cpu_ns).collect(),
        spin_ns: spent(|mark| mark.spin_ns).sum(),
        max_rss_bytes: cpu::max_rss_bytes(),
        syscalls: Some(spent(|mark| mark.syscalls).sum()),
        // Each thread sees the same ones.
        clock_steps: spent(|mark| mark.clock_steps).max().unwrap_or(0),
    }
}
