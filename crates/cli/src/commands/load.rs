//! `pippin load`
use pippin_engine::http1::request::Request;
use pippin_engine::{Control, EngineError};
use pippin_lab::lifecycle::affinity;
use pippin_lab::load::{self, Connecting};
use pippin_lab::observer::{Event, Observer};
use pippin_lab::trial::empty_record;
use pippin_model::caveat::Verdict;
use pippin_model::cpus::{CpuSet, CpuSplit};
use pippin_model::load_result::Window;
use pippin_model::load_spec::{BodyCheck, Check, Connections, IoChoice, LoadSpec, RequestTemplate};
use pippin_model::objective::Objective;
use pippin_model::profile::Profile;
use pippin_model::target::TargetId;
use pippin_model::tls::TlsSpec;
use pippin_model::trial::{Failure, Stage, Step, TrialRecord, TrialSpec};
use pippin_model::units::{format_count, parse_duration_ns};
use pippin_probe::{RoleRoot, Roots, Sampler, usage_between};
use pippin_report::load_report::LoadReport;
use pippin_stats::{capacity, judge, objective};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::load_url::Url;
use super::{Shared, load_profile, load_tls, print, root};
use crate::arguments::LoadArguments;
use crate::exit::{self, CliError};
use crate::live::Subject;
use crate::output;
use crate::progress;
use crate::signals;

pub fn run(shared: &Shared, arguments: &LoadArguments) -> Result<u8, CliError> {
    let url = Url::parse(&arguments.url)?;
    let profile = load_profile::of(arguments)?;
    let tls = load_tls::of(arguments, &url)?;
    let timeout = timeout(arguments)?;
    let addresses = url.resolve(&arguments.allow_host, timeout)?;
    if let Some(folder) = arguments
        .json
        .as_deref()
        .and_then(Path::parent)
        .filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
    {
        return Err(CliError::User(format!(
            "--json: there is no folder {}; make it first",
            folder.display()
        )));
    }
    load_tls::try_it(&addresses, tls.as_ref(), timeout)?;
    let session = Session { shared, arguments, url, addresses, tls, profile };
    let records = session.all_steps()?;
    session.show(&records)
}

fn duration(name: &str, text: &str) -> Result<u64, CliError> {
    parse_duration_ns(text).map_err(|error| CliError::User(format!("{name}: {error}")))
}

/// How long an answer may take, which bounds opening a connection too.
fn timeout(arguments: &LoadArguments) -> Result<Duration, CliError> {
    match duration("--timeout", &arguments.timeout)? {
        0 => Err(CliError::User("--timeout must be longer than 0".into())),
        timeout_ns => Ok(Duration::from_nanos(timeout_ns)),
    }
}

struct Session<'a> {
    shared: &'a Shared,
    arguments: &'a LoadArguments,
    url: Url,
    addresses: Vec<SocketAddr>,
    /// `None` for http.
    tls: Option<TlsSpec>,
    profile: Profile,
}

impl Session<'_> {
    fn all_steps(&self) -> Result<Vec<TrialRecord>, CliError> {
        let stop = signals::catch();
        let observer =
            progress::observer(self.shared.quiet, Subject::Url(self.arguments.url.clone()));
        let mut records = Vec::new();
        if let Profile::Capacity { objective, start_rate_per_s, precision, .. } = &self.profile {
            let mut search = capacity::Search::new(*start_rate_per_s, *precision);
            while let Some(per_s) = search.next() {
                let record = self.one(
                    Some(Step::Rate { per_s }),
                    (records.len() + 1, records.len() + 1),
                    observer.as_ref(),
                )?;
                let held = holds(&record, objective);
                search.observe(per_s, held);
                observer.event(&Event::Note(&format!(
                    "{} requests/s: {}",
                    format_count(per_s),
                    if held { "held" } else { "not held" }
                )));
                records.push(record);
                if stop.load(Ordering::Relaxed) || has_failed(&records) {
                    break;
                }
            }
            return Ok(records);
        }
        let steps = load::steps(&self.profile);
        for (index, step) in steps.iter().enumerate() {
            records.push(self.one(*step, (index + 1, steps.len()), observer.as_ref())?);
            if stop.load(Ordering::Relaxed) || has_failed(&records) {
                break;
            }
        }
        Ok(records)
    }

    /// One load; `place` is its number and how many there are.
    fn one(
        &self,
        step: Option<Step>,
        place: (usize, usize),
        observer: &dyn Observer,
    ) -> Result<TrialRecord, CliError> {
        let spec = self.load_spec(step)?;
        let trial = self.trial_spec(step, &spec);
        let mut record = empty_record(&trial);
        observer.event(&Event::TrialStarted(&trial, place.0, place.1));
        let roles = BTreeMap::from([(
            pippin_model::usage::Role::Generator,
            vec![RoleRoot::Process(std::process::id() as i32)],
        )]);
        // What listens on a port of another host is in no table of this one.
        let port = self
            .addresses
            .iter()
            .all(|address| address.ip().is_loopback())
            .then(|| self.addresses[0].port());
        let roots = Roots { roles, log: None, port };
        let sampler = Sampler::start(roots, Duration::from_millis(200), None)
            .map_err(|error| CliError::User(error.to_string()))?;
        let on_window =
            |window: &Window| observer.event(&Event::Window(window, sampler.latest().as_ref()));
        let stop = signals::catch();
        observer.event(&Event::Stage("measuring"));
        let result = pippin_engine::run(
            &spec,
            &Control {
                on_window: Some(&on_window),
                ..Control::new(stop, pippin_stats::steady::has_settled)
            },
        );
        let samples = sampler.stop();
        let load = match result {
            Ok(load) => load,
            Err(error) => {
                let message = error.to_string();
                let EngineError::Died { measured: Some(measured), .. } = error else {
                    return Err(error.into());
                };
                record.failure =
                    Some(Failure { stage: Stage::Load, message, log_tail: Vec::new() });
                *measured
            }
        };
        record.usage = usage_between(&samples, load.measured_from_ns, load.measured_to_ns);
        record.samples = samples;
        record.load = Some(load);
        record.caveats = judge::judge_trial(
            &record,
            &judge::Context {
                calibration: self.calibration().as_ref(),
                ..judge::Context::default()
            },
        );
        record.verdict = Verdict::of(&record.caveats);
        observer.event(&Event::TrialFinished(&record));
        Ok(record)
    }

    fn calibration(&self) -> Option<pippin_model::run::Calibration> {
        if self.tls.is_some() {
            // The ceiling was measured without TLS, which costs the generator more than all the
            // rest.
            return None;
        }
        let path =
            self.shared.store.clone().or_else(|| Some(root().ok()?.join(".pippin/pippin.db")))?;
        // Loading a URL makes no database.
        path.is_file().then(|| pippin_store::Store::open(&path).ok()?.calibration().ok()?).flatten()
    }

    fn load_spec(&self, step: Option<Step>) -> Result<LoadSpec, CliError> {
        let arguments = self.arguments;
        let cpus = arguments
            .cpus
            .as_deref()
            .map(|text| {
                CpuSet::parse(text).map_err(|error| CliError::User(format!("--cpus: {error}")))
            })
            .transpose()?;
        if let Some(missing) = cpus
            .as_ref()
            .and_then(|cpus| cpus.0.difference(&affinity::available().0).next().copied())
        {
            return Err(CliError::User(format!(
                "--cpus names processor {missing}, but this process may use {}",
                affinity::available()
            )));
        }
        let cores: Vec<u32> = cpus.map(|cpus| cpus.0.into_iter().collect()).unwrap_or_default();
        let threads = arguments.threads.unwrap_or(cores.len().max(1) as u32);
        let connecting =
            Connecting { address: self.addresses[0], cores, threads, seed: arguments.seed };
        let mut spec = load::spec(&self.profile, step, &connecting, vec![self.template()?]);
        // Asked for, and so refused by the engine where it cannot be.
        if arguments.threads.is_some() {
            spec.threads = threads;
        }
        spec.addresses.clone_from(&self.addresses);
        spec.tls.clone_from(&self.tls);
        spec.connections = Connections { pipeline: arguments.pipeline, ..spec.connections };
        spec.timeouts.request_ns = timeout(self.arguments)?.as_nanos() as u64;
        spec.timeouts.connect_ns = spec.timeouts.connect_ns.min(spec.timeouts.request_ns);
        if !arguments.source_ips.is_empty() {
            spec.source_addresses.clone_from(&arguments.source_ips);
        }
        spec.io = match arguments.io.as_str() {
            "epoll" => IoChoice::Epoll,
            "io_uring" => IoChoice::IoUring,
            _ => IoChoice::Auto,
        };
        spec.spin_ns =
            arguments.spin.as_deref().map(|text| duration("--spin", text)).transpose()?;
        Ok(spec)
    }

    fn template(&self) -> Result<RequestTemplate, CliError> {
        let arguments = self.arguments;
        let mut headers = Vec::new();
        for field in &arguments.headers {
            let (name, value) = field
                .split_once(':')
                .ok_or_else(|| CliError::User(format!("-H `{field}` is not NAME: VALUE")))?;
            headers.push((name.trim(), value.trim()));
        }
        if !load::keeps_alive(&self.profile) {
            headers.push(("Connection", "close"));
        }
        let body = arguments.body.as_deref().unwrap_or_default().as_bytes();
        let request = Request {
            method: &arguments.method,
            target: &self.url.target,
            host: &self.url.authority,
            headers: &headers,
            body,
        };
        let bytes = request.to_bytes().map_err(|error| CliError::User(error.to_string()))?;
        let body = arguments
            .expect_body
            .as_ref()
            .map_or(BodyCheck::Any, |body| BodyCheck::Exact(body.clone().into_bytes()));
        Ok(RequestTemplate {
            bytes,
            head_only: arguments.method == "HEAD",
            check: Check { status: arguments.expect_status.clone(), body },
        })
    }

    fn trial_spec(&self, step: Option<Step>, spec: &LoadSpec) -> TrialSpec {
        let generator = CpuSet(spec.cores.iter().copied().collect());
        TrialSpec {
            target: TargetId { language: "url".into(), name: "load".into(), variant: None },
            workload: "url".into(),
            profile: self.profile.clone(),
            repetition: 0,
            step,
            cpus: CpuSplit { target: CpuSet::default(), generator, services: CpuSet::default() },
            workers: 0,
            seed: spec.seed,
        }
    }

    fn show(&self, records: &[TrialRecord]) -> Result<u8, CliError> {
        let reports: Vec<LoadReport> = records
            .iter()
            .filter_map(|record| LoadReport::of(&self.arguments.url, record))
            .collect();
        let json = match reports.as_slice() {
            [one] => serde_json::to_string_pretty(one),
            several => serde_json::to_string_pretty(several),
        }
        .map_err(|error| CliError::Io("write JSON".into(), error.into()))?;
        match self.arguments.json.as_deref() {
            Some(path) if path.as_os_str() == "-" => drop(print(format!("{json}\n").as_bytes())?),
            Some(path) => {
                self.print_text(&reports)?;
                std::fs::write(path, json + "\n")
                    .map_err(CliError::io(format!("write {}", path.display())))?;
            }
            None => self.print_text(&reports)?,
        }
        if let Profile::Capacity { objective, .. } = &self.profile {
            let line = match self.capacity(records) {
                Some(rate) => {
                    format!("capacity: {} requests/s keep {objective}", format_count(rate))
                }
                None => format!("capacity: no rate that was tried keeps {objective}"),
            };
            output::say(line);
        }
        for failure in records.iter().filter_map(|record| record.failure.as_ref()) {
            output::say(format_args!("pippin: {}", failure.message));
        }
        Ok(self.exit_code(records))
    }

    fn print_text(&self, reports: &[LoadReport]) -> Result<(), CliError> {
        let text: Vec<String> = reports.iter().map(LoadReport::text).collect();
        print(text.join("\n").as_bytes())?;
        Ok(())
    }

    /// The highest rate that held in a capacity search.
    fn capacity(&self, records: &[TrialRecord]) -> Option<f64> {
        let Profile::Capacity { objective, .. } = &self.profile else { return None };
        let rates = records.iter().filter(|record| holds(record, objective)).filter_map(|record| {
            match record.spec.step {
                Some(Step::Rate { per_s }) => Some(per_s),
                _ => None,
            }
        });
        rates.max_by(f64::total_cmp)
    }

    fn exit_code(&self, records: &[TrialRecord]) -> u8 {
        if has_failed(records) {
            return exit::LAB_FAILURE;
        }
        if signals::catch().load(Ordering::Relaxed) {
            return exit::INTERRUPTED;
        }
        if matches!(self.profile, Profile::Capacity { .. }) {
            return if self.capacity(records).is_some() { exit::OK } else { exit::FAILED };
        }
        if records.iter().any(|record| record.verdict == Verdict::Invalid) {
            exit::INVALID
        } else {
            exit::OK
        }
    }
}

/// Whether a part of the engine died.
fn has_failed(records: &[TrialRecord]) -> bool {
    records.iter().any(|record| record.failure.is_some())
}

fn holds(record: &TrialRecord, bounds: &Objective) -> bool {
    record.load.as_ref().is_some_and(|load| objective::misses(bounds, &load.measured).is_empty())
}
