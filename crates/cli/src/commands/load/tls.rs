//! The flags of `pippin load` about TLS.
use pippin_lab::load::address::Url;
use pippin_model::load::tls::{ClientCertificate, TlsSpec};
use std::path::Path;

use crate::arguments::load::TlsArguments;
use crate::exit::CliError;

/// How to secure connections; `None` for http.
pub fn from_arguments(arguments: &TlsArguments, url: &Url) -> Result<Option<TlsSpec>, CliError> {
    if !url.is_https {
        return refuse_without_tls(arguments, url).map(|()| None);
    }
    Ok(Some(TlsSpec {
        server_name: arguments.server_name.clone().unwrap_or_else(|| url.host.clone()),
        extra_roots_pem: arguments.ca.as_ref().map(|path| read("--ca", path)).transpose()?,
        verify: !arguments.insecure,
        resume: arguments.tls_resume,
        client: client(arguments)?,
    }))
}

/// The certificate to show to the server; its key is in the same file unless one is named.
fn client(arguments: &TlsArguments) -> Result<Option<ClientCertificate>, CliError> {
    let Some(certificate) = &arguments.cert else { return Ok(None) };
    let (flag, key) = arguments.key.as_ref().map_or(("--cert", certificate), |key| ("--key", key));
    Ok(Some(ClientCertificate {
        chain_pem: read("--cert", certificate)?,
        key_pem: read(flag, key)?,
    }))
}

fn read(flag: &str, path: &Path) -> Result<String, CliError> {
    pippin_model::text::bounded::text(path, pippin_model::text::bounded::BY_HAND)
        .map_err(|error| CliError::User(format!("{flag}: {}: {error}", path.display())))
}

fn refuse_without_tls(arguments: &TlsArguments, url: &Url) -> Result<(), CliError> {
    let given = [
        ("--ca", arguments.ca.is_some()),
        ("--cert", arguments.cert.is_some()),
        ("--insecure", arguments.insecure),
        ("--server-name", arguments.server_name.is_some()),
        ("--tls-resume", arguments.tls_resume),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(CliError::User(format!(
            "{flag} has no effect with {}; leave it out, or write {}",
            if url.is_websocket { "ws://" } else { "http://" },
            if url.is_websocket { "wss://" } else { "https://" },
        ))),
        None => Ok(()),
    }
}
