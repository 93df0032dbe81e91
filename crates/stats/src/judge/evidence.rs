//! The input of a judge of one trial.
use pippin_model::host::usage::{Role, Usage};
use pippin_model::load::LoadSpec;
use pippin_model::plan::profile::{Connections, Profile, Stage};
use pippin_model::result::{LoadResult, Measured};
use pippin_model::run::{Calibration, RunHeader, UrlServer};
use pippin_model::scenario::Scenario;
use pippin_model::schedule::{UserStage, stages, users};
use pippin_model::text::units::{Spread, format_whole};
use pippin_model::trial::slice::Slice;
use pippin_model::trial::{Single, Step, TrialRecord, TrialSpec};
use pippin_model::verdict::{Caveat, Severity};
use pippin_model::workload::{Proof, Service, Workload};

use crate::bottleneck::cost::cores_of;
use crate::judge::answer::Unknown;
use crate::judge::answer_size::{AnswerSize, sizes_by_target};
use crate::judge::option_source::OptionSource;
use crate::scalability::ladder;
use crate::series::steady::slowed;

/// The shortest load whose CPU use is judged. The kernel's counters tick in hundredths of a second,
/// so a shorter time says nothing.
pub(crate) const SHORTEST_USAGE_NS: u64 = 900_000_000;

/// What is known besides the trial's own record.
#[derive(Debug, Clone, PartialEq)]
pub struct Context<'a> {
    /// The fraction of errors up to which a result is valid.
    pub errors_allowed: f64,
    /// The generator's ceiling on this machine, if it was calibrated.
    pub calibration: Option<&'a Calibration>,
    /// The specification of the run's first trial, which all others must equal; `None` for the
    /// first trial itself.
    pub first: Option<&'a TrialSpec>,
    /// The answer sizes of the run's other targets so far.
    pub other_answers: Vec<AnswerSize>,
    /// The wait that the workload itself contains (upstream, device).
    pub expected_delay: Option<Spread>,
    /// The services that the workload needs.
    pub services: &'a [Service],
    /// Whether a target without proofs is expected here: a load of a URL never has any.
    pub may_be_unproved: bool,
    /// Why the server's use of its machine is not measured; `None` if it is.
    pub server_not_seen: Option<&'a str>,
    /// Why a server on this machine is not measured, so that its work looks like that of other
    /// programs. `None` if it is measured, or on another machine.
    pub unmeasured: Option<&'a str>,
}

impl Default for Context<'_> {
    /// Without any knowledge, and with 0.1 % of errors allowed.
    fn default() -> Self {
        Self {
            errors_allowed: 0.001,
            calibration: None,
            first: None,
            other_answers: Vec::new(),
            expected_delay: None,
            services: &[],
            may_be_unproved: false,
            server_not_seen: None,
            unmeasured: None,
        }
    }
}

impl<'a> Context<'a> {
    /// The context of the trial `spec` in a run whose trials so far are `before`.
    #[must_use]
    pub fn of_run(header: &'a RunHeader, before: &'a [TrialRecord], spec: &TrialSpec) -> Self {
        let others =
            sizes_by_target(before).into_iter().filter(|(target, _)| *target != spec.target);
        Self {
            errors_allowed: header.plan.errors_allowed,
            calibration: header.calibration.as_ref(),
            first: before.first().map(|record| &record.spec),
            other_answers: others.map(|(_, size)| size).collect(),
            expected_delay: expected_delay(&header.workload, header.plan.upstream_delay_ns),
            services: &header.workload.services,
            may_be_unproved: header.url.is_none(),
            server_not_seen: match &header.server {
                Some(UrlServer::Not { reason, is_here: false }) => Some(reason),
                _ => None,
            },
            unmeasured: match &header.server {
                Some(UrlServer::Not { reason, is_here: true }) => Some(reason),
                _ => None,
            },
        }
    }
}

/// The wait that every answer of the workload contains: the upstream's delay, or the wait that its
/// proof requires.
#[must_use]
pub fn expected_delay(workload: &Workload, upstream_delay_ns: u64) -> Option<Spread> {
    if workload.services.contains(&Service::Upstream) {
        return Some(Spread::exactly(upstream_delay_ns));
    }
    workload.proofs.iter().find_map(|proof| match proof {
        Proof::Delay { wait, .. } => Spread::parse(wait).ok(),
        _ => None,
    })
}

/// Single requests may take this many times as long as the median of the load, by chance.
const COLD: f64 = 1.5;
/// A server that answered so many times as much before is another one now.
const FASTER: f64 = 1.5;

/// The single requests of a trial, unless they were those of another server than the load's
/// ([`Evidence::single`]).
pub(crate) fn single_of(record: &TrialRecord) -> Option<Single> {
    let (single, load) = (record.single?, record.load.as_ref()?);
    let under_load = load.measured.spans.service_time.quantile_ns(0.5);
    let is_cold = under_load.is_some_and(|ns| single.median_ns as f64 > COLD * ns as f64);
    (!is_cold && !is_slower(record)).then_some(single)
}

/// Whether the target of a closed loop answered more before than now, although its users did not change.
fn is_slower(record: &TrialRecord) -> bool {
    let profile = &record.spec.profile;
    let has_slowed = |load| slowed(load, FASTER).is_some();
    !profile.schedule.sets_the_pace()
        && !profile.changes()
        && record.load.as_ref().is_some_and(has_slowed)
}

/// A trial's record and its context.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The trial.
    pub record: &'a TrialRecord,
    /// What is known besides it.
    pub context: &'a Context<'a>,
}

impl<'a> Evidence<'a> {
    /// What the generator measured.
    #[must_use]
    pub fn load(&self) -> Option<&'a LoadResult> {
        self.record.load.as_ref()
    }

    /// What the generator measured, for a judge that cannot tell without it.
    ///
    /// # Errors
    /// If nothing was measured.
    pub fn needs_load(&self) -> Result<&'a LoadResult, Unknown> {
        self.load().ok_or_else(|| Unknown::because("nothing was measured"))
    }

    /// The headline, for a judge that cannot tell without it.
    ///
    /// # Errors
    /// If nothing was measured.
    pub fn needs_measured(&self) -> Result<&'a Measured, Unknown> {
        self.needs_load().map(|load| &load.measured)
    }

    /// The kernel's figures over the measured part, however short, for a judge that cannot tell
    /// without them.
    ///
    /// # Errors
    /// If they are not known.
    pub fn needs_usage(&self) -> Result<&'a Usage, Unknown> {
        let usage = self.record.usage.as_ref();
        usage.ok_or_else(|| Unknown::because("the kernel's counters are not known"))
    }

    /// The median of the service time in nanoseconds, for a judge that cannot tell without it.
    ///
    /// # Errors
    /// If no answer was timed.
    pub fn needs_median_ns(&self) -> Result<u64, Unknown> {
        let median = self.needs_measured()?.spans.service_time.quantile_ns(0.5);
        median.ok_or_else(|| Unknown::because("no answer was timed"))
    }

    /// The headline.
    #[must_use]
    pub fn measured(&self) -> Option<&'a Measured> {
        self.load().map(|load| &load.measured)
    }

    /// The resource usage, if it covers about a second or more.
    #[must_use]
    pub fn usage(&self) -> Option<&'a Usage> {
        self.record.usage.as_ref().filter(|usage| usage.duration_ns >= SHORTEST_USAGE_NS)
    }

    /// How load was applied.
    #[must_use]
    pub fn profile(&self) -> &'a Profile {
        &self.record.spec.profile
    }

    /// How long the generator held a user for each request on average, if users wait for their
    /// answers: from the end of an answer, or of the thought, to the next request. This is the own
    /// lag, and not part of the response time. If the kernel does not stamp arrivals (unix
    /// sockets), answers end when they are read, so the wait before that is in the response time.
    /// `None` in records from before the stamps, whose response times include the lag.
    #[must_use]
    pub fn own_lag_ns(&self) -> Option<f64> {
        let measured = self.measured().filter(|measured| measured.stamps.name().is_some())?;
        self.offered_per_s().is_none().then(|| measured.spans.own_lag.mean_ns())?
    }

    /// The own lag if the kernel stamped the arrivals, so that it is the whole time that the
    /// generator held.
    #[must_use]
    pub fn held_ns(&self) -> Option<f64> {
        self.own_lag_ns().filter(|_| self.measured().is_some_and(|seen| seen.stamps.kernel > 0))
    }

    /// The single requests before the load. `None` if they took longer than those of the load: what
    /// has the server for itself is not slower for that, so it was cold. `None`, too, if the server of
    /// a closed loop has become slower since then, so that a single request would take longer now.
    #[must_use]
    pub fn single(&self) -> Option<Single> {
        single_of(self.record)
    }

    /// The time of a request that does not queue, in nanoseconds: that of single requests before
    /// the load, or else the workload's own wait. The shortest time under load may include
    /// queueing. A broadcast to one connection cannot stand for one to many.
    #[must_use]
    pub fn single_ns(&self) -> Option<f64> {
        if self.is_broadcast() || is_slower(self.record) {
            return None;
        }
        let single = self.single().map(|single| single.median_ns as f64);
        single.or_else(|| self.context.expected_delay.map(|delay| delay.mean_ns as f64))
    }

    /// Length of the measured part in seconds.
    #[must_use]
    pub fn duration_s(&self) -> Option<f64> {
        self.measured().map(|measured| measured.duration_ns as f64 / 1e9).filter(|s| *s > 0.0)
    }

    /// The number of stretches in the measured part: its slices, or one.
    #[must_use]
    pub fn stretches(&self) -> f64 {
        self.record.slices.iter().filter(|slice| slice.used).count().max(1) as f64
    }

    /// Whether the stretches of the measured part explain that this share of connections or requests has
    /// service times this many times as long as others. Their medians lie at least half as far apart, on
    /// a logarithmic scale: a machine that changes its speed between two slices makes two kinds of times,
    /// and each slice has one. Or a closed loop had so many fewer answers per second in at least half
    /// that share of the slices: the server stood still in these.
    #[must_use]
    pub fn stretches_explain(&self, times: f64, share: f64) -> bool {
        let used = || self.record.slices.iter().filter(|slice| slice.used);
        let medians = used().filter_map(|slice| slice.figures.service.p50_ns).filter(|ns| *ns > 0);
        let (least, most) =
            medians.fold((u64::MAX, 0), |(least, most), ns| (least.min(ns), most.max(ns)));
        let between = most as f64 / least as f64;
        if between > 1.0 && between * between >= times {
            return true;
        }
        let rate = |slice: &Slice| slice.figures.answered as f64 / slice.measured_ns.max(1) as f64;
        let most = used().map(rate).fold(0.0, f64::max);
        let slow = used().filter(|slice| rate(slice) * times.sqrt() <= most).count() as f64;
        self.is_closed_loop() && slow > 0.0 && slow >= 0.5 * share * self.stretches()
    }

    /// Complete answers per second, if there were any.
    #[must_use]
    pub fn throughput_per_s(&self) -> Option<f64> {
        self.measured()?.throughput_per_s().filter(|x| *x > 0.0)
    }

    /// Cores that a role kept busy.
    #[must_use]
    pub fn cores(&self, role: Role) -> Option<f64> {
        cores_of(self.usage()?, role)
    }

    /// Whether the kernel dropped connections at the target's own listen queue, which the judge
    /// `listen_overflows` says. They are tried again after a second or more, which explains long
    /// answers and users who wait.
    #[must_use]
    pub fn drops_connections(&self) -> bool {
        let usage = self.record.usage.as_ref();
        usage.and_then(|usage| usage.listen_drops).is_some_and(|dropped| dropped > 0)
    }

    /// Whether requests of more than one kind are sent, so that answers of several kinds are
    /// expected.
    #[must_use]
    pub fn has_kinds_of_requests(&self) -> bool {
        self.record.load_spec.as_ref().is_some_and(|spec| spec.requests.len() > 1)
    }

    /// Whether the next request waits for the last answer, without think time.
    #[must_use]
    pub fn is_saturating(&self) -> bool {
        self.is_closed_loop()
            && self.profile().schedule.think().is_none()
            && self
                .scenario()
                .is_none_or(|scenario| scenario.steps.iter().all(|step| step.think.is_none()))
    }

    fn scenario(&self) -> Option<&Scenario> {
        self.record.load_spec.as_ref()?.scenario.as_ref()
    }

    /// Whether a fixed number of users each wait for their answer.
    #[must_use]
    pub fn is_closed_loop(&self) -> bool {
        !self.profile().schedule.sets_the_pace()
    }

    /// Whether this load is meant to go beyond what the target can do: a step of a capacity search,
    /// an overload, or the last of several rates if the target did not keep up with it. If it was
    /// the first one, the target is no good at any.
    #[must_use]
    pub fn goes_beyond(&self) -> bool {
        let profile = self.profile();
        let is_last_rate = || {
            profile.steps.known().first().copied() != self.record.spec.step
                && ladder::leaves(self.record).is_some()
        };
        profile.is_search() || profile.is_overload() || is_last_rate()
    }

    /// The stages of a rate that changes within the measured part, as they were applied.
    #[must_use]
    pub fn shape(&self) -> Option<&'a [Stage]> {
        let planned = self.profile().shape()?;
        let applied = self.record.load_spec.as_ref().and_then(|spec| spec.schedule.stages());
        Some(applied.unwrap_or(planned))
    }

    /// The stages of users that come and go, as they were applied.
    #[must_use]
    pub fn user_stages(&self) -> Option<&'a [UserStage]> {
        let planned = self.record.spec.profile.schedule.user_stages()?;
        let applied = self.record.load_spec.as_ref().and_then(|spec| spec.schedule.user_stages());
        Some(applied.unwrap_or(planned))
    }

    /// How many requests may be under way on each connection, as the generator was asked.
    #[must_use]
    pub fn pipeline(&self) -> u32 {
        self.asked().pipeline.max(1) * self.streams()
    }

    /// Users of each connection: over HTTP/2 each has its own stream.
    #[must_use]
    pub fn streams(&self) -> u32 {
        self.asked().streams.max(1)
    }

    /// How the generator was asked to use connections.
    fn asked(&self) -> Connections {
        let asked = self.record.load_spec.as_ref().map(|spec| spec.connections);
        asked.unwrap_or(self.profile().connections)
    }

    /// Connections (devices) requested. Where users come and go, how many are there on average.
    #[must_use]
    pub fn connections(&self) -> Option<f64> {
        if let Some(stages) = self.user_stages() {
            return self.measured().map(|_| users::mean(stages));
        }
        self.measured().map(|measured| measured.connections.asked as f64).filter(|n| *n > 0.0)
    }

    /// Connections whose users send. In a broadcast only one sends, and all others listen.
    #[must_use]
    pub fn senders(&self) -> Option<f64> {
        self.connections().map(|all| if self.is_broadcast() { 1.0 } else { all })
    }

    /// How many requests may be under way at one time; in a closed loop, its users.
    #[must_use]
    pub fn users(&self) -> Option<f64> {
        self.senders().map(|senders| senders * f64::from(self.pipeline()))
    }

    /// Whether each message must come to every connection.
    fn is_broadcast(&self) -> bool {
        self.record.load_spec.as_ref().is_some_and(LoadSpec::is_broadcast)
    }

    /// The offered rate in requests per second, if the profile has one; if it changes, its mean
    /// over the measured part.
    #[must_use]
    pub fn offered_per_s(&self) -> Option<f64> {
        if let Some(stages) = self.shape() {
            let length_ns = self.measured()?.duration_ns;
            let due = stages::due_between(stages, 0, length_ns);
            return (length_ns > 0).then(|| due * 1e9 / length_ns as f64);
        }
        match self.record.spec.step {
            Some(Step::Rate { per_s }) => Some(per_s),
            _ => self.profile().schedule.rate_per_s(),
        }
    }

    /// The offered rate at the end of the measured part.
    #[must_use]
    pub fn offered_at_the_end_per_s(&self) -> Option<f64> {
        match self.shape() {
            Some(stages) => Some(stages::rate_at(stages, self.measured()?.duration_ns)),
            None => self.offered_per_s(),
        }
    }

    /// Think time between answer and next request.
    #[must_use]
    pub fn think(&self) -> Option<Spread> {
        self.profile().schedule.think()
    }

    /// Mean think time for each answer, in nanoseconds. For a scenario, each step counts as often
    /// as it was answered. A device does not think after its last answer: it is replaced.
    #[must_use]
    pub fn mean_think_ns(&self) -> f64 {
        let answers = self.profile().schedule.requests_per_user().map(f64::from);
        let followed = answers.map_or(1.0, |answers| (answers - 1.0).max(0.0) / answers.max(1.0));
        self.mean_think_after_ns() * followed
    }

    /// Mean think time between an answer and the next request of the same user.
    fn mean_think_after_ns(&self) -> f64 {
        let of_load = self.think().map_or(0.0, |think| think.mean_ns as f64);
        let (Some(scenario), Some(measured)) = (self.scenario(), self.measured()) else {
            return of_load;
        };
        // Nobody thinks after a redirection.
        let followed = measured.followed.as_ref().map_or(0, |followed| followed.completed);
        let answers: u64 = followed + measured.steps.iter().map(|step| step.completed).sum::<u64>();
        let thought = measured.steps.iter().zip(&scenario.steps).map(|(counted, step)| {
            counted.completed as f64 * step.think.map_or(of_load, |think| think.mean_ns as f64)
        });
        if answers == 0 { of_load } else { thought.sum::<f64>() / answers as f64 }
    }

    /// Requests after which the generator was to close a connection; `None` keeps it.
    #[must_use]
    pub fn requests_per_connection(&self) -> Option<u32> {
        self.profile().requests_per_connection()
    }

    /// Where the user says what is measured.
    #[must_use]
    pub fn option_source(&self) -> OptionSource {
        OptionSource::from_spec(&self.record.spec)
    }

    /// The number of requests at which the load ends, if the profile sets one.
    #[must_use]
    pub fn counted_requests(&self) -> Option<u64> {
        self.profile().stop.requests
    }
}

pub(crate) fn caveat(
    id: &str,
    severity: Severity,
    evidence: String,
    advice: impl Into<String>,
) -> Caveat {
    Caveat { id: id.into(), severity, evidence, advice: advice.into() }
}

/// A number of things, without decimals: `9`, `37,258`.
pub(crate) fn whole(count: f64) -> String {
    format_whole(count.round() as u64)
}

/// `0.973` as `97.3 %`.
pub(crate) fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    let digits = if value != 0.0 && value.abs() < 1.0 {
        3
    } else if value.abs() < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$} %")
}
