//! The flags of `pippin load` about TLS, and a handshake before the load that tells what is wrong
//! with them.
use pippin_engine::{EngineError, Remedy, try_handshake};
use pippin_lab::address::Url;
use pippin_model::tls::TlsSpec;
use std::net::SocketAddr;
use std::time::Duration;

use crate::arguments::load::TlsArguments;
use crate::exit::CliError;

/// How long the handshake before the load may take at the most: as long as one in it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How connections are to be secured; `None` for http.
pub fn of(arguments: &TlsArguments, url: &Url) -> Result<Option<TlsSpec>, CliError> {
    if !url.is_https {
        return refuse_without_tls(arguments).map(|()| None);
    }
    let read = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path)
            .map_err(|error| CliError::User(format!("--ca: {}: {error}", path.display())))
    };
    Ok(Some(TlsSpec {
        server_name: arguments.server_name.clone().unwrap_or_else(|| url.host.clone()),
        extra_roots_pem: arguments.ca.as_ref().map(read).transpose()?,
        verify: !arguments.insecure,
        resume: arguments.tls_resume,
    }))
}

fn refuse_without_tls(arguments: &TlsArguments) -> Result<(), CliError> {
    let given = [
        ("--ca", arguments.ca.is_some()),
        ("--insecure", arguments.insecure),
        ("--server-name", arguments.server_name.is_some()),
        ("--tls-resume", arguments.tls_resume),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(CliError::User(format!(
            "{flag} has no effect with http://; leave it out, or write https://"
        ))),
        None => Ok(()),
    }
}

/// One handshake with each address, so that a wrong certificate is a message with its fix and no
/// load of failures.
pub fn try_it(
    addresses: &[SocketAddr],
    tls: Option<&TlsSpec>,
    timeout: Duration,
) -> Result<(), CliError> {
    let Some(tls) = tls else { return Ok(()) };
    for address in addresses {
        try_handshake(*address, tls, timeout.min(PATIENCE))
            .map_err(|error| CliError::User(format!("{error}{}", fix(&error))))?;
    }
    Ok(())
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
        EngineError::NoRoots { .. } => " (--ca FILE, --insecure)",
        EngineError::ExtraRoots(_) => " (--ca)",
        EngineError::ServerName { .. } => " (--server-name)",
        _ => "",
    }
}
