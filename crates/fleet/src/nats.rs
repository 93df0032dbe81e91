//! The connection to NATS, and its conditions on other machines.
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use pippin_model::text::bounded;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::actor::Link;
use crate::error::FleetError;

/// How many messages may wait while the connection is restored.
const WAITING: usize = 65_536;
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);

/// The address of the NATS server, and our credentials. Passwords never come from a command line.
#[derive(Clone, Default)]
pub struct Nats {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`.
    pub url: String,
    /// A file with credentials (JWT and seed, as `nsc` makes them).
    pub creds: Option<PathBuf>,
    /// A token.
    pub token: Option<String>,
    /// A user and its password: any text.
    pub login: Option<(String, String)>,
    /// A file with the authority (PEM) that signed the server's certificate.
    pub tls_ca: Option<PathBuf>,
}

/// Shows no secret.
impl std::fmt::Debug for Nats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Nats").field(&self.name()).finish()
    }
}

/// A connection, with what happens to it.
pub struct Connection {
    /// Sends and subscribes.
    pub client: Client,
    /// Losses, returns and refusals, as they happen.
    pub links: UnboundedReceiver<Link>,
}

/// A refusal of the server in words, with the fix. `what` is what the server said.
#[must_use]
pub fn refused(what: &str) -> String {
    format!(
        "the NATS server refuses: {what}; give this user its rights (`pippin help fleet`; `pippin fleet init` writes them)"
    )
}

impl Nats {
    /// Whether these settings may be used: anything on loopback, elsewhere only TLS with
    /// credentials. Anyone who may publish to a fleet can make it send load.
    ///
    /// # Errors
    /// If the URL is not valid or has a password, a file is missing, or TLS or the credentials are
    /// missing.
    pub fn check(&self) -> Result<(), FleetError> {
        let server = self.server()?;
        for (flag, file) in [("--creds", &self.creds), ("--tls-ca", &self.tls_ca)] {
            if let Some(file) = file.as_ref().filter(|file| !file.is_file()) {
                return Err(FleetError::User(format!(
                    "{flag}: there is no file {}",
                    file.display()
                )));
            }
            let read = file.as_ref().map(|file| bounded::read(file, bounded::BY_HAND));
            if let Some(Err(error)) = read {
                return Err(FleetError::User(format!("{flag}: {error}")));
            }
        }
        if is_loopback(server.host()) {
            return Ok(());
        }
        let place = format!("--nats {}: this server is not on this machine", shown(&server));
        if !self.is_tls(&server) {
            return Err(FleetError::User(format!(
                "{place}, so it must be reached over TLS: write tls://{}:{}, and name its authority with --tls-ca FILE if that is not one of the system's",
                server.host(),
                server.port()
            )));
        }
        let is_known = self.creds.is_some() || self.token.is_some() || self.login.is_some();
        if !is_known {
            return Err(FleetError::User(format!(
                "{place}, so it needs credentials: set PIPPIN_NATS_USER and PIPPIN_NATS_PASSWORD, or PIPPIN_NATS_TOKEN, or give --nats-file FILE or --creds FILE"
            )));
        }
        Ok(())
    }

    /// Connects. If the connection is lost later, the client keeps trying to restore it.
    ///
    /// # Errors
    /// As [`Self::check`], and if nobody answers or the server refuses us.
    pub async fn connect(&self, name: &str) -> Result<Connection, FleetError> {
        self.check()?;
        let server = self.server()?;
        let at = format!("--nats {}", shown(&server));
        let wrong = |what: &dyn std::fmt::Display| FleetError::User(format!("{at}: {what}"));
        let (tell, links) = unbounded_channel();
        let mut options = ConnectOptions::new()
            .name(name)
            .client_capacity(WAITING)
            .subscription_capacity(WAITING)
            .connection_timeout(CONNECT)
            .ping_interval(Duration::from_secs(2))
            .max_reconnects(None)
            .ignore_discovered_servers()
            .reconnect_delay_callback(|attempts| {
                Duration::from_millis((attempts as u64 * 50).min(500))
            })
            .event_callback(move |event| {
                // If the member has ended, nobody needs this.
                let link = link_of(&event);
                link.into_iter().for_each(|link| drop(tell.send(link)));
                std::future::ready(())
            });
        if self.is_tls(&server) {
            options = options.require_tls(true);
        }
        if let Some(file) = &self.tls_ca {
            options = options.add_root_certificates(file.clone());
        }
        if let Some((user, password)) = &self.login {
            options = options.user_and_password(user.clone(), password.clone());
        }
        if let Some(token) = &self.token {
            options = options.token(token.clone());
        }
        if let Some(file) = &self.creds {
            let text = bounded::text(file, bounded::BY_HAND).map_err(|error| wrong(&error))?;
            options = options.credentials(&text).map_err(|error| wrong(&error))?;
        }
        let client = options.connect(server).await.map_err(|error| {
            let what = error.to_string();
            if what.contains("authorization") {
                wrong(&format!("{what}: it does not know this user, password or token"))
            } else {
                FleetError::Lost(format!("{at}: {what}"))
            }
        })?;
        Ok(Connection { client, links })
    }

    /// The URL, for messages.
    #[must_use]
    pub fn name(&self) -> String {
        self.server().map_or_else(|_| "(not an address)".into(), |server| shown(&server))
    }

    fn server(&self) -> Result<ServerAddr, FleetError> {
        // A password of digits, or with a slash, is none in a URL; and others read command lines.
        if self.url.contains('@') {
            return Err(FleetError::User(
                "--nats: leave user and password out of the URL, which other users of this machine can read; set PIPPIN_NATS_USER and PIPPIN_NATS_PASSWORD, or give --nats-file FILE".into(),
            ));
        }
        let wrong = |why: &str| {
            FleetError::User(format!(
                "--nats `{}`: {why}; write it like nats://127.0.0.1:4222",
                self.url
            ))
        };
        let server = ServerAddr::from_str(&self.url).map_err(|error| wrong(&error.to_string()))?;
        if server.host().is_empty() || !matches!(server.scheme(), "nats" | "tls") {
            return Err(wrong("it is not the address of a NATS server"));
        }
        Ok(server)
    }

    fn is_tls(&self, server: &ServerAddr) -> bool {
        server.scheme() == "tls" || self.tls_ca.is_some()
    }
}

fn link_of(event: &Event) -> Option<Link> {
    match event {
        Event::Connected => Some(Link::Restored),
        Event::Disconnected => Some(Link::Lost),
        Event::ServerError(error) => Some(Link::Refused(error.to_string())),
        _ => None,
    }
}

fn shown(server: &ServerAddr) -> String {
    format!("{}://{}:{}", server.scheme(), server.host(), server.port())
}

fn is_loopback(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    literal == "localhost" || literal.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(nats: &Nats) -> String {
        nats.check().err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn off_loopback_tls_and_a_proof_are_asked_for() {
        let at = |url: &str| Nats { url: url.into(), ..Nats::default() };
        for url in ["nats://127.0.0.1:4222", "nats://localhost", "127.0.0.1:4222", "nats://[::1]:4"]
        {
            assert_eq!(why(&at(url)), "", "{url}");
        }
        let token = Some("secret".to_string());
        assert!(
            why(&Nats { token: token.clone(), ..at("nats://10.0.0.1:4222") })
                .contains("over TLS: write tls://10.0.0.1:4222")
        );
        // A host whose name begins like one of this machine is still another machine.
        assert!(
            why(&Nats { token: token.clone(), ..at("nats://localhost.evil.example") })
                .contains("over TLS")
        );
        assert!(why(&at("tls://nats.example:4222")).contains("needs credentials"));
        assert_eq!(why(&Nats { token, ..at("tls://nats.example:4222") }), "");
        let in_url = at("tls://ana:secret@nats.example:4222");
        assert!(why(&in_url).contains("PIPPIN_NATS_PASSWORD"), "{}", why(&in_url));
        assert!(!why(&in_url).contains("secret") && !format!("{in_url:?}").contains("secret"));
        for password in ["12345", "a/b:c@d e", "$x"] {
            let login = Some(("ana".to_string(), password.to_string()));
            assert_eq!(why(&Nats { login, ..at("tls://nats.example:4222") }), "");
        }
        assert!(why(&at("http://127.0.0.1:1")).contains("write it like nats://127.0.0.1:4222"));
        let missing = Nats { tls_ca: Some("/nonexistent/ca.pem".into()), ..at("tls://a.example") };
        assert!(why(&missing).contains("--tls-ca: there is no file"));
    }
}
