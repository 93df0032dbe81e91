//! The NATS server of a fleet and its user: from flags, from a file, or from the environment. A
//! password is never on a command line, which other users of the machine can read.
use pippin_fleet::accounts::variable;
use pippin_fleet::nats::Nats;
use pippin_model::text::bounded;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::arguments::NatsArguments;
use crate::exit::CliError;

/// A server with its user, and the name that the user may use, if a file or the environment has it.
pub struct Settings {
    /// The server.
    pub nats: Nats,
    /// The name of the agent or probe.
    pub name: Option<String>,
}

/// The settings, if a server is named anywhere.
pub fn settings(arguments: &NatsArguments) -> Result<Option<Settings>, CliError> {
    let (file, folder) = match &arguments.nats_file {
        Some(path) => (read(path)?, path.parent().map(Path::to_path_buf).unwrap_or_default()),
        None => (BTreeMap::new(), PathBuf::new()),
    };
    let given = |name: &str| match file.get(name) {
        Some(text) => Some((text.clone(), true)),
        None => std::env::var(name).ok().filter(|text| !text.is_empty()).map(|text| (text, false)),
    };
    let text = |name: &str| given(name).map(|(text, _)| text);
    // Paths in a file count from its folder.
    let path = |name: &str| {
        given(name).map(|(text, in_file)| if in_file { folder.join(text) } else { text.into() })
    };
    let Some(url) = arguments.nats.clone().or_else(|| text(variable::NATS)) else {
        return match &arguments.nats_file {
            Some(path) => Err(CliError::User(format!(
                "--nats-file {}: it does not name the server: add a line {}=tls://HOST:4222",
                path.display(),
                variable::NATS
            ))),
            None => Ok(None),
        };
    };
    let password = match (text(variable::PASSWORD), path(variable::PASSWORD_FILE)) {
        (Some(password), _) => Some(password),
        (None, Some(path)) => Some(password_in(&path)?),
        (None, None) => None,
    };
    let login = match (text(variable::USER), password) {
        (Some(user), Some(password)) => Some((user, password)),
        (None, None) => None,
        (user, _) => {
            let (there, missing) = if user.is_some() {
                (variable::USER, variable::PASSWORD)
            } else {
                (variable::PASSWORD, variable::USER)
            };
            return Err(CliError::User(format!("{there} is set and {missing} is not: set both")));
        }
    };
    let nats = Nats {
        url,
        creds: arguments.creds.clone().or_else(|| path(variable::CREDS)),
        token: text(variable::TOKEN).filter(|_| login.is_none()),
        login,
        tls_ca: arguments.tls_ca.clone().or_else(|| path(variable::CA)),
    };
    nats.check()?;
    Ok(Some(Settings { nats, name: text(variable::NAME) }))
}

/// The variables of a file: `NAME=value` lines, as systemd's EnvironmentFile and shells read them.
fn read(path: &Path) -> Result<BTreeMap<String, String>, CliError> {
    let shown = path.display();
    let text = bounded::text(path, bounded::BY_HAND)
        .map_err(|error| CliError::User(format!("--nats-file {shown}: {error}")))?;
    let lines = (1..).zip(text.lines().map(str::trim));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| {
            let wrong = |why: &str| CliError::User(format!("--nats-file {shown}:{number}: {why}"));
            let line = line.strip_prefix("export ").unwrap_or(line);
            let (name, value) = line.split_once('=').ok_or_else(|| wrong("write NAME=value"))?;
            if !variable::ALL.contains(&name) {
                return Err(wrong(&format!(
                    "`{name}` is not known (there are: {})",
                    variable::ALL.join(", ")
                )));
            }
            let quoted = ['"', '\''].iter().find_map(|quote| {
                value.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote))
            });
            Ok((name.to_string(), quoted.unwrap_or(value).to_string()))
        })
        .collect()
}

/// The first line of a file, as a Secret of Kubernetes is mounted.
fn password_in(path: &Path) -> Result<String, CliError> {
    let text = bounded::text(path, bounded::BY_HAND).map_err(|error| {
        CliError::User(format!("{} {}: {error}", variable::PASSWORD_FILE, path.display()))
    })?;
    Ok(text.lines().next().unwrap_or_default().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_settings(text: &str) -> Result<Option<Settings>, CliError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.env");
        std::fs::write(&path, text).unwrap();
        std::fs::write(folder.path().join("secret"), "12345\n").unwrap();
        settings(&NatsArguments { nats: None, nats_file: Some(path), creds: None, tls_ca: None })
    }

    #[test]
    fn a_password_may_be_any_text() {
        for password in ["12345", "a/b", "p@ss:w=rd #1"] {
            let text = format!(
                "# a comment\nPIPPIN_NATS=nats://127.0.0.1:4222\nPIPPIN_NATS_USER=ana\nPIPPIN_NATS_PASSWORD={password}\n"
            );
            let settings = read_settings(&text).unwrap().unwrap();
            assert_eq!(settings.nats.login, Some(("ana".into(), password.into())));
        }
        let text = "PIPPIN_NATS=nats://127.0.0.1:1\nexport PIPPIN_NATS_USER='ana'\nPIPPIN_NATS_PASSWORD_FILE=secret\nPIPPIN_AGENT=a\n";
        let settings = read_settings(text).unwrap().unwrap();
        assert_eq!(settings.nats.login, Some(("ana".into(), "12345".into())));
        assert_eq!(settings.name.as_deref(), Some("a"));
    }

    #[test]
    fn slips_in_a_file_are_named() {
        for (text, said) in [
            ("PIPPIN_NATS_USER=ana\n", "does not name the server"),
            (
                "PIPPIN_NATS=nats://127.0.0.1:1\nPIPPIN_NATS_USER=ana\n",
                "PIPPIN_NATS_PASSWORD is not",
            ),
            ("PIPPIN_NATS=nats://127.0.0.1:1\nPIPPIN_NAT=x\n", ":2: `PIPPIN_NAT` is not known"),
            ("hello\n", ":1: write NAME=value"),
            ("PIPPIN_NATS=nats://ana:secret@127.0.0.1:1\n", "leave user and password out"),
        ] {
            let why = read_settings(text).err().map_or_else(String::new, |error| error.to_string());
            assert!(why.contains(said) && !why.contains("secret@"), "{why}");
        }
    }
}
