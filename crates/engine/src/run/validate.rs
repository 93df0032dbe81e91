//! Checks whether a load can run as requested, before anything is opened.
use pippin_model::load::websocket::NUMBER_BYTES;
use pippin_model::load::{
    BodyCheck, Check, Connections, FirstWords, LoadSpec, Part, Protocol, Proxy, Request, Scenario,
    WarmUp,
};
use pippin_model::scenario::data::Values;
use pippin_model::text::units::{Spread, format_ns};

use crate::error::{EngineError, place};
use crate::io::socket::try_source;
use crate::pace::lane::all_users;
use crate::scenario::script;
use crate::shared::LEAST_TIMEOUT_NS;

/// Checks everything that can be checked beforehand, except descriptors. Bounds come first: what
/// follows takes as long as the numbers are large.
pub(crate) fn validate(spec: &LoadSpec) -> Result<(), EngineError> {
    bounds(spec)?;
    addresses(spec)?;
    proxy(spec)?;
    digest(spec)?;
    requests(spec)?;
    numbers(spec)?;
    protocol(spec)?;
    scenario(spec)?;
    broadcast(spec)?;
    uploads(spec)?;
    drawn_and_read(spec)?;
    schedule(spec)
}

/// How many connections this part of the load can have open at the same time.
pub(crate) fn users(spec: &LoadSpec) -> u32 {
    // The shares of all threads add up to the share of the part.
    spec.slice.share(u64::from(all_users(spec))) as u32
}

/// Checks that every number of a load is within its bounds, in a time that does not depend on the
/// numbers. A load from another machine must pass this before anything else looks at it.
///
/// # Errors
/// The first number that is out of its bounds, with the bounds.
pub fn bounds(spec: &LoadSpec) -> Result<(), EngineError> {
    slice(spec)?;
    numbers(spec)
}

/// Which part of the load is asked for.
fn slice(spec: &LoadSpec) -> Result<(), EngineError> {
    let Part { nth, width, of } = spec.slice;
    if width == 0 || of > 1 << 20 || nth.checked_add(width).is_none_or(|end| end > of) {
        return Err(EngineError::OutOfBounds {
            what: "the slice",
            value: format!("{width} from {nth} of {of}"),
            bounds: "at least 1, from 0 on, of at least so many and at most 1,048,576",
        });
    }
    Ok(())
}

fn addresses(spec: &LoadSpec) -> Result<(), EngineError> {
    if spec.unix_socket.is_some() {
        return unix_socket(spec);
    }
    let Some(first) = spec.addresses.first() else {
        return Err(EngineError::NoAddresses);
    };
    for source in &spec.source_addresses {
        if let Some(to) = spec.addresses.iter().find(|to| to.is_ipv4() != source.is_ipv4()) {
            return Err(EngineError::SourceFamily { from_address: *source, to: *to });
        }
        try_source(*source)
            .map_err(|error| EngineError::SourceAddress { address: *source, error })?;
    }
    if let Some(address) = spec.addresses.iter().find(|address| address.port() == 0) {
        return Err(EngineError::OutOfBounds {
            what: "the port to connect to",
            value: address.to_string(),
            bounds: "from 1 to 65535",
        });
    }
    ports(spec, first.is_ipv4())
}

/// A unix socket has no addresses and no ports.
fn unix_socket(spec: &LoadSpec) -> Result<(), EngineError> {
    let others = [
        ("an address to connect to", !spec.addresses.is_empty(), "give one of them"),
        ("a source address", !spec.source_addresses.is_empty(), "leave the source address out"),
        (
            "a PROXY header",
            spec.proxy_header.is_some(),
            "it has no addresses to tell: leave the header out",
        ),
    ];
    match others.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((what, _, fix)) => Err(contradicts(what, "a unix socket", fix)),
        None => Ok(()),
    }
}

const PROXY: &str = "a proxy";

/// What a proxy reads, and what it only passes on.
fn proxy(spec: &LoadSpec) -> Result<(), EngineError> {
    let Some(proxy) = &spec.proxy else { return Ok(()) };
    let has = |name: &str| {
        spec.requests
            .iter()
            .any(|request| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)))
    };
    let is_read = spec.tls.is_none() && spec.protocol == Protocol::Http1;
    none_of(
        PROXY,
        [
            (
                spec.unix_socket.is_some(),
                "a unix socket",
                "a proxy is reached over TCP: leave one of them out",
            ),
            (
                spec.proxy_header.is_some(),
                "a PROXY header",
                "the proxy would read it, and not the server: leave one of them out",
            ),
            (
                is_read && proxy.tunnel.is_some(),
                "a tunnel for HTTP/1.1 without TLS",
                "the proxy reads such requests itself: leave the tunnel out",
            ),
            (
                !is_read && proxy.tunnel.is_none(),
                "TLS, HTTP/2 or WebSocket without a tunnel",
                "the proxy cannot read them: name the host and port of the tunnel",
            ),
            (
                is_read && has("host"),
                "a Host header of your own",
                "the proxy takes the host from the URL (RFC 9112 section 3.2.2): leave it out",
            ),
            (
                has(Proxy::AUTHORIZATION),
                "a header Proxy-Authorization of your own",
                "through a tunnel it would reach the server: give name and password with the proxy",
            ),
        ],
    )
}

const DIGEST: &str = "digest authentication";

/// Who can say by a digest who sends a request.
fn digest(spec: &LoadSpec) -> Result<(), EngineError> {
    let Some(credentials) = &spec.digest else { return Ok(()) };
    let own = |request: &Request| {
        request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    };
    none_of(
        DIGEST,
        [
            (
                spec.protocol != Protocol::Http1,
                "another protocol than HTTP/1.1",
                "a nonce counts requests in their order, which streams do not have: leave HTTP/2 or WebSocket out",
            ),
            (
                spec.slice != Part::WHOLE,
                "several agents",
                "name and password stay in this process: leave the agents out",
            ),
            (
                spec.requests.iter().any(own),
                "a header Authorization of your own",
                "each request gets one with its digest: leave it out",
            ),
            (
                spec.surprises.is_some() || (spec.draws() && spec.request_id.is_none()),
                "values that are drawn for each request",
                "leave one of them out",
            ),
        ],
    )?;
    let (name, _) = credentials.parts();
    let why = match name {
        "" => "name and password are in no record: give them again",
        _ if !name.is_ascii() => {
            "a name beyond ASCII cannot be sent (RFC 7616 section 3.4, username*)"
        }
        _ => return Ok(()),
    };
    Err(EngineError::Digest { why: why.into() })
}

/// One source address has a limited range of ports towards one target.
fn ports(spec: &LoadSpec, is_ipv4: bool) -> Result<(), EngineError> {
    let Some(ports) = local_ports() else { return Ok(()) };
    let (sources, targets) =
        (spec.source_addresses.len().max(1) as u64, spec.addresses.len() as u64);
    let connections = users(spec);
    if !is_ipv4 || u64::from(connections) <= ports * sources * targets {
        return Ok(());
    }
    Err(EngineError::TooFewPorts {
        connections,
        sources,
        targets,
        ports,
        needed: u64::from(connections).div_ceil(ports * targets),
    })
}

/// The size of net.ipv4.ip_local_port_range.
fn local_ports() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut bounds = text.split_whitespace().map(str::parse::<u64>);
    match (bounds.next(), bounds.next()) {
        (Some(Ok(first)), Some(Ok(last))) => (last + 1).checked_sub(first),
        _ => None,
    }
}

fn requests(spec: &LoadSpec) -> Result<(), EngineError> {
    if spec.requests.is_empty() {
        return Err(EngineError::NoRequests);
    }
    if let Some(whole) = spec.requests.sample_of() {
        return Err(EngineError::SampleOfRequests {
            kept: spec.requests.len(),
            count: whole.count,
        });
    }
    for (nth, request) in spec.requests.iter().enumerate() {
        let is_head = request.method == "HEAD";
        let why = contradiction(&request.check).or_else(|| {
            let wants_body = !request.check.json.is_empty()
                || body_bounds(&request.check.body).is_some_and(|(min, _)| min > 0);
            (is_head && wants_body).then(|| "an answer to HEAD has no body".into())
        });
        if let Some(why) = why {
            return Err(EngineError::ImpossibleCheck { request: place(spec, nth), why });
        }
    }
    Ok(())
}

fn contradiction(check: &Check) -> Option<String> {
    if let Some(status) = check.status.iter().find(|status| !(200..=999).contains(*status)) {
        return Some(format!("no final answer has the status {status}"));
    }
    let (min, max) = body_bounds(&check.body)?;
    if min > max {
        return Some(format!("the least length {min} is above the greatest {max}"));
    }
    if let BodyCheck::Contains { all, .. } = &check.body
        && let Some(needle) = all.iter().find(|needle| needle.len() as u64 > max)
    {
        return Some(format!("`{needle}` is longer than the greatest length {max}"));
    }
    None
}

/// The least and the greatest length of a right body; `None` if any is right.
const fn body_bounds(check: &BodyCheck) -> Option<(u64, u64)> {
    match check {
        BodyCheck::Any
        | BodyCheck::Refereed
        | BodyCheck::Digested { .. }
        | BodyCheck::Events(_) => None,
        BodyCheck::Exact(body) => Some((body.len() as u64, body.len() as u64)),
        BodyCheck::Length { min, max } | BodyCheck::Contains { min, max, .. } => Some((*min, *max)),
    }
}

const SCENARIO: &str = "a scenario";

/// Bodies that are made while they are sent.
fn uploads(spec: &LoadSpec) -> Result<(), EngineError> {
    if !spec.uploads() {
        return Ok(());
    }
    none_of(
        "an upload",
        [
            (
                spec.protocol != Protocol::Http1,
                "another protocol than HTTP/1.1",
                "only requests of HTTP/1.1 are sent with such bodies: leave HTTP/2 or WebSocket out",
            ),
            (
                spec.connections.pipeline > 1,
                PIPELINING,
                "leave it out: the next request follows the answer",
            ),
            (spec.scenario.is_some(), SCENARIO, "give the steps bodies of their own"),
        ],
    )?;
    let has_both = |request: &Request| request.upload.is_some() && !request.body.is_empty();
    match spec.requests.iter().position(has_both) {
        Some(nth) => Err(EngineError::UnsendableRequest {
            request: place(spec, nth),
            why: "it has a body and an upload: keep one".into(),
        }),
        None => Ok(()),
    }
}

/// Messages of a WebSocket have no target and no head, and steps have values of their own.
fn drawn_and_read(spec: &LoadSpec) -> Result<(), EngineError> {
    const DRAWN: &str = "a value that is drawn for each request";
    let fix = "leave it out, or use HTTP/1.1 or HTTP/2";
    let draws = spec.draws();
    let surprises = spec.surprises.is_some();
    match spec.protocol {
        Protocol::WebSocket if draws => Err(contradicts(DRAWN, WEBSOCKET, fix)),
        Protocol::WebSocket if surprises => Err(contradicts(SURPRISES, WEBSOCKET, fix)),
        _ if surprises && spec.scenario.is_some() => {
            Err(contradicts(SURPRISES, SCENARIO, "leave them out: each step has its own check"))
        }
        _ if spec.others() > 0 && spec.usual_turns() == 0 => Err(EngineError::OutOfBounds {
            what: "the number of requests that are sent only as surprises",
            value: spec.others().to_string(),
            bounds: "below the number of all requests",
        }),
        Protocol::Http1 if draws && spec.scenario.is_some() && spec.request_id.is_none() => {
            Err(contradicts(DRAWN, SCENARIO, "give the user a column of data instead"))
        }
        _ => Ok(()),
    }
}

const SURPRISES: &str = "requests or checks at places drawn at random";

/// The steps of users, who wait for each answer.
fn scenario(spec: &LoadSpec) -> Result<(), EngineError> {
    let Some(scenario) = &spec.scenario else { return Ok(()) };
    let exclusive = [
        (
            spec.protocol != Protocol::Http1,
            "another protocol than HTTP/1.1",
            "its users have a connection each and send requests: leave HTTP/2 or WebSocket out",
        ),
        (
            spec.connections.pipeline > 1,
            PIPELINING,
            "leave it out: each step waits for the answer before it",
        ),
        (
            spec.schedule.arrivals().is_some() && spec.stop.requests.is_some(),
            "a number of requests in an open loop",
            "its arrivals are whole walks: give a duration instead of the number",
        ),
    ];
    none_of(SCENARIO, exclusive)?;
    let (steps, requests) = (scenario.steps.len(), spec.requests.turn_count());
    if steps != requests || spec.requests.len() != requests {
        return Err(EngineError::Scenario {
            why: format!("it has {steps} steps for {requests} requests; each step is one request"),
        });
    }
    mix(spec, scenario)?;
    for variable in &scenario.variables {
        if let Values::Rows(rows) = &variable.values
            && (rows.columns.is_empty()
                || rows.cells.len() as u64 != rows.count * rows.columns.len() as u64)
        {
            return Err(EngineError::Scenario {
                why: format!(
                    "the rows of {} are missing, because records do not keep them: load the scenario from its file",
                    rows.file
                ),
            });
        }
    }
    script::all(scenario)
        .map(drop)
        .map_err(|(nth, why)| EngineError::ImpossibleCheck { request: place(spec, nth), why })
}

/// Several scenarios, each with its part of the load.
fn mix(spec: &LoadSpec, scenario: &Scenario) -> Result<(), EngineError> {
    if !scenario.is_whole() {
        return Err(EngineError::Scenario {
            why: "the scenarios of its mix are not its steps; each step belongs to one".into(),
        });
    }
    let Some(asked) = scenario.users() else { return Ok(()) };
    if spec.schedule.arrivals().is_some() {
        let fix = "give weights: each arrival is another user, who walks once";
        return Err(contradicts("numbers of users by scenario", "a rate", fix));
    }
    let users = all_users(spec);
    if asked != u64::from(users) {
        return Err(EngineError::Scenario {
            why: format!(
                "its scenarios have {asked} users together, and the load has {users}; make them equal, or give weights"
            ),
        });
    }
    Ok(())
}

fn numbers(spec: &LoadSpec) -> Result<(), EngineError> {
    let counts = [
        ("the number of threads", u64::from(spec.threads)),
        ("the pipeline depth", u64::from(spec.connections.pipeline)),
        ("the number of streams per connection", u64::from(spec.connections.streams)),
        ("requests per connection", spec.connections.requests_per_connection.map_or(1, u64::from)),
        ("the number of requests", spec.stop.requests.unwrap_or(1)),
        ("the duration", spec.stop.duration_ns.unwrap_or(1)),
        ("the timeout of connects", spec.timeouts.connect_ns),
        ("the timeout of requests", spec.timeouts.request_ns),
        ("the limit of heads", u64::from(spec.limits.head_bytes)),
        ("the patience of users", spec.timeouts.patience_ns.unwrap_or(1)),
    ];
    if let Some((what, _)) = counts.into_iter().find(|(_, value)| *value == 0) {
        return Err(EngineError::Zero { what });
    }
    late_answers(spec)?;
    let think_ns = spec.schedule.think().map_or(0, Spread::max_ns);
    let schedule_ns = spec.schedule.length_ns().unwrap_or(0);
    let bounds = [
        ("the number of threads", u64::from(spec.threads), 1024, "at most 1,024"),
        ("the number of connections", u64::from(all_users(spec)), 1 << 24, "at most 16,777,216"),
        ("the pipeline depth", u64::from(spec.connections.pipeline), 1024, "at most 1,024"),
        (
            "the number of streams per connection",
            u64::from(spec.connections.streams),
            1024,
            "at most 1,024",
        ),
        (
            "requests under way at the same time",
            spec.connections.most_under_way(),
            1 << 24,
            "at most 16,777,216",
        ),
        ("the timeout of connects", spec.timeouts.connect_ns, 3_600_000_000_000, "at most 1 hour"),
        ("the timeout of requests", spec.timeouts.request_ns, 3_600_000_000_000, "at most 1 hour"),
        ("the limit of heads", u64::from(spec.limits.head_bytes), 16 << 20, "at most 16 MiB"),
        ("the spin before a deadline", spec.spin_ns.unwrap_or(0), 10_000_000, "at most 10 ms"),
        ("the duration", spec.stop.duration_ns.unwrap_or(0), LONGEST_NS, "at most 30 days"),
        ("the length of the warm-up", spec.warm_up.at_most_ns(), LONGEST_NS, "at most 30 days"),
        ("the think time", think_ns, LONGEST_NS, "at most 30 days"),
        ("the length of the schedule", schedule_ns, LONGEST_NS, "at most 30 days"),
    ];
    match bounds.into_iter().find(|(_, value, most, _)| value > most) {
        Some((what, value, _, bounds)) => {
            Err(EngineError::OutOfBounds { what, value: value.to_string(), bounds })
        }
        None => enough_users(spec),
    }
}

/// Threads look for what is late every millisecond: a shorter timeout would not be kept.
fn late_answers(spec: &LoadSpec) -> Result<(), EngineError> {
    let timeouts = [
        ("the timeout of requests", spec.timeouts.request_ns),
        ("the timeout of connects", spec.timeouts.connect_ns),
    ];
    match timeouts.into_iter().find(|(_, ns)| *ns < LEAST_TIMEOUT_NS) {
        Some((what, ns)) => Err(EngineError::OutOfBounds {
            what,
            value: format_ns(ns),
            bounds: "at least 1 ms, because threads look for late answers that often",
        }),
        None => Ok(()),
    }
}

/// Each thread needs a user.
fn enough_users(spec: &LoadSpec) -> Result<(), EngineError> {
    let users = users(spec);
    if users == 0 {
        return Err(EngineError::Zero { what: "the number of connections" });
    }
    if spec.threads > users {
        return Err(EngineError::MoreThreadsThanConnections {
            threads: spec.threads,
            connections: users,
            users: spec.schedule.users_are(),
        });
    }
    Ok(())
}

/// Longer times are mistakes, and their sums could overflow.
const LONGEST_NS: u64 = 30 * 24 * 3_600 * 1_000_000_000;

const PIPELINING: &str = Connections::PIPELINING;
const STREAMS: &str = Connections::STREAMS;
const WEBSOCKET: &str = "WebSocket";

/// QUIC is neither TCP nor without TLS.
fn quic(spec: &LoadSpec) -> Result<(), EngineError> {
    if spec.protocol != Protocol::Http3 {
        return Ok(());
    }
    none_of(
        "HTTP/3",
        [
            (spec.tls.is_none(), "a URL without TLS", "QUIC has TLS in it: write https://"),
            (spec.unix_socket.is_some(), "a unix socket", "QUIC goes over UDP: give an address"),
            (spec.proxy.is_some(), "a proxy", "tunnels carry TCP alone: leave the proxy out"),
            (
                spec.proxy_header.is_some(),
                "a PROXY header",
                "it goes before the bytes of TCP: leave it out",
            ),
        ],
    )
}

/// What only some protocols can do.
fn protocol(spec: &LoadSpec) -> Result<(), EngineError> {
    quic(spec)?;
    let Connections { pipeline, streams, requests_per_connection, .. } = spec.connections;
    match spec.protocol {
        Protocol::Http1 if streams > 1 => Err(contradicts(
            STREAMS,
            "HTTP/1.1",
            "its connections carry one request after the other; choose HTTP/2, or more connections",
        )),
        Protocol::WebSocket if streams > 1 => {
            Err(contradicts(STREAMS, WEBSOCKET, "a WebSocket has one user; give more connections"))
        }
        Protocol::WebSocket if pipeline > 1 => Err(contradicts(
            PIPELINING,
            WEBSOCKET,
            "each message waits for the answer to the one before; give more connections",
        )),
        Protocol::WebSocket
            if spec.requests.iter().any(|request| !request.check.status.is_empty()) =>
        {
            Err(contradicts("a status", WEBSOCKET, "its messages have none: leave the status out"))
        }
        Protocol::Http1 | Protocol::Http2 | Protocol::Http3 if spec.messages.is_some() => {
            Err(contradicts(
                "a kind of messages",
                "HTTP",
                "only WebSocket has messages: leave the kind out",
            ))
        }
        Protocol::Http1 | Protocol::Http2 | Protocol::Http3 if spec.first_words.is_some() => {
            Err(contradicts("first words", "HTTP", "only WebSocket has them: leave them out"))
        }
        Protocol::Http2 | Protocol::Http3 if pipeline > 1 => Err(contradicts(
            PIPELINING,
            spec.protocol.name(),
            "its connections have streams instead: give a number of streams",
        )),
        _ if streams > 1 && requests_per_connection.is_some() => Err(contradicts(
            STREAMS,
            "a number of requests per connection",
            "leave one of them out",
        )),
        _ => Ok(()),
    }
}

const BROADCAST: &str = "a broadcast";

/// One user sends, and one thread sees when the last connection has it.
fn broadcast(spec: &LoadSpec) -> Result<(), EngineError> {
    let Some(messages) = spec.messages.filter(|messages| messages.broadcast) else {
        return Ok(());
    };
    let is_short = |request: &Request| request.body.len() < NUMBER_BYTES;
    let exclusive = [
        (
            spec.schedule.users_come_and_go(),
            spec.schedule.users_are(),
            "one connection sends and the others only listen: give a number of connections",
        ),
        (
            spec.threads > 1,
            "several threads",
            "one thread has to see when the last connection has a message: give one",
        ),
        (
            spec.slice != Part::WHOLE,
            "several agents",
            "one of them has to see when the last connection has a message: leave the agents out",
        ),
        (
            spec.connections.requests_per_connection.is_some(),
            "a number of requests per connection",
            "who listens stays: leave it out",
        ),
        (
            !messages.numbered || spec.requests.iter().any(is_short),
            "messages without a number of 16 bytes",
            "copies are known by it: let messages be generated, of 16 bytes or more",
        ),
        (
            spec.first_words.as_ref().is_some_and(FirstWords::tells_apart),
            "replies and messages to ignore",
            "a broadcast knows the copies of a message by their numbers: leave `replies` and `ignore` out",
        ),
    ];
    none_of(BROADCAST, exclusive)
}

fn schedule(spec: &LoadSpec) -> Result<(), EngineError> {
    let length_ns = spec.schedule.length_ns();
    if length_ns.is_none() && spec.stop.duration_ns.is_none() && spec.stop.requests.is_none() {
        return Err(EngineError::Endless);
    }
    spec.schedule.check(spec)?;
    if spec.schedule.arrivals().is_none() {
        no_spin(spec)?;
        no_patience(spec)?;
    }
    counted(spec)?;
    pipelining(spec)?;
    let needed_ns = spec.warm_up.at_most_ns() + spec.stop.duration_ns.unwrap_or(1);
    match length_ns.filter(|length_ns| *length_ns < needed_ns) {
        Some(stages_ns) => Err(EngineError::StagesTooShort { stages_ns, needed_ns }),
        None => Ok(()),
    }
}

fn counted(spec: &LoadSpec) -> Result<(), EngineError> {
    let Some(requests) = spec.stop.requests else { return Ok(()) };
    if !matches!(spec.warm_up, WarmUp::None) {
        return Err(contradicts(
            "a warm-up",
            "a number of requests",
            "choose warm-up none, or a duration instead of the number",
        ));
    }
    if requests < u64::from(spec.connections.count) && !spec.is_broadcast() {
        return Err(EngineError::FewerRequestsThanConnections {
            requests,
            connections: spec.connections.count,
        });
    }
    Ok(())
}

fn pipelining(spec: &LoadSpec) -> Result<(), EngineError> {
    if spec.connections.pipeline > 1 && spec.connections.requests_per_connection.is_some() {
        return Err(contradicts(
            PIPELINING,
            "a number of requests per connection",
            "leave one of them out",
        ));
    }
    Ok(())
}

fn no_spin(spec: &LoadSpec) -> Result<(), EngineError> {
    match spec.spin_ns {
        Some(_) => Err(contradicts(
            "a spin time",
            "this schedule",
            "only an open loop has deadlines to spin for: leave it out",
        )),
        None => Ok(()),
    }
}

const fn no_patience(spec: &LoadSpec) -> Result<(), EngineError> {
    match spec.timeouts.patience_ns {
        Some(_) => Err(contradicts(
            "a patience",
            "this schedule",
            "only in an open loop does a request wait for a free connection: leave it out",
        )),
        None => Ok(()),
    }
}

/// Refuses the first of these that is asked for beside `first`: whether it is, what it is, and the
/// fix.
fn none_of<const N: usize>(
    first: &'static str,
    exclusive: [(bool, &'static str, &'static str); N],
) -> Result<(), EngineError> {
    match exclusive.into_iter().find(|(is_asked, _, _)| *is_asked) {
        Some((_, what, fix)) => Err(contradicts(first, what, fix)),
        None => Ok(()),
    }
}

const fn contradicts(first: &'static str, second: &'static str, fix: &'static str) -> EngineError {
    EngineError::Contradiction { first, second, fix }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::{Schedule, StopRule};
    use pippin_model::text::units::Spread;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), Just(1), Just(u32::MAX), 0..2_000_u32, any::<u32>()]
    }

    fn times() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 0..100_000_000_000_u64]
    }

    fn loads() -> impl Strategy<Value = LoadSpec> {
        let part =
            (numbers(), numbers(), numbers()).prop_map(|(nth, width, of)| Part { nth, width, of });
        let devices = (numbers(), numbers(), times(), times()).prop_map(
            |(devices, requests_per_device, ramp_up_ns, sustain_ns)| Schedule::Devices {
                devices,
                requests_per_device,
                think: Spread::exactly(1),
                ramp_up_ns,
                sustain_ns,
                ramp_down_ns: ramp_up_ns,
            },
        );
        let schedule = prop_oneof![Just(Schedule::Closed { think: None }), devices];
        (part, schedule, (numbers(), numbers(), numbers(), numbers()), (times(), times(), times()))
            .prop_map(
                |(
                    slice,
                    schedule,
                    (threads, count, pipeline, streams),
                    (duration, connect, requests),
                )| {
                    let mut load = LoadSpec { slice, schedule, threads, ..LoadSpec::default() };
                    (load.connections.count, load.connections.pipeline) = (count, pipeline);
                    load.connections.streams = streams;
                    load.stop = StopRule { duration_ns: Some(duration), requests: Some(requests) };
                    load.timeouts.connect_ns = connect;
                    load
                },
            )
    }

    proptest! {
        /// No number makes checking panic or take long: each of these cases would take minutes if
        /// one number was counted up to.
        #[test]
        fn bounds_are_checked_before_anything_counts_up_to_a_number(load in loads()) {
            if bounds(&load).is_ok() {
                prop_assert!(load.threads <= 1_024 && users(&load) <= 1 << 24);
                prop_assert!(users(&load) >= load.threads);
            }
            drop(validate(&load));
            prop_assert!(crate::run::watchdog::longest(&load).load_ns > 0);
        }
    }

    #[test]
    fn a_timeout_that_could_not_be_kept_is_refused() {
        let with = |request_ns, connect_ns| {
            let mut load = LoadSpec::default();
            (load.timeouts.request_ns, load.timeouts.connect_ns) = (request_ns, connect_ns);
            bounds(&load).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(with(LEAST_TIMEOUT_NS, LEAST_TIMEOUT_NS), Ok(()));
        let refusal = with(999_999, LEAST_TIMEOUT_NS).unwrap_err();
        assert!(refusal.starts_with("the timeout of requests is "), "{refusal}");
        let refusal = with(LEAST_TIMEOUT_NS, 500_000).unwrap_err();
        assert!(refusal.starts_with("the timeout of connects is 500"), "{refusal}");
    }

    #[test]
    fn a_share_of_nothing_is_refused() {
        for (nth, width, of) in [(0, 1, 0), (0, 0, 0), (3, 1, 3), (u32::MAX, 2, 5)] {
            let slice = Part { nth, width, of };
            let refusal = bounds(&LoadSpec { slice, ..LoadSpec::default() });
            assert!(matches!(refusal, Err(EngineError::OutOfBounds { .. })), "{slice:?}");
            assert!(slice.share(1_000) <= 1_000);
        }
    }
}
