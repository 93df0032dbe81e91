//! `pippin load`: arguments -> a load of a URL -> store -> view.
//!
//! | module | what it makes from the flags |
//! |---|---|
//! | [`digest`] | who asks, where the server asks for a digest |
//! | [`follow`] | what is followed of redirections |
//! | [`profile`] | how load is applied |
//! | [`protocol`] | the protocol, and one connection before the load |
//! | [`reach`] | where connections go |
//! | [`request_id`] | what each request is called |
//! | [`samples`] | a file with every request |
//! | [`request`], [`body`], [`message`] | the requests and the right answers |
//! | [`tls`] | how connections are secured |
mod body;
mod digest;
mod follow;
mod grpc;
mod message;
pub mod profile;
pub mod protocol;
pub mod reach;
pub mod request;
mod request_id;
mod samples;
pub mod tls;

use pippin_fleet::agent::look_up;
use pippin_fleet::fleet::Fleet;
use pippin_lab::lifecycle::affinity;
use pippin_lab::load;
use pippin_lab::load::greeting::{self, Greeting};
use pippin_lab::load::url::{UrlLoad, failure, run as execute, target_of};
use pippin_lab::run::observer::{All, Observer};
use pippin_lab::run::recording::Keeping;
use pippin_lab::trial::Watch;
use pippin_lab::trial::generator::{Generator, Here};
use pippin_model::load::{FirstWords, LoadSpec, Protocol, Timeouts};
use pippin_model::plan::cpus::CpuSet;
use pippin_model::plan::profile::Profile;
use pippin_model::run::{Calibration, RunRecord, RunState};
use pippin_model::text::units::counted;
use pippin_model::verdict::Verdict;
use pippin_model::verdict::gate::Undecided;
use pippin_report::html;
use pippin_report::view::{View, load::SearchView, row::Row};
use pippin_store::Store;
use std::net::SocketAddr;
use std::time::Duration;

use self::request::LoadRequests;
use self::samples::Samples;
use super::gates::{Gates, files_must_be_writable, files_of};
use super::nats::settings;
use super::revision_bases::RevisionBases;
use super::run::keep_digest;
use super::{Shared, fleet};
use crate::arguments::LoadArguments;
use crate::exit::{self, CliError};
use crate::fail_fast::FailFast;
use crate::live::Subject;
use crate::outlets::Outlets;
use crate::output::say;
use crate::output_file::{all_written, must_be_writable, must_differ, write};
use crate::progress;
use crate::signals;
use crate::values;

pub fn run(shared: &Shared, arguments: &LoadArguments) -> Result<u8, CliError> {
    let labels = arguments.labels.labels()?;
    let asked = follow::with_redirections(arguments, request::all(arguments)?)?;
    let profile = profile::from_arguments(arguments, asked.scenario.as_ref())?;
    arguments.json.must_be_writable()?;
    must_be_writable("--html", arguments.html.as_deref())?;
    must_be_writable("--timeseries", arguments.outlets.timeseries.as_deref())?;
    files_must_be_writable(&arguments.gates)?;
    let samples = Samples::from_arguments(arguments)?;
    let [junit, summary] = files_of(&arguments.gates);
    must_differ(&[
        ("--requests", arguments.files.requests.as_deref()),
        ("--urls-from-file", arguments.files.urls_from_file.as_deref()),
        ("--store", shared.store.as_deref()),
        ("--json", arguments.json.file.as_deref()),
        ("--html", arguments.html.as_deref()),
        ("--timeseries", arguments.outlets.timeseries.as_deref()),
        ("--samples", arguments.samples.as_deref()),
        junit,
        summary,
    ])?;
    let (mut base, host) = base_of(arguments, &asked)?;
    if host.is_none() {
        await_greeting(&mut base);
    }
    let target = target_of(&asked.title());
    let revisions = RevisionBases::default();
    let own = std::slice::from_ref(&target);
    let none = (&[][..], Undecided::default());
    let gates = Gates::prepare(shared, &arguments.gates, own, none, &revisions)?;
    let store = store(shared, arguments);
    let observed = observed(&base, host.as_ref());
    let fleet = fleet_of(shared, arguments, (&base, &profile, host))?;
    let load = UrlLoad {
        url: asked.url.whole(),
        title: asked.title(),
        request: asked.in_workload(),
        status: values::statuses_of(&arguments.request.expect_status)
            .first()
            .copied()
            .unwrap_or(200),
        // The ceiling was measured over HTTP/1.1 without TLS (which costs more than everything
        // else) and with one generator, so it only applies to such loads.
        calibration: store
            .as_ref()
            .filter(|_| base.tls.is_none() && base.protocol == Protocol::Http1 && fleet.is_none())
            .and_then(calibration),
        profile,
        repetitions: arguments.repeat,
        base,
        observed,
        labels,
        keep_requests: arguments.kept.keep_requests,
        generator: fleet.as_ref().map_or(&Here as &dyn Generator, |fleet| fleet),
        target_pids: arguments.target_pid.clone(),
        follows_tiers: arguments.tiers == values::Switch::On,
        keeps_going: arguments.keep_going,
    };
    let kept = store.as_ref().filter(|_| !arguments.no_store);
    let observer = progress::observer(shared.manner(), Subject::Url(asked.title()), kept);
    let keeping = kept.map_or(Keeping::Not, Keeping::IfPossible);
    let stop = signals::catch();
    let outlets = Outlets::open(&arguments.outlets)?;
    let fail_fast = arguments.fail_fast.then(|| FailFast::new(gates.all(), stop));
    let mut listeners: Vec<&dyn Observer> = vec![&observer];
    listeners.extend(outlets.listeners());
    listeners.extend(fail_fast.iter().map(|it| it as &dyn Observer));
    let record = execute(load, keeping, &Watch { observer: &All(listeners), stop })?;
    // From here on, the terminal shows the result.
    drop(observer);
    let view = View::of(&record);
    if let Some(store) = kept {
        keep_digest(store, &view);
    }
    let is_stored = arguments.no_store || kept.is_some_and(|store| has(store, &record));
    let is_text = !arguments.json.is_stdout();
    let lost = fail_fast.and_then(|it| it.lost());
    // What cannot be written must not take with it what can.
    let written = [
        samples.map_or(Ok(()), |samples| samples.write(&record)),
        outlets.finish(),
        page(arguments, &record, &view),
    ];
    let shown = show(shared, arguments, &record, &view);
    let judged = gates.conclude(&record, lost.as_ref(), is_text);
    all_written(written)?;
    let (code, of_gates) = (shown?, judged?);
    if let Some(lost) = lost {
        say(format_args!("--fail-fast ended this load: {}", lost.why));
        return Ok(exit::FAILED);
    }
    let code = exit::worst(code, of_gates);
    Ok(if is_stored { code } else { exit::worst(code, exit::LAB_FAILURE) })
}

/// Whether all trials of a run are in the store.
fn has(store: &Store, record: &RunRecord) -> bool {
    store.load(&record.header.id).is_ok_and(|kept| kept.trials.len() == record.trials.len())
}

/// What the engine is asked to do, without the profile. One connection to the server has shown that
/// it answers, unless only agents look it up: then its host and port come beside.
fn base_of(
    arguments: &LoadArguments,
    asked: &LoadRequests,
) -> Result<(LoadSpec, Option<(String, u16)>), CliError> {
    let url = &asked.url;
    let protocol = protocol::from_arguments(&arguments.protocol, arguments.shape.pipeline, url)?;
    protocol::check(protocol, &asked.requests)?;
    let tls = tls::from_arguments(&arguments.tls, url)?;
    let timeouts = timeouts(arguments.timeout.ns());
    let connect = Duration::from_nanos(timeouts.connect_ns);
    let base = LoadSpec {
        by_request: true,
        follow: asked.follow,
        request_id: request_id::from_arguments(arguments, asked)?,
        digest: digest::from_arguments(arguments, protocol)?,
        slowest: arguments.slowest.unwrap_or(0),
        samples: arguments.samples.as_ref().map_or(0, |_| arguments.samples_most),
        tls,
        protocol,
        messages: asked.messages,
        first_words: asked.first_words.clone(),
        source_addresses: arguments.source_ips.clone(),
        requests: asked.requests.clone(),
        scenario: asked.scenario.clone(),
        timeouts,
        // If the user asks for a number of threads that is not possible, it is refused. 0 lets the
        // engine choose.
        threads: arguments.threads.unwrap_or(0),
        io: arguments.io.into(),
        spin_ns: arguments.spin.map(|time| time.ns()),
        proxy_header: arguments.reach.proxy_protocol.map(Into::into),
        ..load::base(([127, 0, 0, 1], 0).into(), cores(arguments)?, arguments.seed)
    };
    // A number that cannot be is refused before the server sees anything. That of threads depends on
    // the profile.
    pippin_engine::bounds(&LoadSpec { threads: 1, ..base.clone() })?;
    let reach = reach::find(arguments, url, protocol, connect)?;
    let base = LoadSpec {
        addresses: reach.addresses,
        unix_socket: reach.unix_socket,
        proxy: reach.proxy,
        ..base
    };
    protocol::try_places(&base, connect)?;
    digest::try_it(&base, connect)?;
    Ok((base, reach.host))
}

/// Has each new WebSocket wait for what its server says of its own accord, unless the user has said
/// how it begins.
fn await_greeting(base: &mut LoadSpec) {
    if base.first_words.is_some() {
        return;
    }
    match greeting::listen(base) {
        Greeting::None => {}
        Greeting::Messages(number) => {
            let messages = counted(number as u64, "message");
            say(format_args!(
                "the server sends {messages} at the start of each WebSocket. They do not count as answers (see --opening FILE)"
            ));
            base.first_words = Some(FirstWords::greeting(number));
        }
        Greeting::Unsteady => say(format_args!(
            "the server sends messages of its own accord, and they may pass for answers: name them in a file for --opening (`ignore`), or check answers with --expect-contains"
        )),
    }
}

/// The addresses under which this machine may have the server itself.
fn observed(base: &LoadSpec, host: Option<&(String, u16)>) -> Vec<SocketAddr> {
    let Some((host, port)) = host else { return base.addresses.clone() };
    // Where this machine does not know the name, the server runs elsewhere.
    let found = look_up(host).unwrap_or_default();
    found.into_iter().map(|ip| (ip, *port).into()).collect()
}

/// The agents that the flags ask for. Flags that only make sense on this machine are refused.
fn fleet_of(
    shared: &Shared,
    arguments: &LoadArguments,
    (base, profile, host): (&LoadSpec, &Profile, Option<(String, u16)>),
) -> Result<Option<Fleet>, CliError> {
    if arguments.fleet.agents.is_some() && !arguments.source_ips.is_empty() {
        return Err(CliError::User(
            "--source-ips: with --agents each agent has its own; give them to `pippin agent`"
                .into(),
        ));
    }
    let has_agents = arguments.fleet.agents.is_some();
    if has_agents && arguments.tls.cert.is_some() {
        return Err(CliError::User(
            "--cert: its key stays in this process, so agents cannot use it; leave out --agents and --nats".into(),
        ));
    }
    let has_server = has_agents && settings(&arguments.fleet.nats)?.is_some();
    if has_server && arguments.cpus.is_some() {
        return Err(CliError::User(
            "--cpus: with --nats each agent has its own; give them to `pippin agent`".into(),
        ));
    }
    let loads = fleet::Loads {
        threads: arguments.threads,
        cpus: CpuSet(base.cores.iter().copied().collect()),
        connections: Some(profile.fewest_connections_over(base.protocol)),
        host,
        allowed_hosts: &arguments.hosts.allow_host,
    };
    fleet::gather(shared, &arguments.fleet, &loads)
}

/// The store, if there is one or one can be made. Otherwise says so and loads anyway.
fn store(shared: &Shared, arguments: &LoadArguments) -> Option<Store> {
    let path = shared.store_path();
    if arguments.no_store && !path.as_ref().is_ok_and(|path| path.is_file()) {
        return None;
    }
    match shared.store() {
        Ok(store) => Some(store),
        Err(error) => {
            if !arguments.no_store {
                say(format_args!("this load is not stored: {error}"));
            }
            None
        }
    }
}

/// The time limits. Opening a connection must not take longer than an answer.
fn timeouts(request_ns: u64) -> Timeouts {
    let connect_ns = Timeouts::default().connect_ns.min(request_ns);
    Timeouts { connect_ns, request_ns, ..Timeouts::default() }
}

fn calibration(store: &Store) -> Option<Calibration> {
    store.calibration().ok().flatten()
}

fn cores(arguments: &LoadArguments) -> Result<Vec<u32>, CliError> {
    let Some(cpus) = &arguments.cpus else { return Ok(Vec::new()) };
    let available = affinity::available();
    match cpus.0.difference(&available.0).next() {
        Some(missing) => Err(CliError::User(format!(
            "--cpus names processor {missing}, but this process may use {available}"
        ))),
        None => Ok(cpus.0.iter().copied().collect()),
    }
}

/// Writes the page with charts, if one was asked for.
fn page(arguments: &LoadArguments, record: &RunRecord, view: &View) -> Result<(), CliError> {
    let Some(path) = &arguments.html else { return Ok(()) };
    let shown = (!arguments.kept.keep_requests).then(|| View::of(&record.for_record()));
    write(path, html::page(shown.as_ref().unwrap_or(view)))
}

fn show(
    shared: &Shared,
    arguments: &LoadArguments,
    record: &RunRecord,
    view: &View,
) -> Result<u8, CliError> {
    let json = || json(record, view);
    arguments.json.show(|| shared.print_result(view, &arguments.detail), json)?;
    conclude(record, view)
}

/// One load as an object, several as a list, a search with its outcome.
fn json(record: &RunRecord, view: &View) -> serde_json::Result<String> {
    let search = view.rows.iter().find_map(Row::at_search);
    match (search, view.loads.as_slice()) {
        (Some(search), steps) => serde_json::to_string_pretty(&SearchView {
            capacity_per_s: search.capacity_per_s,
            capacity: search.capacity.as_ref(),
            steps,
        }),
        (None, [one]) if record.trials.len() == 1 => serde_json::to_string_pretty(one),
        (None, several) => serde_json::to_string_pretty(several),
    }
}

/// The exit code, and for unusual codes the reason in words.
fn conclude(record: &RunRecord, view: &View) -> Result<u8, CliError> {
    let search = view.rows.iter().find_map(|row| row.at_search()?.capacity.as_ref());
    if let Some(failure) = failure(record) {
        return Err(failure.into());
    }
    let is_invalid = record.trials.iter().any(|trial| trial.verdict == Verdict::Invalid);
    Ok(match (record.state, search) {
        (RunState::Interrupted, _) => exit::INTERRUPTED,
        // An INVALID step was repeated, so only the end of the search counts.
        (_, Some(search)) if search.is_invalid() => exit::INVALID,
        (_, Some(search)) if search.has_missed_objective() => exit::FAILED,
        (_, None) if is_invalid => exit::INVALID,
        _ => exit::OK,
    })
}
