//! Every command and flag, defined once: parsing, help, shell completions and the man page all come
//! from here.
use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueHint};
use pippin_model::cpus::CpuSet;
use pippin_model::gate::Gate;
use pippin_model::load_spec::WarmUp;
use pippin_model::objective::Objective;
use pippin_model::units::Spread;
use pippin_report::form::{FORMS, Form};
use std::path::PathBuf;

use crate::values::{self, EventLoop, Field, Points, Time};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold());

/// An honest benchmark lab for HTTP servers: apples to apples.
///
/// Pippin installs and starts real servers, proves that each answers correctly, drives all of them
/// with the same load, measures server and generator, and says whether the figures can be believed.
/// The same engine load-tests any URL.
#[derive(Debug, Parser)]
#[command(name = "pippin", version, styles = STYLES, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 ok, 1 objective or comparison failed, 2 wrong input (the message names the fix), 3 result INVALID,\n4 the lab failed, 130 interrupted (what was measured is kept),\n141 nobody reads the output (as if SIGPIPE had ended it; what was measured is kept)."
)]
pub struct Arguments {
    /// The database of runs: .pippin/pippin.db in a checkout of Pippin, elsewhere pippin/pippin.db in
    /// $XDG_STATE_HOME (~/.local/state).
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,
    /// Say less: only the result and errors.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment: install, start, prove, measure and compare its targets.
    Run(RunArguments),
    /// Load any URL.
    Load(Box<LoadArguments>),
    /// List, install, check or add targets.
    #[command(subcommand)]
    Targets(TargetsCommand),
    /// Show a run again: on the terminal, or as a page.
    Report(ReportArguments),
    /// Plan: how many devices a machine holds, from measured device runs.
    Capacity(CapacityArguments),
    /// Compare two runs, or two branches of a target, with intervals; fit for continuous
    /// integration.
    Compare(CompareArguments),
    /// Look for what on this machine would spoil which plan, and say how to mend it.
    Doctor(DoctorArguments),
    /// Measure what the generator itself can do on this machine, and keep it: every later trial
    /// states its headroom.
    Calibrate(CalibrateArguments),
    /// Write a run in another form: Markdown, CSV, JSON, interval log, Prometheus text, SVG
    /// (docs/formats.md).
    Export(ExportArguments),
    /// List earlier runs.
    History(HistoryArguments),
    /// Show all runs in the browser: the one under way, list, search, pages, comparison, history.
    /// Read-only; on loopback unless told otherwise.
    Serve(ServeArguments),
    /// Print shell completions, for example: pippin completions bash >
    /// /etc/bash_completion.d/pippin
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, for example: pippin man > /usr/local/share/man/man1/pippin.1
    Man,
}

/// What ends a run, a load or a comparison with exit code 1, and how that is written.
#[derive(Debug, Args)]
pub struct GateArguments {
    /// Exit 1 if this is so; may be given several times: "p99 > 50ms", "errors > 0.1%", "goodput <
    /// -5% vs RUN". docs/gates.md lists the figures.
    #[arg(long, value_name = "CONDITION", value_parser = Gate::fail_if)]
    pub fail_if: Vec<Gate>,
    /// Also write verdicts and gates as JUnit XML.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Also write a summary for a pull request, in Markdown.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,
}

/// `pippin run`
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A shipped plan (hello, users, ...) or a file.
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub plan: String,
    /// Install what is missing: system packages through apt, the rest inside targets/. Asks once on
    /// a terminal.
    #[arg(long)]
    pub install: bool,
    /// With --install: do not ask.
    #[arg(long, requires = "install")]
    pub yes: bool,
    /// Exit with code 1 if a target failed or is unavailable.
    #[arg(long)]
    pub strict: bool,
    /// Only these targets, separated by commas: go/net-http,javascript/express:cluster
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub targets: Vec<String>,
    /// Repetitions of each target.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// The same shape in seconds.
    #[arg(long)]
    pub quick: bool,
    /// WORKERS of every target: the number of its processors by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,
    /// Device plans: this fraction of the devices, as 1/10 or 0.1.
    #[arg(long, value_name = "FRACTION", value_parser = values::fraction)]
    pub scale: Option<f64>,
    /// Device plans: other lengths of the phases, as 60s,60s,60s.
    #[arg(long, value_name = "UP,SUSTAIN,DOWN", value_parser = values::phases)]
    pub ramp: Option<[u64; 3]>,
    /// Device plans: another time between an answer and a device's next request, as "9s +-5%".
    #[arg(long, value_name = "TIME", value_parser = Spread::parse)]
    pub think: Option<Spread>,
    /// Where the page and the logs go; runs/RUN by default.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Seeds the order of targets and every load.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub gates: GateArguments,
}

/// `pippin load`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  pippin load http://127.0.0.1:8080/ -c 64 -d 10s          closed loop, as wrk\n  pippin load http://127.0.0.1:8080/ -c 10 -n 1000 --no-keep-alive   as ab\n  pippin load http://127.0.0.1:8080/ -R 5000 -d 30s        constant rate; response time from the intended instant\n  pippin load http://127.0.0.1:8080/ --devices 1000 --ramp 10s,30s,10s\n  pippin load http://127.0.0.1:8080/ --sweep 1..512 -d 5s\n  pippin load http://127.0.0.1:8080/ --objective \"p99<50ms\" -c 64 -d 5s\n  pippin load https://127.0.0.1:8443/ --http2 -c 10 --streams 32    HTTP/2, as h2load -c 10 -m 32"
)]
pub struct LoadArguments {
    /// http://HOST[:PORT]/PATH or https://...
    #[arg(value_name = "URL", value_hint = ValueHint::Url)]
    pub url: String,
    /// Connections.
    #[arg(short = 'c', long, value_name = "N", default_value_t = 10, value_parser = values::connections)]
    pub connections: u32,
    /// Threads; one a core, and no more than connections.
    #[arg(short = 't', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// How long to measure: 30s, 2m; a number alone is seconds. 10 s unless -n is given.
    #[arg(short = 'd', long, value_name = "TIME", conflicts_with = "requests", value_parser = values::length)]
    pub duration: Option<Time>,
    /// How many requests to send.
    #[arg(short = 'n', long, value_name = "N", value_parser = values::requests)]
    pub requests: Option<u64>,
    /// Open loop: requests per second, whatever the server does. With --objective: where the search
    /// begins.
    #[arg(short = 'R', long, value_name = "RATE", conflicts_with_all = ["requests", "think", "devices", "sweep"], allow_negative_numbers = true, value_parser = values::rate)]
    pub rate: Option<f64>,
    /// Open loop: exponentially distributed gaps instead of equal ones.
    #[arg(long, requires = "rate", conflicts_with = "objective")]
    pub poisson: bool,
    /// Simulated devices instead of connections; with --ramp UP,SUSTAIN,DOWN.
    #[arg(long, value_name = "N", conflicts_with_all = ["requests", "sweep", "objective", "duration", "no_keep_alive", "connections"], requires = "ramp", value_parser = values::connections)]
    pub devices: Option<u32>,
    /// Requests before a device is replaced.
    #[arg(long, value_name = "N", requires = "devices", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_device: u32,
    /// Time between an answer and the next request: 900ms, "900ms +-5%".
    #[arg(long, value_name = "TIME", conflicts_with_all = ["sweep", "objective"], value_parser = Spread::parse)]
    pub think: Option<Spread>,
    /// Open loop: time over which the rate climbs before it is measured. Devices: UP,SUSTAIN,DOWN.
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = values::time)]
    pub ramp: Vec<Time>,
    /// A closed loop at each number of connections: 1,2,4,8 or 1..512 (doubling).
    #[arg(long, value_name = "LIST", conflicts_with_all = ["requests", "objective", "connections"], value_parser = values::points)]
    pub sweep: Option<Points>,
    /// Search for the highest rate that keeps this: "p99<50ms, errors<0.1%".
    #[arg(long, value_name = "BOUNDS", conflicts_with = "requests", value_parser = Objective::parse)]
    pub objective: Option<Objective>,
    /// One request a connection, announced by Connection: close.
    #[arg(long, conflicts_with_all = ["requests_per_connection", "objective"])]
    pub no_keep_alive: bool,
    /// Close and replace a connection after this many requests.
    #[arg(long, value_name = "N", conflicts_with_all = ["devices", "objective"], value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_connection: Option<u32>,
    /// Requests under way on one connection at a time.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["no_keep_alive", "requests_per_connection", "rate", "devices", "think", "objective"], value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub pipeline: u32,
    /// HTTP/2 over TLS, agreed on by ALPN; for https:// URLs.
    #[arg(long, conflicts_with = "pipeline")]
    pub http2: bool,
    /// HTTP/2 without TLS, which the server must know of (prior knowledge); for http:// URLs.
    #[arg(long, conflicts_with_all = ["http2", "pipeline"])]
    pub h2c: bool,
    /// HTTP/2: users of each connection, each with one request under way: streams at the same time.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["no_keep_alive", "requests_per_connection", "devices"], value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub streams: u32,
    /// A header field, NAME: VALUE; may be given several times.
    #[arg(short = 'H', long = "header", value_name = "FIELD", value_parser = values::field)]
    pub headers: Vec<Field>,
    /// The method.
    #[arg(short = 'm', long, value_name = "METHOD", default_value = "GET")]
    pub method: String,
    /// The request's body.
    #[arg(short = 'b', long, value_name = "TEXT")]
    pub body: Option<String>,
    /// Statuses that are right; 200 to 399 by default.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(100..=599))]
    pub expect_status: Vec<u16>,
    /// The body that is right, byte by byte.
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Option<String>,
    /// Also write the whole result as JSON; - for standard output instead of the text.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Also write a page with charts, as `pippin report --html` does later.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Do not keep this load: it is then in no history.
    #[arg(long)]
    pub no_store: bool,
    /// https: trust the certificates in this file (PEM) as roots, besides the system's.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// https: do not verify the server's certificate. (No -k: to ab, that is keep-alive.)
    #[arg(long)]
    pub insecure: bool,
    /// https: the name that the certificate must be for and that is sent to the server; the URL's
    /// host by default.
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// https: let new connections resume earlier sessions; by default each does a full handshake,
    /// as a new client does.
    #[arg(long)]
    pub tls_resume: bool,
    /// Local addresses to connect from, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub source_ips: Vec<std::net::IpAddr>,
    /// What is left out at the start: auto, none, or a time. Nothing where requests are counted.
    #[arg(long, value_name = "TIME", value_parser = values::warm_up)]
    pub warm_up: Option<WarmUp>,
    /// How long one answer may take, and opening a connection (which never takes more than 10 s).
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::length)]
    pub timeout: Time,
    /// The event loop.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = EventLoop::Auto)]
    pub io: EventLoop,
    /// Open loop: how long before an instant to stop sleeping and poll, for example 50us; for
    /// answers that come soon, twice as long; 0us never polls.
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub spin: Option<Time>,
    /// Processors of the generator: 1 or 2-3.
    #[arg(long, value_name = "LIST", value_parser = CpuSet::parse)]
    pub cpus: Option<CpuSet>,
    /// The server's first process on this machine, if Pippin cannot find it by the URL's port. Its
    /// CPU time, memory and log are measured.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub target_pid: Option<i32>,
    /// Consent to load a host that is not this machine; must be the URL's host.
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Seeds arrivals and think times.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub gates: GateArguments,
}

/// `pippin targets check`
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Names, languages, or all. A target that is named must be available unless --optional is given.
    #[arg(value_name = "TARGET", required_unless_present = "all")]
    pub targets: Vec<String>,
    /// Every target and every variant.
    #[arg(long, conflicts_with = "targets")]
    pub all: bool,
    /// Only these workloads.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub workloads: Vec<String>,
    /// Install what is missing.
    #[arg(long)]
    pub install: bool,
    /// With --install: do not ask.
    #[arg(long, requires = "install")]
    pub yes: bool,
    /// Fail if one of these is unavailable, instead of only naming it.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub require: Vec<String>,
    /// A named target that is unavailable, or that there was no time for, does not fail the check.
    #[arg(long)]
    pub optional: bool,
    /// Install and prove so many targets at the same time. Proofs that measure time run alone.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub jobs: u8,
    /// Leave out what passed before, if its source, the workloads and Pippin are unchanged.
    #[arg(long)]
    pub resume: bool,
    /// Begin no target after this time, for example 10m; name those that are left.
    #[arg(long, value_name = "TIME")]
    pub within: Option<String>,
}

/// `pippin targets`
#[derive(Debug, Subcommand)]
pub enum TargetsCommand {
    /// List all targets with their variants and workloads.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Install targets.
    Install {
        /// Names, languages, or all.
        #[arg(value_name = "TARGET", required = true)]
        targets: Vec<String>,
        /// Do not ask before system packages are installed.
        #[arg(long)]
        yes: bool,
    },
    /// Prove targets: installed, started, every workload's answers before and after a short load,
    /// clean stop.
    Check(CheckArguments),
    /// Write the skeleton of a target.
    New {
        /// LANGUAGE/NAME
        target: String,
    },
}

/// `pippin report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run's name, its beginning, or latest: the newest run that has a result.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Write the page here.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
}

/// `pippin history`
#[derive(Debug, Args)]
pub struct HistoryArguments {
    /// Only runs of this target: its results over time.
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,
    /// At most this many.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub number: usize,
    /// Write a page with charts over time and marks where figures changed, instead of the table.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "target")]
    pub html: Option<PathBuf>,
}

/// `pippin calibrate`
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// Length of each part.
    #[arg(short = 'd', long, value_name = "TIME", default_value = "3s", value_parser = values::length)]
    pub duration: Time,
    /// Instead: this many devices against a bare device server, with --think and --ramp. Nothing is
    /// kept.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub devices: Option<u32>,
    /// Time between an answer and a device's next request.
    #[arg(long, value_name = "TIME", requires = "devices", default_value = "900ms +-5%", value_parser = Spread::parse)]
    pub think: Spread,
    /// Ramp up, sustained part, ramp down.
    #[arg(
        long,
        value_name = "UP,SUSTAIN,DOWN",
        requires = "devices",
        default_value = "10s,10s,10s",
        value_parser = values::phases
    )]
    pub ramp: [u64; 3],
    /// Also write the result as JSON.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

/// `pippin compare`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  pippin compare 20261121 latest --fail-if \"goodput < -5%\"       two runs\n  pippin compare latest#go/net-http latest#rust/axum             two targets of a run\n  pippin compare main my-branch --target go/net-http --plan hello --install --fail-if \"p99 > 10%\"\n                                                                 two branches, measured in one run"
)]
pub struct CompareArguments {
    /// A run's name, its beginning, `latest` (the newest with a result), or a file; RUN#TARGET takes one target of it. With
    /// --target: a branch, tag or commit.
    pub a: String,
    /// What is compared with it.
    pub b: String,
    /// Measure this target as it is in the two branches, interleaved in one run: go/net-http.
    #[arg(long, value_name = "TARGET", requires = "plan")]
    pub target: Option<String>,
    /// With --target: the plan; its own targets are left out.
    #[arg(long, value_name = "PLAN", requires = "target", value_hint = ValueHint::FilePath)]
    pub plan: Option<String>,
    /// With --target: the plan's quick form.
    #[arg(long, requires = "target")]
    pub quick: bool,
    /// With --target: repetitions of each branch.
    #[arg(long, value_name = "N", requires = "target", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// With --target: install both copies in the run's folder, and system packages through apt
    /// where needed. Asks once on a terminal.
    #[arg(long, requires = "target")]
    pub install: bool,
    /// With --install: do not ask.
    #[arg(long, requires = "install")]
    pub yes: bool,
    /// With --target: where page, logs and copies go; runs/RUN by default.
    #[arg(long, value_name = "DIR", requires = "target", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// With --target: seeds the order and every load.
    #[arg(long, value_name = "N", requires = "target")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub gates: GateArguments,
    /// Compare although profile, workload or machine differ, a side is INVALID, or both branches
    /// have the same files.
    #[arg(long)]
    pub force: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `pippin doctor`
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Only for these plans; all shipped ones by default.
    #[arg(value_name = "PLAN")]
    pub plans: Vec<String>,
    /// For the plans' quick forms.
    #[arg(long)]
    pub quick: bool,
    /// Apply what is safe for this boot, and say how to undo it.
    #[arg(long)]
    pub fix: bool,
}

/// `pippin capacity`
#[derive(Debug, Args)]
pub struct CapacityArguments {
    /// Device runs; several on different numbers of processors tell how a target scales.
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Processors for the target.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cores: u32,
    /// Memory for the target: 16GiB.
    #[arg(long, value_name = "SIZE")]
    pub memory: String,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `pippin serve`
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address and port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7117")]
    pub bind: std::net::SocketAddr,
    /// What readers must give; needed beyond loopback.
    #[arg(long, value_name = "TEXT", env = "PIPPIN_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
}

/// `pippin export`
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// A run's name, its beginning, or latest: the newest run that has a result.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// The form.
    #[arg(short, long, value_parser = forms())]
    pub format: &'static Form,
    /// With svg and png: which chart.
    #[arg(long, value_name = "NAME")]
    pub chart: Option<String>,
    /// With svg and png: on dark ground.
    #[arg(long, requires = "chart")]
    pub dark: bool,
    /// Write here instead of to standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

/// The names of all forms, with what each is.
fn forms() -> impl TypedValueParser<Value = &'static Form> {
    let names = FORMS.map(|form| PossibleValue::new(form.name).help(form.about));
    PossibleValuesParser::new(names)
        .try_map(|name| Form::named(&name).ok_or("there is no such form"))
}
