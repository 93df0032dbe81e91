//! The flags of `pippin load` about TLS.
use pippin_lab::address::Url;
use pippin_model::tls::TlsSpec;

use crate::arguments::load::TlsArguments;
use crate::exit::CliError;

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
