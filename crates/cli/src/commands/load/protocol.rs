//! The protocol, and one connection before the load that shows mistakes in the flags.
use pippin_engine::{
    EngineError, Place, Remedy, check_request, try_connection, try_websocket as engine_tries,
};
use pippin_lab::address::Url;
use pippin_model::load_spec::{LoadSpec, Protocol, Request};
use pippin_model::tls::TlsSpec;
use std::time::Duration;

use crate::arguments::load::ProtocolArguments;
use crate::exit::CliError;

/// The longest time for the connection before the load: the same as in the load.
const PATIENCE: Duration = Duration::from_secs(10);

/// The protocol that the flags and the URL name.
pub fn of(arguments: &ProtocolArguments, url: &Url) -> Result<Protocol, CliError> {
    let refuse = |why: &str| Err(CliError::User(why.into()));
    if url.is_websocket {
        return match (arguments.http2, arguments.h2c, arguments.streams) {
            (false, false, 0..=1) => Ok(Protocol::WebSocket),
            (false, false, _) => refuse(
                "--streams has no effect over WebSocket, where each connection has one user; write more connections (-c)",
            ),
            _ => refuse(
                "--http2 and --h2c have no effect over WebSocket, which is opened over HTTP/1.1; leave them out",
            ),
        };
    }
    if arguments.http2 && !url.is_https {
        return refuse(
            "--http2 is negotiated in TLS, which http:// does not have; write https://, or --h2c for a server that speaks HTTP/2 without TLS",
        );
    }
    if arguments.h2c && url.is_https {
        return refuse(
            "--h2c is HTTP/2 without TLS, and https:// has TLS; write --http2, or http://",
        );
    }
    if arguments.http2 || arguments.h2c {
        return Ok(Protocol::Http2);
    }
    if arguments.streams > 1 {
        return refuse(
            "--streams has no effect over HTTP/1.1, whose connections carry one request after the other; write --http2 or --h2c, or more connections (-c)",
        );
    }
    Ok(Protocol::Http1)
}

/// Checks that all requests can be sent in a protocol: HTTP/2 has no headers about connections.
pub fn check(protocol: Protocol, requests: &[Request]) -> Result<(), CliError> {
    if protocol == Protocol::Http1 {
        return Ok(());
    }
    requests.iter().try_for_each(|request| check_request(request, protocol)).map_err(CliError::User)
}

/// Opens one connection to each address. So a wrong certificate, or a server with another protocol,
/// gives one message with the fix instead of a load of failures. HTTP/1.1 without TLS needs no such
/// check.
pub fn try_it<'a>(
    places: impl Iterator<Item = Place<'a>>,
    tls: Option<&TlsSpec>,
    protocol: Protocol,
    timeout: Duration,
) -> Result<(), CliError> {
    if tls.is_none() && protocol == Protocol::Http1 {
        return Ok(());
    }
    for place in places {
        try_connection(place, tls, protocol, timeout.min(PATIENCE))
            .map_err(|error| CliError::User(format!("{error}{}", fix(&error))))?;
    }
    Ok(())
}

/// Opens and closes one WebSocket at each address.
pub fn try_websocket(
    base: &LoadSpec,
    request: &Request,
    timeout: Duration,
) -> Result<(), CliError> {
    for place in Place::all_of(base) {
        engine_tries(place, base.tls.as_ref(), request, timeout.min(PATIENCE))
            .map_err(|error| CliError::User(format!("{error}{}", fix_of_websocket(&error))))?;
    }
    Ok(())
}

const fn fix_of_websocket(error: &EngineError) -> &'static str {
    match error {
        EngineError::Handshake { remedy: Some(Remedy::PlainHttp), .. } => "; if so, write ws://",
        other => fix(other),
    }
}

const fn fix(error: &EngineError) -> &'static str {
    match error {
        EngineError::Handshake { remedy: Some(Remedy::TrustRoot), .. } => {
            "; trust its root with --ca FILE, or do not verify it with --insecure"
        }
        EngineError::Handshake { remedy: Some(Remedy::OtherName), .. } => {
            "; name what it is for with --server-name NAME, or do not verify it with --insecure"
        }
        EngineError::Handshake { remedy: Some(Remedy::DoNotVerify), .. } => {
            "; renew it, or do not verify it with --insecure"
        }
        EngineError::Handshake { remedy: Some(Remedy::PlainHttp), .. } => "; if so, write http://",
        EngineError::Handshake { remedy: Some(Remedy::OtherProtocol), .. } => {
            "; leave --http2 out to load it over HTTP/1.1"
        }
        EngineError::NoHttp2 { .. } => "; leave --h2c or --http2 out to load it over HTTP/1.1",
        EngineError::NoWebSocket { .. } => {
            "; is the path right? http:// loads it without WebSocket"
        }
        EngineError::NoRoots { .. } => " (--ca FILE, --insecure)",
        EngineError::ExtraRoots(_) => " (--ca)",
        EngineError::ServerName { .. } => " (--server-name)",
        EngineError::ClientCertificate(_) => " (--cert, --key)",
        _ => "",
    }
}
