//! The accounts of a fleet: a certificate for the NATS server, a user with its own rights for each
//! member, and a file of variables that each member reads. `pippin fleet init` writes them.
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::error::FleetError;
use crate::fleet::random_key;
use crate::message::is_name;

/// Variables that name a NATS server and its user. A member reads them from its environment or from
/// a file.
pub mod variable {
    /// The server: `tls://nats.example:4222`.
    pub const NATS: &str = "PIPPIN_NATS";
    /// The user.
    pub const USER: &str = "PIPPIN_NATS_USER";
    /// Its password, any text.
    pub const PASSWORD: &str = "PIPPIN_NATS_PASSWORD";
    /// A file that holds the password instead.
    pub const PASSWORD_FILE: &str = "PIPPIN_NATS_PASSWORD_FILE";
    /// A token, where the server has no users.
    pub const TOKEN: &str = "PIPPIN_NATS_TOKEN";
    /// A file with credentials (JWT and seed).
    pub const CREDS: &str = "PIPPIN_NATS_CREDS";
    /// A file with the authority (PEM) of the server's certificate.
    pub const CA: &str = "PIPPIN_NATS_CA";
    /// The name of an agent or a probe. Its user may use no other.
    pub const NAME: &str = "PIPPIN_AGENT";

    /// All of them.
    pub const ALL: [&str; 8] = [NATS, USER, PASSWORD, PASSWORD_FILE, TOKEN, CREDS, CA, NAME];
}

/// The members of a fleet.
#[derive(Debug, Clone)]
pub struct Members {
    /// Names and addresses by which the NATS server is reached; the first one is in the files of
    /// the members.
    pub servers: Vec<String>,
    /// The server's port.
    pub port: u16,
    /// The names of the agents.
    pub agents: Vec<String>,
    /// The names of the probes.
    pub probes: Vec<String>,
    /// Names of the servers that make one cluster; empty for a single server.
    pub cluster: Vec<String>,
    /// The folder on the server's machine in which its files will be.
    pub place: PathBuf,
}

/// A file to write, readable by its owner alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its path in the folder of the accounts.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

/// What a user may do.
struct Rights {
    name: String,
    password: String,
    subscribe: Vec<String>,
    publish: Vec<String>,
}

impl Members {
    /// The files of all members and of the server.
    ///
    /// # Errors
    /// If a name cannot be one of a member, two are alike, or there is no randomness.
    pub fn accounts(&self) -> Result<Vec<Account>, FleetError> {
        self.check()?;
        let (ca, certificate, key) = self.certificates()?;
        let users = self.users()?;
        let mut files = vec![
            account("server/nats.conf", self.config(&users) + &self.routes()?),
            account("server/server.pem", certificate),
            account("server/server.key", key),
            account("server/ca.pem", ca.clone()),
            account("members/ca.pem", ca),
        ];
        let members = users
            .iter()
            .map(|user| account(&format!("members/{}.env", user.name), self.variables(user)));
        files.extend(members);
        Ok(files)
    }

    fn check(&self) -> Result<(), FleetError> {
        let mut names: Vec<&String> = self.agents.iter().chain(&self.probes).collect();
        if let Some(name) = names.iter().find(|name| !is_name(name) || name.as_str() == COORDINATOR)
        {
            return Err(FleetError::User(format!(
                "`{name}`: a name has 1 to 64 letters, digits, `-` and `_`, and is not `{COORDINATOR}`"
            )));
        }
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(FleetError::User(format!("two members have the name `{}`", pair[0])));
        }
        if self.servers.is_empty() {
            return Err(FleetError::User("name the server: --server nats.example".into()));
        }
        Ok(())
    }

    /// The authority, and the server's certificate and key. The authority's key is not kept.
    fn certificates(&self) -> Result<(String, String, String), FleetError> {
        let failed = |error: rcgen::Error| FleetError::User(format!("no certificate: {error}"));
        let mut authority = CertificateParams::new(Vec::<String>::new()).map_err(failed)?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = KeyPair::generate().map_err(failed)?;
        let ca = authority.self_signed(&authority_key).map_err(failed)?.pem();
        let issuer = Issuer::new(authority, authority_key);
        // A forwarded port is reached by loopback.
        let own = ["localhost".to_string(), "127.0.0.1".to_string()];
        let mut names = self.servers.clone();
        for name in self.cluster.iter().cloned().chain(own) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let key = KeyPair::generate().map_err(failed)?;
        let params = CertificateParams::new(names).map_err(failed)?;
        let certificate = params.signed_by(&key, &issuer).map_err(failed)?.pem();
        Ok((ca, certificate, key.serialize_pem()))
    }

    fn users(&self) -> Result<Vec<Rights>, FleetError> {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let coordinates =
            (texts(&["pippin.report.*.*"]), texts(&["pippin.call", "pippin.order.*"]));
        let user = |name: &str, (subscribe, publish): (Vec<String>, Vec<String>)| {
            let password = format!("p{:016x}{:016x}", random_key()?, random_key()?);
            Ok::<_, FleetError>(Rights { name: name.into(), password, subscribe, publish })
        };
        let works = |name: &str| {
            let subscribe = vec!["pippin.call".into(), format!("pippin.order.{name}")];
            (subscribe, vec![format!("pippin.report.*.{name}")])
        };
        let mut users = vec![user(COORDINATOR, coordinates.clone())?];
        for name in &self.agents {
            users.push(user(name, works(name))?);
        }
        for name in &self.probes {
            // It coordinates agents itself.
            let (mut subscribe, mut publish) = works(name);
            subscribe.extend(coordinates.0.clone());
            publish.extend(coordinates.1.clone());
            users.push(user(name, (subscribe, publish))?);
        }
        Ok(users)
    }

    fn config(&self, users: &[Rights]) -> String {
        let file = |name: &str| self.place.join(name).display().to_string();
        let mut text = format!(
            "# Written by `pippin fleet init`. Each member has a user that may use its own name only.\nlisten: \"0.0.0.0:{}\"\nmax_payload: 33554432\nmax_pending: 134217728\ntls {{ cert_file: {:?}, key_file: {:?} }}\nauthorization {{\n  users: [\n",
            self.port,
            file("server.pem"),
            file("server.key"),
        );
        for Rights { name, password, subscribe, publish } in users {
            let _ = writeln!(
                text,
                "    {{ user: {name:?}, password: {password:?}, permissions {{ subscribe: {subscribe:?}, publish: {publish:?} }} }}"
            );
        }
        text.push_str("  ]\n}\n");
        text
    }

    /// The part about the other servers of a cluster. They reach each other over TLS, with a
    /// password of their own.
    fn routes(&self) -> Result<String, FleetError> {
        if self.cluster.is_empty() {
            return Ok(String::new());
        }
        let file = |name: &str| self.place.join(name).display().to_string();
        let password = format!("p{:016x}{:016x}", random_key()?, random_key()?);
        let route = |host: &String| format!("nats-route://route:{password}@{host}:6222");
        let routes: Vec<String> = self.cluster.iter().map(route).collect();
        Ok(format!(
            "cluster {{\n  name: pippin\n  listen: \"0.0.0.0:6222\"\n  authorization {{ user: route, password: {password:?} }}\n  tls {{ cert_file: {:?}, key_file: {:?}, ca_file: {:?} }}\n  routes: {routes:?}\n}}\nhttp: \"0.0.0.0:8222\"\n",
            file("server.pem"),
            file("server.key"),
            file("ca.pem"),
        ))
    }

    fn variables(&self, user: &Rights) -> String {
        use variable::{CA, NAME, NATS, PASSWORD, USER};
        let Rights { name, password, .. } = user;
        let server = self.servers.first().map_or("localhost", String::as_str);
        let mut text = format!(
            "# For `--nats-file`, or as variables of the environment.\n{NATS}=tls://{server}:{}\n{CA}=ca.pem\n{USER}={name}\n{PASSWORD}={password}\n",
            self.port
        );
        if name != COORDINATOR {
            let _ = writeln!(text, "{NAME}={name}");
        }
        text
    }
}

/// The user of those who run loads.
const COORDINATOR: &str = "coordinator";

fn account(path: &str, text: String) -> Account {
    Account { path: path.into(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members() -> Members {
        Members {
            servers: vec!["nats.example".into()],
            port: 4222,
            agents: vec!["a".into(), "b".into()],
            probes: vec!["site".into()],
            cluster: Vec::new(),
            place: "/etc/nats".into(),
        }
    }

    #[test]
    fn each_member_may_use_its_own_name_only() {
        let files = members().accounts().unwrap();
        let of = |path: &str| {
            &files.iter().find(|file| file.path == std::path::Path::new(path)).unwrap().text
        };
        let config = of("server/nats.conf");
        let line = |user: &str| {
            config.lines().find(|line| line.contains(&format!("user: \"{user}\""))).unwrap()
        };
        assert!(line("a").contains(
            r#"subscribe: ["pippin.call", "pippin.order.a"], publish: ["pippin.report.*.a"]"#
        ));
        assert!(!line("b").contains("order.*") && !line("b").contains("report.*.*"));
        assert!(
            line("site").contains("pippin.order.site")
                && line("site").contains("pippin.report.*.*")
        );
        // Each has a password of its own, which is in its own file and in the server's only.
        let password = |path: &str| {
            let line = of(path).lines().find(|line| line.starts_with(variable::PASSWORD)).unwrap();
            line.split_once('=').unwrap().1.to_string()
        };
        let (a, b) = (password("members/a.env"), password("members/b.env"));
        assert!(a != b && config.contains(&a) && !of("members/b.env").contains(&a));
        assert!(of("members/a.env").contains("PIPPIN_AGENT=a"));
        assert!(!of("members/coordinator.env").contains("PIPPIN_AGENT"));
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        for (agents, said) in [
            (["a", "a"], "two members"),
            (["a.b", "c"], "letters"),
            (["coordinator", "c"], "is not"),
        ] {
            let agents = agents.map(String::from).to_vec();
            let why = Members { agents, ..members() }.accounts().unwrap_err().to_string();
            assert!(why.contains(said), "{why}");
        }
    }
}
