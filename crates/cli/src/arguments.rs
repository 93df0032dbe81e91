//! Every command and flag, defined once: parsing, help, shell completions and the man page all use
//! these definitions.
use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
use pippin_model::plan::scan::Values;
use pippin_model::scenario::mix::Named;
use pippin_model::text::units::Spread;
use pippin_model::verdict::gate::{Gate, Undecided};
use pippin_report::form::{FORMS, Form};
use std::path::PathBuf;

use crate::completions;
use crate::values::{self, Time};

mod fleet;
mod goal;
mod import;
mod keeping;
mod labels;
mod limits;
pub mod load;
pub mod message;
mod publishing;
pub mod request;
mod short_help;

pub use fleet::{AgentArguments, FleetArguments, FleetCommand, FleetInitArguments, NatsArguments};
pub use goal::GoalArguments;
pub use import::{ImportArguments, ImportCommand};
pub use keeping::{BaselineCommand, BaselineSetArguments, StoreCommand, StoreKeepArguments};
pub use labels::{LabelArguments, LabelledArguments, NameArguments};
pub use limits::LimitArguments;
pub use load::LoadArguments;
pub use publishing::{SiteArguments, VerifyArguments};

/// The heading of what every command takes. It comes after a command's own options.
const GENERAL: &str = "General";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold());

/// An honest benchmark lab for HTTP servers: apples to apples.
///
/// Pippin installs and starts real servers, proves that each answers correctly, drives all of them
/// with the same load, measures server and generator, and says whether you can trust the figures.
/// The same engine load-tests any URL.
#[derive(Debug, Parser)]
#[command(name = "pippin", version, disable_help_flag = true, disable_help_subcommand = true, styles = STYLES, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(
    after_help = "Examples:\n  pippin load localhost:8080                             load a server that runs\n  pippin compare localhost:3000 localhost:3001           compare two of them\n  pippin init                                            measure a server of your own\n  pippin run hello --quick --install                     compare servers that Pippin brings\n  pippin serve                                           look at all runs in the browser\n\nExit codes:\n  0    success\n  1    an objective, gate, comparison or check failed\n  2    wrong input; the message says how to fix it\n  3    a result is INVALID\n  4    Pippin itself failed, agents were lost, or the result is not stored; or no target has one\n  5    a gate could not be decided\n  130  interrupted; what was measured is kept\n  141  nobody reads the output; what was measured is kept"
)]
pub struct Arguments {
    /// The database of runs: .pippin/pippin.db beside pippin.toml or in a checkout of Pippin,
    /// elsewhere pippin/pippin.db in $XDG_STATE_HOME (~/.local/state).
    #[arg(long, global = true, help_heading = GENERAL, display_order = 902, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,
    /// Say less: only the result and errors. The result of a load is then one line.
    #[arg(short, long, global = true, help_heading = GENERAL, display_order = 900)]
    pub quiet: bool,
    /// No colours, as with the variable NO_COLOR.
    #[arg(long, global = true, help_heading = GENERAL, display_order = 901)]
    pub no_color: bool,
    /// Print help: -h what most people need, --help everything.
    #[arg(short = 'h', long = "help", id = "help", global = true, help_heading = GENERAL, display_order = 903, action = ArgAction::Help)]
    _help: Option<bool>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment: install, start, prove, measure and compare its targets.
    Run(Box<RunArguments>),
    /// Compare this checkout with its base, for continuous integration: exit code 1 if it is worse.
    Ci(Box<CiArguments>),
    /// Write a project file for a server of your own: pippin.toml in the current folder.
    Init(InitArguments),
    /// Load any URL.
    Load(Box<LoadArguments>),
    /// Generate load for a `pippin run` or `pippin load` on another machine, until Ctrl-C
    /// (pippin help fleet).
    Agent(Box<AgentArguments>),
    /// Set up a fleet of agents.
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Write a file of requests for `pippin load --requests`.
    #[command(subcommand)]
    Import(ImportCommand),
    /// List all plans.
    Plans(PlansArguments),
    /// List, install, check or add targets.
    #[command(subcommand)]
    Targets(TargetsCommand),
    /// Show a run again, on the terminal or as a page.
    Report(ReportArguments),
    /// Estimate how many devices a machine can serve, from measured device runs.
    DevicePlan(DevicePlanArguments),
    /// Compare runs, servers or revisions, with intervals; for continuous integration too.
    Compare(Box<CompareArguments>),
    /// Find what on this machine would spoil a plan, and say how to fix it.
    Doctor(DoctorArguments),
    /// Measure the limit of the load generator on this machine. Later results then say how close
    /// they came to it.
    Calibrate(CalibrateArguments),
    /// Write a run in another form: Markdown, CSV, JSON, interval log, Prometheus text, SVG
    /// (pippin help formats).
    Export(ExportArguments),
    /// List earlier runs.
    History(HistoryArguments),
    /// Give runs names, for gates and comparisons: "p99 < 5% vs released".
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Show what the database of runs takes, or remove runs from it.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Show all runs in the browser: list, search, pages, comparison, history, and the run in
    /// progress. Read-only; on the loopback unless --bind says otherwise.
    Serve(ServeArguments),
    /// Check an exported run: whether all its figures, ranks and verdicts follow from its raw slices.
    Verify(VerifyArguments),
    /// Write runs as a static site: boards, pages, histories, comparisons, badges.
    Site(SiteArguments),
    /// Let a program that works with a language model measure servers of this machine, over the Model
    /// Context Protocol on standard input and output (pippin help mcp).
    Mcp,
    /// Print shell completions, for example: pippin completions bash >
    /// /etc/bash_completion.d/pippin. They know plans, targets, runs and charts.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, for example: pippin man > /usr/local/share/man/man1/pippin.1
    Man,
    /// Print the help of a command, or a page of the documentation: pippin help gates
    Help {
        /// A command, or a page.
        #[arg(value_name = "TOPIC")]
        topics: Vec<String>,
    },
}

/// All commands, with everything that `--help` shows.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// All commands, with what `-h` shows of those that have many options.
pub fn short_command() -> clap::Command {
    short_help::shortened(command())
}

/// What ends a run, a load or a comparison with exit code 1 or 5, and how that is written.
#[derive(Debug, Args)]
pub struct GateArguments {
    /// Exit with code 1 if this condition is true: "p99 > 50ms", "errors > 0.1%", "goodput < -5% vs
    /// RUN". May be given several times. `pippin help gates` lists the figures.
    #[arg(long, value_name = "CONDITION", value_parser = Gate::fail_if)]
    fail_if: Vec<Gate>,
    /// Exit with code 1 unless this condition is true: "p99 < 50ms". May be given several times.
    #[arg(long, value_name = "CONDITION", value_parser = Gate::require)]
    require: Vec<Gate>,
    /// What to do if a gate cannot be decided: exit with code 5, or only say so.
    #[arg(long, value_name = "WHAT", value_enum)]
    undecided: Option<WhenUndecided>,
    /// Also write the verdicts and gates as JUnit XML.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Also write a summary for a pull request, in Markdown.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,
}

/// `--undecided`. A text beside a value would spread the help of every flag over several lines.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum WhenUndecided {
    // Exit with code 5.
    Fail,
    // Say so and exit with code 0.
    Warn,
}

impl GateArguments {
    /// All gates of the command line.
    pub fn all(&self) -> impl Iterator<Item = &Gate> {
        self.require.iter().chain(&self.fail_if)
    }

    /// What a gate does that could not be decided, if the command line says so.
    pub fn undecided(&self) -> Option<Undecided> {
        self.undecided.map(|what| match what {
            WhenUndecided::Fail => Undecided::Fail,
            WhenUndecided::Warn => Undecided::Warn,
        })
    }
}

/// How much of a result the terminal shows.
#[derive(Debug, Args)]
pub struct DetailArguments {
    /// Show everything that was counted: bytes, connections, what server and generator used, all
    /// time spans, notes.
    #[arg(short, long)]
    pub verbose: bool,
}

/// What a store keeps of requests and answers.
#[derive(Debug, Args)]
pub struct KeptArguments {
    /// Keep what may be a secret: bodies, values of all headers and of queries, the texts that right
    /// answers must have, first wrong answers, Location, lines of the server's log. Otherwise a length
    /// and a digest stand for what was sent (pippin help requests).
    #[arg(long)]
    pub keep_requests: bool,
}

/// `pippin run`
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A plan that `pippin plans` lists (hello, users, ...), or a file.
    #[arg(value_name = "PLAN", add = ArgValueCandidates::new(completions::plans))]
    pub plan: String,
    /// Install what is missing: system packages with apt, everything else inside the targets'
    /// folders. Asks once on a terminal.
    #[arg(long)]
    pub install: bool,
    /// With --install: do not ask.
    #[arg(long, requires = "install")]
    pub yes: bool,
    /// Exit with code 1 if a target failed or is unavailable.
    #[arg(long)]
    pub strict: bool,
    /// Only these targets, separated by commas: go/net-http,javascript/express:cluster
    #[arg(long, value_name = "LIST", value_delimiter = ',', add = ArgValueCompleter::new(completions::list_of_targets))]
    pub targets: Vec<String>,
    /// Compare the others with this target; with the best by default.
    #[arg(long, value_name = "TARGET")]
    pub reference: Option<String>,
    /// How often each target is measured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    #[command(flatten)]
    pub goal: GoalArguments,
    /// The plan's quick form: the same kind of load in seconds.
    #[arg(long)]
    pub quick: bool,
    /// Measure the life of each target after all repetitions, also in the quick form: time to
    /// start, memory, and what is lost when it is stopped under load.
    #[arg(long)]
    pub life: bool,
    /// Count the instructions of each target per request, before each repetition: with callgrind
    /// or, for programs that it cannot run, by the processor's counter (pippin help gates).
    #[arg(long)]
    pub instructions: bool,
    /// Workers of every target; by default as many as it has processors.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,
    #[command(flatten)]
    pub limits: LimitArguments,
    /// Device plans: this fraction of the devices, as 1/10 or 0.1.
    #[arg(long, value_name = "FRACTION", value_parser = values::fraction)]
    pub scale: Option<f64>,
    /// Device plans: the lengths of the phases, as 60s,60s,60s.
    #[arg(long, value_name = "UP,SUSTAIN,DOWN", value_parser = values::phases)]
    pub ramp: Option<[u64; 3]>,
    /// Device plans: the time between an answer and a device's next request, as "9s +-5%".
    #[arg(long, value_name = "TIME", value_parser = Spread::parse)]
    pub think: Option<Spread>,
    /// Folder for the page and the logs. By default a new one in .pippin/runs/ beside pippin.toml,
    /// in runs/ of a checkout of Pippin, or else in pippin/runs/ of $XDG_STATE_HOME.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub kept: KeptArguments,
    /// What the run is called.
    #[command(flatten)]
    pub labels: NameArguments,
    /// The seed for the order of targets and for every load.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Load each target once more under perf at the end, and put flame graphs, system calls and
    /// context switches on the page. This changes no figure (pippin help explain).
    #[arg(long, conflicts_with_all = ["agents", "nats", "probe"])]
    pub explain: bool,
    #[command(flatten)]
    pub detail: DetailArguments,
    #[command(flatten)]
    pub json: JsonArguments,
    /// Where figures go meanwhile.
    #[command(flatten)]
    pub outlets: OutletArguments,
    #[command(flatten)]
    pub gates: GateArguments,
    /// Of a revision that a gate names ("p99 < 10% vs main"): whose pippin.toml says how it is built
    /// and started, its own, or that of this checkout.
    #[arg(long, value_name = "WHOSE", value_enum, default_value_t)]
    pub base_file: BaseFile,
    /// Who applies the load.
    #[command(flatten)]
    pub fleet: FleetArguments,
    /// The probe (`pippin agent --probe`) that installs, starts, proves and samples the targets on
    /// its machine. The agents load them over the network.
    #[arg(long, value_name = "NAME", requires = "agents")]
    pub probe: Option<String>,
}

/// `pippin ci`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  pippin ci                                               in a pull request: stops as soon as it is sure\n  pippin ci --base origin/release --for 4m --junit junit.xml --summary summary.md"
)]
pub struct CiArguments {
    /// The branch to compare with, at the commit where this checkout left it. By default the one that
    /// a variable of continuous integration names, or the default branch of origin, or origin/main.
    #[arg(long, value_name = "REVISION")]
    pub base: Option<String>,
    /// Whose pippin.toml says how the base is built and started: its own, or that of this checkout.
    /// Workload and plan are always those of the checkout.
    #[arg(long, value_name = "WHOSE", value_enum, default_value_t)]
    pub base_file: BaseFile,
    /// End after this time, decided or not. The first 5 starts are made in any case.
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = values::length)]
    pub length: Time,
    /// Of comparisons of a commit with itself, the share that may fail.
    #[arg(long, value_name = "SHARE", default_value_t = 0.003, value_parser = values::false_alarms)]
    pub false_alarms: f64,
    /// The plan in pippin.toml; by default ci, or the only one.
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<String>,
    /// Count the instructions of each target per request, before each repetition: with callgrind
    /// or, for programs that it cannot run, by the processor's counter (pippin help gates). A gate on
    /// `instructions` does it too.
    #[arg(long)]
    pub instructions: bool,
    /// Install what is missing for its workload, as system packages with apt.
    #[arg(long)]
    pub install: bool,
    /// With --install: do not ask.
    #[arg(long, requires = "install")]
    pub yes: bool,
    /// Folder for page, logs and the files of the base; by default as with `pippin run`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub kept: KeptArguments,
    /// What the run is called.
    #[command(flatten)]
    pub labels: NameArguments,
    /// The seed for the order and for every load.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub gates: GateArguments,
    #[command(flatten)]
    pub json: JsonArguments,
}

/// Whose project file says how a revision is built and started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum BaseFile {
    // The revision's own, if it has one.
    #[default]
    Own,
    // That of the checkout.
    Checkout,
}

/// `pippin init`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  pippin init                                             asks on a terminal\n  pippin init --command 'node server.js' --path /api\n  pippin init --url http://127.0.0.1:3000"
)]
pub struct InitArguments {
    /// The command that starts the server. It must listen on the variable PORT; {PORT} in the
    /// command is replaced too.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "image"], value_hint = ValueHint::CommandString)]
    pub command: Option<String>,
    /// The URL of a server that runs already.
    #[arg(long, value_name = "URL", conflicts_with = "image", value_hint = ValueHint::Url)]
    pub url: Option<String>,
    /// A container image.
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// A command that builds the server; may be given several times.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "image"])]
    pub build: Vec<String>,
    /// A path that the server answers.
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// The name of the target; app by default.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

/// `pippin plans`
#[derive(Debug, Args)]
pub struct PlansArguments {
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `pippin targets check`
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Names, languages, or all. A target that is named must be available unless --optional is
    /// given.
    #[arg(value_name = "TARGET", required_unless_present = "all", add = ArgValueCandidates::new(completions::targets))]
    pub targets: Vec<String>,
    /// All targets with all variants.
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
    /// Do not fail for a named target that is unavailable or that there was no time for.
    #[arg(long)]
    pub optional: bool,
    /// How many targets to install and prove at the same time. Proofs that measure time run alone.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub jobs: u8,
    /// Skip targets that passed before, if their source, the workloads and Pippin are unchanged.
    #[arg(long)]
    pub resume: bool,
    /// Begin no target after this time, for example 10m, and stop installations; what is left is
    /// named.
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
        #[arg(value_name = "TARGET", required = true, add = ArgValueCandidates::new(completions::targets))]
        targets: Vec<String>,
        /// Do not ask before system packages are installed.
        #[arg(long)]
        yes: bool,
    },
    /// Prove targets: install, start, check every workload's answers before and after a short load,
    /// stop.
    Check(CheckArguments),
    /// Write the skeleton of a target.
    New {
        /// LANGUAGE/NAME
        target: String,
        /// Copy this target of the same language instead, with all that it serves.
        #[arg(long, value_name = "TARGET", add = ArgValueCandidates::new(completions::targets))]
        from: Option<String>,
    },
}

/// `pippin report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run's name, its beginning, or latest: the newest run that has a result.
    #[arg(value_name = "RUN", default_value = "latest", add = ArgValueCandidates::new(completions::runs))]
    pub run: String,
    /// Compare the others with this target; with the best by default.
    #[arg(long, value_name = "TARGET")]
    pub reference: Option<String>,
    /// Write the page to this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub detail: DetailArguments,
}

/// `pippin history`
#[derive(Debug, Args)]
pub struct HistoryArguments {
    /// Only runs of this target, with its results over time.
    #[arg(value_name = "TARGET", add = ArgValueCandidates::new(completions::targets))]
    pub target: Option<String>,
    /// Show at most this many runs.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub number: u32,
    /// Which runs.
    #[command(flatten)]
    pub labelled: LabelledArguments,
    /// Instead of the table, write a page with charts over time that mark where figures changed.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "target", conflicts_with = "number")]
    pub html: Option<PathBuf>,
    /// Also write all runs of the target as JSON, with its warm-up and life; - writes it to standard
    /// output instead of the text.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "target", conflicts_with_all = ["number", "html"])]
    pub json: Option<PathBuf>,
}

/// `pippin calibrate`
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// Length of each part.
    #[arg(short = 'd', long, value_name = "TIME", default_value = "3s", value_parser = values::length)]
    pub duration: Time,
    /// Measure this many devices against Pippin's own device server instead. Nothing is kept.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub devices: Option<u32>,
    /// Time between an answer and a device's next request.
    #[arg(long, value_name = "TIME", requires = "devices", default_value = "900ms +-5%", value_parser = Spread::parse)]
    pub think: Spread,
    /// The lengths of ramp-up, sustained part and ramp-down.
    #[arg(
        long,
        value_name = "UP,SUSTAIN,DOWN",
        requires = "devices",
        default_value = "10s,10s,10s",
        value_parser = values::phases
    )]
    pub ramp: [u64; 3],
    #[command(flatten)]
    pub json: JsonArguments,
}

/// `pippin compare`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  pippin compare 20261121 latest --fail-if \"goodput < -5%\"       two runs\n  pippin compare latest#go/net-http latest#rust/axum             two targets of a run\n  pippin compare http://127.0.0.1:3000/ http://127.0.0.1:3001/   two servers that run\n  pippin compare 'node old.js' 'node new.js' --path /api         two commands that serve on PORT\n  pippin compare main HEAD                                       two revisions of your own server (pippin.toml)\n  pippin compare main my-branch --target go/net-http --plan hello --install --fail-if \"p99 > 10%\"\n                                                                 two branches, measured in one run"
)]
pub struct CompareArguments {
    /// Two runs: a name, its beginning, `latest` (the newest with a result), or a file; RUN#TARGET
    /// takes one target of it. Or URLs of servers that run, or commands in quotes, as with
    /// --command. With --target, or in a project with pippin.toml, two branches, tags or commits.
    #[arg(value_name = "WHAT", add = ArgValueCandidates::new(completions::runs))]
    pub sides: Vec<String>,
    /// A command that starts a server, in the current folder. It must listen on the variable PORT;
    /// {PORT} in the command is replaced too. May be given several times.
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub command: Vec<String>,
    /// A container image that docker or podman starts; may be given several times.
    #[arg(long, value_name = "IMAGE")]
    pub image: Vec<String>,
    /// Compare values of a parameter: each is a server of its own in one run, and the first is the
    /// base. The value takes the place of {pool} in the command (or in pippin.toml, in `command` and
    /// `env`); `workers` is WORKERS, and another name in capitals an environment variable. 2 to 12
    /// values.
    #[arg(long, value_name = "NAME=VALUE,VALUE...", value_parser = Values::parse)]
    pub with: Vec<Values>,
    /// A name for each of the servers that are compared, in the order URLs, --command, --image. By
    /// default commands are named by what differs between them.
    #[arg(long, value_name = "NAME")]
    pub name: Vec<String>,
    /// The path to request; / by default, or the path of the URL.
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Let each user go through the steps of a file in order, in place of one request
    /// (pippin help scenarios). Give it several times for a mix: FILE:70 is a weight of 70 among
    /// all walks, FILE:users=14 is 14 users; without either, all have the same weight.
    #[arg(long, value_name = "FILE[:SHARE]", value_parser = Named::parse, value_hint = ValueHint::FilePath, conflicts_with_all = ["path", "method", "body", "json_body", "form", "data_urlencode", "expect_body", "expect_contains", "expect_json"])]
    pub scenario: Vec<Named>,
    /// Measure this target (go/net-http) as it is in two branches, in turn within one run.
    #[arg(long, value_name = "TARGET", add = ArgValueCandidates::new(completions::targets))]
    pub target: Option<String>,
    /// With two branches or --with: the plan. In a project with one plan, that one by default.
    #[arg(long, value_name = "PLAN", add = ArgValueCandidates::new(completions::plans))]
    pub plan: Option<String>,
    /// With two branches or --with: the plan's quick form.
    #[arg(long)]
    pub quick: bool,
    /// How often each server or branch is measured; 5, or as the plan says. What Pippin starts is
    /// started anew for each time; a server behind a URL is not.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    #[command(flatten)]
    pub goal: GoalArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
    /// Fetch images. With --target, install both copies in the run's folder, and system packages
    /// with apt where needed. Asks once on a terminal.
    #[arg(long)]
    pub install: bool,
    /// With --install: do not ask.
    #[arg(long, requires = "install")]
    pub yes: bool,
    /// Count the instructions of each target per request, before each repetition: with callgrind
    /// or, for programs that it cannot run, by the processor's counter (pippin help gates).
    #[arg(long)]
    pub instructions: bool,
    /// Load each server once more under perf at the end, and put flame graphs, system calls and
    /// context switches on the page. This changes no figure (pippin help explain).
    #[arg(long)]
    pub explain: bool,
    /// With two revisions of a project: whose pippin.toml says how they are built and started, each
    /// its own, or that of the checkout for both. Workload and plan are always those of the checkout.
    #[arg(long, value_name = "WHOSE", value_enum, default_value_t)]
    pub base_file: BaseFile,
    /// Folder for page, logs and copies; by default as with `pippin run`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Also write the page of the run to this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub kept: KeptArguments,
    /// A name for the run that is measured, by which `pippin history --name` finds it.
    #[arg(long, value_name = "NAME", value_parser = pippin_model::run::labels::name)]
    pub run_name: Option<String>,
    /// What else the run is called.
    #[command(flatten)]
    pub labels: LabelArguments,
    /// The seed for the order and for every load.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub gates: GateArguments,
    /// Compare even if profile, workload or machine differ, a side is INVALID, or both branches
    /// have the same files.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub detail: DetailArguments,
    #[command(flatten)]
    pub json: JsonArguments,
    /// How servers are loaded.
    #[command(flatten, next_help_heading = "How servers are loaded")]
    pub shape: load::ShapeArguments,
    /// What is spoken with servers.
    #[command(flatten)]
    pub http2: load::Http2Arguments,
    /// What servers are asked.
    #[command(flatten)]
    pub request: request::RequestArguments,
    /// How connections to servers are secured.
    #[command(flatten)]
    pub tls: load::TlsArguments,
    /// Which hosts may be loaded.
    #[command(flatten)]
    pub hosts: load::HostArguments,
}

/// A result for programs.
#[derive(Debug, Args)]
pub struct JsonArguments {
    /// Also write the whole result as JSON; - writes it to standard output instead of the text.
    #[arg(long = "json", id = "json", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
}

/// Where figures go while a load is under way.
#[derive(Debug, Args)]
pub struct OutletArguments {
    /// Also write a line of JSON for each second or slice as it passes (pippin help formats).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub timeseries: Option<PathBuf>,
    /// Also send the figures of each second or slice to a collector of OpenTelemetry, as
    /// http://localhost:4318 (pippin help formats).
    // Known without the feature too, so that the error can say how to build it in.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, hide = cfg!(not(feature = "otlp")))]
    pub otlp: Option<String>,
}

/// `pippin doctor`
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Look at what these plans need; without one, at this machine for a load of 256 connections.
    #[arg(value_name = "PLAN", add = ArgValueCandidates::new(completions::plans))]
    pub plans: Vec<String>,
    /// Look at the plans' quick forms.
    #[arg(long)]
    pub quick: bool,
    /// Apply the fixes that are safe and last until the next boot, and say how to undo them.
    #[arg(long)]
    pub fix: bool,
}

/// `pippin device-plan`
#[derive(Debug, Args)]
pub struct DevicePlanArguments {
    /// Device runs. Several with different numbers of processors show how a target scales.
    #[arg(value_name = "RUN", required = true, add = ArgValueCandidates::new(completions::runs))]
    pub runs: Vec<String>,
    /// Processors for the target.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cores: u32,
    /// Memory for the target: 16GiB.
    #[arg(long, value_name = "SIZE")]
    pub memory: String,
    #[command(flatten)]
    pub json: JsonArguments,
}

/// `pippin serve`
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address and port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7117")]
    pub bind: std::net::SocketAddr,
    /// The token that readers must give; needed beyond the loopback.
    #[arg(long, value_name = "TEXT", env = "PIPPIN_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
}

/// `pippin export`
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// A run's name, its beginning, or latest: the newest run that has a result.
    #[arg(value_name = "RUN", default_value = "latest", add = ArgValueCandidates::new(completions::runs))]
    pub run: String,
    /// The form.
    #[arg(short, long, value_parser = forms())]
    pub format: &'static Form,
    /// With svg and png: which chart; by default the first that the run has.
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(completions::charts))]
    pub chart: Option<String>,
    /// With svg and png: a dark background.
    #[arg(long)]
    pub dark: bool,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

/// The names of all forms, with what each is.
fn forms() -> impl TypedValueParser<Value = &'static Form> {
    let names = FORMS.map(|form| PossibleValue::new(form.name).help(form.about));
    PossibleValuesParser::new(names)
        .try_map(|name| Form::named(&name).ok_or("there is no such form"))
}
