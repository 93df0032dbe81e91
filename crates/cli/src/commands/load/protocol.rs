//! The protocol, and one connection before the load that shows mistakes in the flags.
use pippin_engine::{EngineError, Remedy, check_request, try_places as engine_tries};
use pippin_lab::load::address::Url;
use pippin_lab::load::spoken;
use pippin_model::load::{LoadSpec, Protocol, Request};
use std::time::Duration;

use crate::arguments::load::{Http2Arguments, ProtocolArguments};
use crate::exit::CliError;

/// The longest time for the connection before the load: the same as in the load.
const PATIENCE: Duration = Duration::from_secs(10);

/// The protocol that the flags and the URL name. `pipeline` is what `--pipeline` says.
pub fn from_arguments(
    arguments: &ProtocolArguments,
    pipeline: u32,
    url: &Url,
) -> Result<Protocol, CliError> {
    let http2 = &arguments.http2;
    if url.is_websocket {
        return match (http2.is_asked() || arguments.grpc || arguments.http3, http2.streams) {
            (false, 0..=1) => Ok(Protocol::WebSocket),
            (false, _) => refuse(
                "--streams has no effect over WebSocket, where each connection has one user; write more connections (-c)",
            ),
            (true, _) => refuse(
                "--http2, --h2c, --http3 and --grpc have no effect over WebSocket, which is opened over HTTP/1.1; leave them out",
            ),
        };
    }
    if arguments.http3 {
        return if url.is_https {
            Ok(Protocol::Http3)
        } else {
            refuse("--http3 is QUIC, which has TLS in it; write https://")
        };
    }
    fits(http2, url)?;
    without_url(http2, arguments.grpc, pipeline)
}

/// Refuses HTTP/2 that a URL does not have: over TLS or without it.
pub fn fits(http2: &Http2Arguments, url: &Url) -> Result<(), CliError> {
    if http2.http2 && !url.is_https {
        return refuse(
            "--http2 is negotiated in TLS, which http:// does not have; write https://, or --h2c for a server that speaks HTTP/2 without TLS",
        );
    }
    if http2.h2c && url.is_https {
        return refuse(
            "--h2c is HTTP/2 without TLS, and https:// has TLS; write --http2, or http://",
        );
    }
    Ok(())
}

/// The protocol that the flags name, whatever the server's URL is.
pub fn without_url(
    http2: &Http2Arguments,
    grpc: bool,
    pipeline: u32,
) -> Result<Protocol, CliError> {
    if http2.is_asked() || grpc {
        if pipeline > 1 {
            return refuse(
                "--pipeline has no effect over HTTP/2, whose connections have streams instead; write --streams",
            );
        }
        return Ok(Protocol::Http2);
    }
    if http2.streams > 1 {
        return refuse(
            "--streams has no effect over HTTP/1.1, whose connections carry one request after the other; write --http2, --h2c or --http3, or more connections (-c)",
        );
    }
    Ok(Protocol::Http1)
}

fn refuse<T>(why: &str) -> Result<T, CliError> {
    Err(CliError::User(why.into()))
}

/// Checks that all requests can be sent in a protocol: HTTP/2 has no headers about connections.
pub fn check(protocol: Protocol, requests: &[Request]) -> Result<(), CliError> {
    if protocol == Protocol::Http1 {
        return Ok(());
    }
    requests.iter().try_for_each(|request| check_request(request, protocol)).map_err(CliError::User)
}

/// Opens one connection to each address of a load. A mistake in the flags gives one message with
/// the fix.
pub fn try_places(load: &LoadSpec, timeout: Duration) -> Result<(), CliError> {
    engine_tries(load, timeout.min(PATIENCE)).map_err(|error| {
        let fix = fix(&error, load.protocol);
        let is_direct = load.proxy.is_none();
        let instead =
            (is_direct && speaks_otherwise(&error)).then(|| spoken::instead(load, false)).flatten();
        CliError::User(
            instead
                .map_or_else(|| format!("{error}{fix}"), |instead| format!("{error}; {instead}")),
        )
    })
}

/// Whether the server may speak something else than what was tried.
const fn speaks_otherwise(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::Handshake { remedy: None | Some(Remedy::OtherProtocol), .. }
            | EngineError::NoHttp2 { .. }
            | EngineError::NoWebSocket { is_http: false, .. }
    )
}

fn fix(error: &EngineError, protocol: Protocol) -> &'static str {
    match error {
        EngineError::Handshake { remedy: Some(Remedy::PlainHttp), .. }
            if matches!(protocol, Protocol::WebSocket) =>
        {
            "; if so, write ws://"
        }
        EngineError::Handshake { remedy: Some(Remedy::TrustRoot), .. } => {
            "; trust its root with --ca FILE, or do not verify it with --insecure"
        }
        EngineError::Handshake { remedy: Some(Remedy::OtherName), .. } => {
            "; name what it is for with --server-name NAME, or do not verify it with --insecure"
        }
        EngineError::Handshake { remedy: Some(Remedy::DoNotVerify), .. } => {
            "; give the server another one, or do not verify it with --insecure"
        }
        EngineError::Handshake { remedy: Some(Remedy::PlainHttp), .. } => "; if so, write http://",
        EngineError::Handshake { remedy: Some(Remedy::OtherProtocol), .. } => {
            "; leave --http2 out to load it over HTTP/1.1"
        }
        EngineError::Handshake { remedy: Some(Remedy::OwnCertificate), .. } => {
            "; give one with --cert FILE and --key FILE"
        }
        EngineError::NoHttp2 { .. } => "; leave --h2c or --http2 out to load it over HTTP/1.1",
        EngineError::NoHttp3 { why, .. } if why.contains("certificate") => {
            "; trust its root with --ca FILE, or do not verify it with --insecure"
        }
        EngineError::NoHttp3 { .. } => {
            "; --http2 loads it over TCP, and leaving --http3 out over HTTP/1.1"
        }
        EngineError::NoWebSocket { .. } => {
            "; is the path right? http:// loads it without WebSocket"
        }
        EngineError::NoTunnel { .. } => " (--proxy)",
        EngineError::NoRoots { .. } => " (--ca FILE, --insecure)",
        EngineError::ExtraRoots(_) => " (--ca)",
        EngineError::ServerName { .. } => " (--server-name)",
        EngineError::ClientCertificate(_) => " (--cert, --key)",
        _ => "",
    }
}
