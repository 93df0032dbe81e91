//! The flags of `pippin load`. Those about requests, TLS and the plain shapes of load are groups
//! that other loading commands share.
use clap::{Args, ValueHint};
use pippin_model::load::WarmUp;
use pippin_model::load::network::Network;
use pippin_model::load::spoken::Spoken;
use pippin_model::plan::cpus::CpuSet;
use pippin_model::plan::objective::Objective;
use pippin_model::scenario::file::MOST_FOLLOWED;
use pippin_model::text::units::Spread;
use std::path::PathBuf;

use super::message::MessageArguments;
use super::request::{FileArguments, RequestArguments};
use super::{DetailArguments, FleetArguments, GateArguments, JsonArguments};
use super::{KeptArguments, NameArguments, OutletArguments};
use crate::values::{
    self, ConnectTo, EventLoop, IdHeader, Points, ProxyProtocol, Stages, Switch, Time,
};

/// `pippin load`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  pippin load localhost:8080/ -c 64 -d 10s                        closed loop, as wrk\n  pippin load localhost:8080/ -c 10 -n 1000 --no-keep-alive       as ab\n  pippin load localhost:8080/ -R 5000 -d 30s                      constant rate (open loop)\n  pippin load localhost:8080/ --stages 30s:1000,2m:5000,30s:0     a rate that climbs and falls\n  pippin load localhost:8080/ --stages users:10@30s,100@2m,0@30s  users that come and go\n  pippin load localhost:8080/ --devices 1000 --ramp 10s,30s,10s   devices that send now and then\n  pippin load localhost:8080/ --requests shop.jsonl -d 30s        many requests, in turn\n  pippin load localhost:8080/ --scenario shop.toml -c 20          users who log in, look and buy\n  pippin load localhost:8080/ --sweep 1..512 -d 5s                1, 2, 4 ... 512 connections\n  pippin load localhost:8080/ --objective \"p99<50ms\" -c 64 -d 5s  the highest rate that holds this\n  pippin load localhost:8080/ --objective \"p99<50ms\" --devices 10 --ramp 2s,5s,1s  how many devices it holds\n  pippin load https://localhost:8443/ --http2 -c 10 --streams 32  HTTP/2, as h2load -c 10 -m 32\n  pippin load ws://localhost:8080/echo -c 64 --message-size 64    WebSocket echoes"
)]
pub struct LoadArguments {
    /// http://HOST[:PORT]/PATH or https://...; without a scheme it is http. ws:// and wss:// load a
    /// WebSocket. May be left out where a file of requests names the server.
    #[arg(value_name = "URL", value_hint = ValueHint::Url, required_unless_present_any = ["requests", "urls_from_file"])]
    pub url: Option<String>,
    /// How load is applied.
    #[command(flatten, next_help_heading = "Load")]
    pub shape: ShapeArguments,
    /// Simulated devices instead of connections; with --ramp UP,SUSTAIN,DOWN. With --objective: the
    /// number with which the search begins.
    #[arg(long, value_name = "N", conflicts_with_all = ["count", "rate", "stages", "sweep", "duration", "no_keep_alive", "requests_per_connection", "pipeline", "connections", "streams"], requires = "ramp", value_parser = values::connections)]
    pub devices: Option<u32>,
    /// Requests before a device is replaced. By default 100; in a scenario, each step once.
    #[arg(long, value_name = "N", requires = "devices", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_device: Option<u32>,
    /// A closed loop at each number of connections: 1,2,4,8 or 1..512 (doubling).
    #[arg(long, value_name = "LIST", conflicts_with_all = ["count", "rate", "stages", "think", "objective", "connections"], value_parser = values::points)]
    pub sweep: Option<Points>,
    /// Search for the highest rate at which this holds: "p99<50ms, errors<0.1%". With --scenario it
    /// is a rate of walks; with --devices their number, up to 1,000 times the first.
    #[arg(long, value_name = "BOUNDS", conflicts_with_all = ["count", "stages", "poisson", "jitter", "no_keep_alive", "requests_per_connection", "pipeline"], value_parser = Objective::parse)]
    pub objective: Option<Objective>,
    /// How often to measure; two or more also show how loads differ from each other.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["devices", "sweep", "objective"], value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// What is asked.
    #[command(flatten, next_help_heading = "Requests")]
    pub request: RequestArguments,
    /// The requests of a file.
    #[command(flatten)]
    pub files: FileArguments,
    /// Follow up to N redirections of each answer, within the URL's scheme, host and port. Each is a
    /// request of its own in the counts; where it leads beyond, that is an error (pippin help requests).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_FOLLOWED)))]
    pub follow: Option<u32>,
    /// What is sent over a WebSocket.
    #[command(flatten, next_help_heading = "WebSocket")]
    pub message: MessageArguments,
    /// What is spoken.
    #[command(flatten, next_help_heading = "HTTP/2")]
    pub protocol: ProtocolArguments,
    /// How connections are secured.
    #[command(flatten, next_help_heading = "TLS")]
    pub tls: TlsArguments,
    /// Where connections go and come from.
    #[command(flatten, next_help_heading = "Connections")]
    pub reach: ReachArguments,
    /// Local addresses to connect from, separated by commas.
    #[arg(long, visible_alias = "bind", value_name = "LIST", value_delimiter = ',')]
    pub source_ips: Vec<std::net::IpAddr>,
    /// How long one answer may take, and opening a connection (which never takes more than 10 s).
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::length)]
    pub timeout: Time,
    /// The server's first process on this machine, if Pippin cannot find it by the URL's address.
    /// Pippin measures its CPU time, memory and log. May be given several times.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub target_pid: Vec<i32>,
    /// Whether processes that the server is connected to on this machine, and that work under the
    /// load, count as its tiers: the application behind a proxy, its database.
    #[arg(long, value_name = "on|off", value_enum, default_value_t = Switch::On)]
    pub tiers: Switch,
    /// Continue the load when the server has ended. For servers that something else starts again.
    #[arg(long)]
    pub keep_going: bool,
    /// Which hosts may be loaded.
    #[command(flatten)]
    pub hosts: HostArguments,
    /// Where figures go meanwhile.
    #[command(flatten, next_help_heading = "Output")]
    pub outlets: OutletArguments,
    #[command(flatten)]
    pub detail: DetailArguments,
    #[command(flatten)]
    pub json: JsonArguments,
    /// Also write a page with charts, as `pippin report --html` does later.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Name the slowest requests, each with its instant, times, connection, path or step, and status.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub slowest: Option<u32>,
    /// Send a header with each request that names it, so that the server's log can show it: X-Request-Id,
    /// or traceparent. --slowest and --samples name it too. This changes the request.
    #[arg(long, value_name = "HEADER", num_args = 0..=1, default_missing_value = "x-request-id", value_enum)]
    pub request_id: Option<IdHeader>,
    /// Write every request of the measured part to this file, a row each: .csv, or .jsonl for JSON
    /// lines. Of more than --samples-most of them it is a uniform random sample.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["repeat", "sweep", "objective", "agents", "nats"])]
    pub samples: Option<PathBuf>,
    /// How many requests --samples writes at the most. They take memory while the load runs: some 100
    /// bytes each, in each thread.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "samples", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub samples_most: u32,
    /// Do not keep the result: no history or comparison will know it.
    #[arg(long, conflicts_with = "keep_requests")]
    pub no_store: bool,
    #[command(flatten)]
    pub kept: KeptArguments,
    /// What the load is called.
    #[command(flatten)]
    pub labels: NameArguments,
    #[command(flatten, next_help_heading = "Gates")]
    pub gates: GateArguments,
    /// End the load with exit code 1 as soon as a gate can no longer be passed, or after three
    /// seconds in a row with more errors than right answers (pippin help gates).
    #[arg(long, conflicts_with_all = ["repeat", "sweep", "objective"])]
    pub fail_fast: bool,
    /// Threads; by default one for each core, and no more than connections.
    #[arg(help_heading = "The generator itself", short = 't', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// The event loop.
    #[arg(help_heading = "The generator itself", long, value_name = "NAME", value_enum, default_value_t = EventLoop::Auto)]
    pub io: EventLoop,
    /// Open loop: how long before a request is due to stop sleeping and poll, for example 50us; 0us
    /// never polls.
    #[arg(help_heading = "The generator itself", long, value_name = "TIME", value_parser = values::time)]
    pub spin: Option<Time>,
    /// Processors of the generator: 1 or 2-3.
    #[arg(help_heading = "The generator itself", long, value_name = "LIST", value_parser = CpuSet::parse)]
    pub cpus: Option<CpuSet>,
    /// The seed for arrivals and think times.
    #[arg(help_heading = "The generator itself", long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Who applies the load.
    #[command(flatten, next_help_heading = "Agents")]
    pub fleet: FleetArguments,
}

/// How load is applied, in the shapes that one measurement has.
#[derive(Debug, Args)]
pub struct ShapeArguments {
    /// How many connections. By default 10, and no more than -n.
    #[arg(short = 'c', long, value_name = "N", value_parser = values::connections)]
    pub connections: Option<u32>,
    /// How long to measure: 30s, 2m; a number alone is seconds. 10 s unless -n is given.
    #[arg(short = 'd', long, visible_short_alias = 'z', value_name = "TIME", conflicts_with = "count", value_parser = values::length)]
    pub duration: Option<Time>,
    /// How many requests to send.
    #[arg(short = 'n', long, value_name = "N", value_parser = values::requests)]
    pub count: Option<u64>,
    /// Open loop: requests per second, or walks through a scenario, however fast the server
    /// answers. With --objective: the rate at which the search begins.
    #[arg(short = 'R', long, visible_alias = "rps", value_name = "RATE", conflicts_with_all = ["count", "think"], allow_negative_numbers = true, group = "open_loop", value_parser = values::rate)]
    pub rate: Option<f64>,
    /// A rate that changes: 30s:1000,2m:5000,30s:0. In each part TIME:RATE it goes linearly to RATE
    /// within TIME; it begins at 0. 0s:5000 jumps. Or users that come and go, each with a connection
    /// of its own: users:10@30s,100@2m,0@30s. All of it is measured.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["count", "duration", "ramp", "warm_up"], group = "open_loop", value_parser = Stages::parse)]
    pub stages: Option<Stages>,
    /// Open loop: exponentially distributed gaps instead of equal ones.
    #[arg(long, requires = "open_loop")]
    pub poisson: bool,
    /// Open loop: send each request at a random moment within its interval (1/RATE). The number of
    /// requests stays exact.
    #[arg(long, requires = "open_loop", conflicts_with = "poisson")]
    pub jitter: bool,
    /// Open loop: how long the rate climbs before measuring begins. Devices: UP,SUSTAIN,DOWN.
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = values::time)]
    pub ramp: Vec<Time>,
    /// Time between an answer and the next request: 900ms, "900ms +-5%".
    #[arg(long, value_name = "TIME", value_parser = Spread::parse)]
    pub think: Option<Spread>,
    /// What to leave out at the start: auto, none, or a time. With -n nothing is left out.
    #[arg(long, value_name = "TIME", value_parser = values::warm_up)]
    pub warm_up: Option<WarmUp>,
    /// Open a new connection for each request, and send Connection: close.
    #[arg(long, conflicts_with = "requests_per_connection")]
    pub no_keep_alive: bool,
    /// Close and replace a connection after this many requests.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_connection: Option<u32>,
    /// Requests under way on one connection at a time.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["no_keep_alive", "requests_per_connection", "open_loop", "think"], value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub pipeline: u32,
}

impl Http2Arguments {
    /// Whether HTTP/2 was asked for.
    pub const fn is_asked(&self) -> bool {
        self.http2 || self.h2c
    }

    /// What is spoken with servers that are started here; `None` for what they speak by default.
    pub const fn spoken(&self) -> Option<Spoken> {
        match (self.http2, self.h2c) {
            (true, _) => Some(Spoken::H2),
            (_, true) => Some(Spoken::H2c),
            _ => None,
        }
    }
}

impl ShapeArguments {
    /// The connections of a load without a number of its own.
    const USUAL: u32 = 10;

    /// How many connections there are. No flag should be needed for fewer requests than the usual
    /// number of connections.
    pub fn connections(&self) -> u32 {
        let most = self.count.map_or(Self::USUAL, |count| count.min(Self::USUAL.into()) as u32);
        self.connections.unwrap_or(most)
    }
}

/// What is spoken: HTTP/1.1, unless a flag says otherwise.
#[derive(Debug, Args)]
pub struct ProtocolArguments {
    #[command(flatten)]
    pub http2: Http2Arguments,
    /// HTTP/3 (QUIC), for https:// URLs; --streams is the streams of each connection, as over HTTP/2.
    #[arg(long, conflicts_with_all = ["http2", "h2c", "grpc", "pipeline", "scenario", "digest", "proxy", "proxy_protocol", "unix_socket"])]
    pub http3: bool,
    /// Call a method of gRPC: the URL's path is /PACKAGE.SERVICE/METHOD and -b @FILE the message,
    /// encoded (protobuf). Adds the five bytes before it, and the headers; over HTTP/2.
    #[arg(long, conflicts_with_all = ["json_body", "form", "data_urlencode", "method", "compressed", "requests", "urls_from_file", "scenario"])]
    pub grpc: bool,
}

/// HTTP/2.
#[derive(Debug, Args)]
pub struct Http2Arguments {
    /// HTTP/2 over TLS (ALPN), for https:// URLs.
    #[arg(long)]
    pub http2: bool,
    /// HTTP/2 without TLS (prior knowledge), for http:// URLs.
    #[arg(long, conflicts_with = "http2")]
    pub h2c: bool,
    /// HTTP/2: streams of each connection. Each is a user with one request under way at a time.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["no_keep_alive", "requests_per_connection"], value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub streams: u32,
}

/// Where connections go, whatever the URL says, and what they begin with.
#[derive(Debug, Args)]
pub struct ReachArguments {
    /// Connect to this unix socket; the URL's host is only named in the requests. The kernel stamps
    /// no arrivals there, so times include the generator's own lateness.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, conflicts_with_all = ["connect_to", "source_ips", "proxy_protocol", "agents", "nats"])]
    pub unix_socket: Option<PathBuf>,
    /// Send requests through this HTTP proxy, as curl's -x does: http://[NAME:PASSWORD@]HOST:PORT. It
    /// reads http:// requests itself; https://, HTTP/2 and WebSocket go through a tunnel that each
    /// connection asks for (CONNECT). No variable of the environment sets it.
    #[arg(short = 'x', long, value_name = "URL", conflicts_with_all = ["unix_socket", "connect_to", "proxy_protocol", "agents", "nats"])]
    pub proxy: Option<String>,
    /// Connect to another place than the URL says: HOST:PORT:ADDR:PORT, as in curl. An empty HOST
    /// or PORT means any, an empty ADDR or PORT the URL's own. The Host header and the
    /// certificate's name stay the URL's.
    #[arg(long, value_name = "RULE", value_parser = ConnectTo::parse)]
    pub connect_to: Option<ConnectTo>,
    /// Begin each connection with a header of the PROXY protocol, as a load balancer does. It has
    /// the connection's own addresses.
    #[arg(long, value_name = "VERSION", value_enum)]
    pub proxy_protocol: Option<ProxyProtocol>,
    /// Simulate a network in between: RTT[,LOSS%], as 20ms,1%. What is lost of TCP comes a round trip
    /// later; a datagram of HTTP/3 does not come. The times are then mostly the network's.
    #[arg(long, value_name = "RTT,LOSS", conflicts_with_all = ["unix_socket", "proxy", "source_ips"])]
    pub network: Option<Network>,
}

/// How connections are secured.
#[derive(Debug, Args)]
pub struct TlsArguments {
    /// https: the client certificate (PEM), with the chain to its root.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub cert: Option<PathBuf>,
    /// https: the private key of --cert (PEM, not encrypted); by default in the same file. No
    /// record keeps it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "cert")]
    pub key: Option<PathBuf>,
    /// https: also trust the root certificates in this file (PEM).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// https: do not verify the server's certificate.
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// https: the name to send and to expect in the certificate; by default the URL's host.
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// https: let connections resume earlier sessions. By default each makes a full handshake, as a
    /// new client does.
    #[arg(long)]
    pub tls_resume: bool,
}

/// Which hosts may be loaded.
#[derive(Debug, Args)]
pub struct HostArguments {
    /// Allow loading a host other than this machine; must be the URL's host. The variable
    /// PIPPIN_ALLOW_HOST may hold a list.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        env = "PIPPIN_ALLOW_HOST",
        hide_env = true
    )]
    pub allow_host: Vec<String>,
}
