//! Why a load cannot run: each message says what to change.
use std::any::Any;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use pippin_model::load::LoadSpec;
use pippin_model::result::LoadResult;
use pippin_model::schedule::Refusal;

/// What may help against a handshake that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// To trust the root behind the certificate.
    TrustRoot,
    /// To expect another name.
    OtherName,
    /// To renew the certificate, or not to verify it.
    DoNotVerify,
    /// To speak HTTP without TLS.
    PlainHttp,
    /// To speak another version of HTTP.
    OtherProtocol,
    /// To show a certificate of one's own.
    OwnCertificate,
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Contradiction { first, second, fix } => {
                Self::Contradiction { first, second, fix }
            }
            Refusal::Zero { what } => Self::Zero { what },
            Refusal::Rate { value } => Self::OutOfBounds {
                what: "a rate",
                value,
                bounds: "from 0 to 100 million requests per second",
            },
        }
    }
}

/// A load that cannot run as requested.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Nowhere to connect.
    #[error("no address to connect to: give at least one, for example 127.0.0.1:8080")]
    NoAddresses,
    /// A unix socket whose path cannot be one.
    #[error("the unix socket {} cannot be connected to: {error}", path.display())]
    UnixSocket {
        /// Where.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// An unusable client certificate.
    #[error("the client's certificate cannot be used: {0}")]
    ClientCertificate(String),
    /// Nothing to send.
    #[error("no request to send: give at least one")]
    NoRequests,
    /// The load has only a sample of its requests, as records do.
    #[error(
        "only {kept} of {count} requests are here, as records keep them: load the file that they came from"
    )]
    SampleOfRequests {
        /// How many are here.
        kept: usize,
        /// How many there were.
        count: u64,
    },
    /// A request that the protocol cannot write.
    #[error("{request} cannot be sent: {why}")]
    UnsendableRequest {
        /// Which one.
        request: String,
        /// What part of it is wrong, and what is right.
        why: String,
    },
    /// A check that no answer can pass.
    #[error("the check of {request} cannot pass: {why}")]
    ImpossibleCheck {
        /// Which one.
        request: String,
        /// What contradicts what.
        why: String,
    },
    /// A scenario that users cannot go through.
    #[error("the scenario cannot be loaded: {why}")]
    Scenario {
        /// What is wrong, and what is right.
        why: String,
    },
    /// A count of zero.
    #[error("{what} is 0: it must be at least 1")]
    Zero {
        /// What is zero.
        what: &'static str,
    },
    /// A thread would have nothing to do.
    #[error(
        "{threads} threads for {connections} {users}: a thread needs at least one, so use at most {connections} threads"
    )]
    MoreThreadsThanConnections {
        /// Threads asked for.
        threads: u32,
        /// Connections or devices asked for.
        connections: u32,
        /// Which of them.
        users: &'static str,
    },
    /// A value that is not within bounds.
    #[error("{what} is {value}: it must be {bounds}")]
    OutOfBounds {
        /// What it is.
        what: &'static str,
        /// The value given.
        value: String,
        /// What is accepted.
        bounds: &'static str,
    },
    /// Two settings exclude each other.
    #[error("{first} does not go with {second}: {fix}")]
    Contradiction {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// What to leave out.
        fix: &'static str,
    },
    /// Nothing ends the load.
    #[error("nothing ends the load: give a duration or a number of requests")]
    Endless,
    /// Fewer requests than users.
    #[error(
        "{requests} requests for {connections} connections: some would never be used; ask for at most {requests} connections"
    )]
    FewerRequestsThanConnections {
        /// Requests asked for.
        requests: u64,
        /// Connections asked for.
        connections: u32,
    },
    /// The open loop's stages end too early.
    #[error(
        "the stages last {stages_ns} ns, but warm-up and duration together {needed_ns} ns: make the last stage {missing_ns} ns longer",
        missing_ns = needed_ns - stages_ns
    )]
    StagesTooShort {
        /// Sum of the stages.
        stages_ns: u64,
        /// Warm-up (at the most) and measured part.
        needed_ns: u64,
    },
    /// A source address of the other family.
    #[error(
        "source address {from_address} cannot connect to {to}: one is IPv4 and the other IPv6; give source addresses of the target's family"
    )]
    SourceFamily {
        /// The local address.
        from_address: IpAddr,
        /// The target's.
        to: SocketAddr,
    },
    /// A source address that this host does not have.
    #[error(
        "source address {address} cannot be used: {error}; add it to an interface (127.0.0.0/8 needs no adding)"
    )]
    SourceAddress {
        /// The local address.
        address: IpAddr,
        /// What bind(2) said.
        error: io::Error,
    },
    /// Too few ports for the connections.
    #[error(
        "{connections} connections from {sources} source address(es) to {targets} address(es) need more than the {ports} ports of ip_local_port_range each: give at least {needed} source addresses"
    )]
    TooFewPorts {
        /// Connections asked for.
        connections: u32,
        /// Source addresses given (1 if the kernel chooses).
        sources: u64,
        /// Target addresses.
        targets: u64,
        /// Ports of one source address.
        ports: u64,
        /// Source addresses that suffice.
        needed: u64,
    },
    /// Too few descriptors.
    #[error(
        "{needed} descriptors are needed and {limit} are allowed: run `ulimit -n {needed}` first (as root, or raise `nofile` in /etc/security/limits.conf), or use {threads} threads, each of which then has a descriptor table of its own"
    )]
    TooFewDescriptors {
        /// Descriptors that the load needs in one table.
        needed: u64,
        /// RLIMIT_NOFILE, hard.
        limit: u64,
        /// Threads that would be enough.
        threads: u64,
    },
    /// A server name that no certificate can be for.
    #[error(
        "the server name `{name}` is neither a host name nor an IP address: write it like example.org"
    )]
    ServerName {
        /// The name given.
        name: String,
    },
    /// Roots that cannot be read.
    #[error(
        "the roots to trust besides the system's cannot be used: {0}; give certificates in PEM form"
    )]
    ExtraRoots(String),
    /// Nothing to verify certificates with.
    #[error(
        "this system has no root certificates ({errors}): install them (package ca-certificates), set SSL_CERT_FILE, give a root, or do not verify"
    )]
    NoRoots {
        /// Why there are none.
        errors: String,
    },
    /// TLS cannot be set up at all.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// A handshake failed.
    #[error("the TLS handshake with {address} fails: {reason}")]
    Handshake {
        /// With whom.
        address: String,
        /// Why.
        reason: String,
        /// What the user can do about it, if known.
        remedy: Option<Remedy>,
    },
    /// A server that asks for credentials in a way that Pippin cannot answer.
    #[error("digest authentication: {why}")]
    Digest {
        /// What it asks, or does not take.
        why: String,
    },
    /// A proxy that leads nowhere.
    #[error("the proxy at {proxy} opened no tunnel to {to}: {why}")]
    NoTunnel {
        /// Its host and port.
        proxy: String,
        /// Host and port of the server.
        to: String,
        /// What it did instead.
        why: String,
    },
    /// Nobody listens.
    #[error("no connection to {address}: {error}")]
    Unreachable {
        /// Where.
        address: String,
        /// What connect(2) said.
        error: io::Error,
    },
    /// The server does not speak HTTP/2.
    #[error("HTTP/2 with {address} fails: {why}")]
    NoHttp2 {
        /// With whom.
        address: String,
        /// What came instead.
        why: String,
    },
    /// The server does not speak HTTP/3.
    #[error("HTTP/3 with {address} fails: {why}")]
    NoHttp3 {
        /// With whom.
        address: String,
        /// Why there is no connection.
        why: String,
    },
    /// The server does not open a WebSocket.
    #[error("no WebSocket with {address}: {why}")]
    NoWebSocket {
        /// With whom.
        address: String,
        /// What came instead.
        why: String,
        /// Whether it was an answer in HTTP/1.1, so that the server speaks no other protocol.
        is_http: bool,
    },
    /// io_uring was requested and is not available.
    #[error("io_uring cannot be used here: {0}; choose `auto` or `epoll`")]
    IoUringUnavailable(String),
    /// The kernel refused something that a worker needs.
    #[error("{what} failed: {error}")]
    System {
        /// The call.
        what: &'static str,
        /// Its error.
        error: io::Error,
    },
    /// A processor that cannot be used.
    #[error(
        "a thread cannot be bound to processor {core}: {error}; give processors that this machine has and this process may use"
    )]
    Core {
        /// Its number.
        core: u32,
        /// What sched_setaffinity(2) said.
        error: io::Error,
    },
    /// A part of the engine died after the load had begun, or did not end in time; or the caller's
    /// listener panicked.
    #[error("the load ended early, by a defect (please report it): {what}")]
    Died {
        /// What died, and of what.
        what: String,
        /// Everything that was measured until then.
        measured: Option<Box<LoadResult>>,
    },
}

impl EngineError {
    /// A death, before its measurements are added.
    pub(crate) const fn died(what: String) -> Self {
        Self::Died { what, measured: None }
    }
}

/// Names a request of a load by its place and its first line: request 2 of 3 (`GET /x`).
pub(crate) fn place(spec: &LoadSpec, nth: usize) -> String {
    let (request, of) = (&spec.requests[nth], spec.requests.len());
    let line = format!("{} {}", request.method, request.target);
    format!("request {} of {of} (`{}`)", nth + 1, line.escape_debug())
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message").into()
}
