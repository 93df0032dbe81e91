//! A target as the lab uses it: its manifest, and how it comes to run.
//!
//! | module | what it does |
//! |---|---|
//! | [`catalog`] | the user's own targets, workloads and plans, then those inside the binary |
//! | [`ad_hoc`] | targets that the command line gives |
//! | [`container`] | docker and podman |
//! | [`project`] | the targets of a project file |
//! | [`place`] | where the user is, and where runs and the database are kept |
//! | [`keys`] | where a user writes how a target is started, for messages |
//! | [`revision`] | a target as of a git revision |
//! | [`commits`] | the git commit that holds the files of a target |
//! | [`elsewhere`] | whether a target from a revision runs files of the user's checkout |
pub mod ad_hoc;
pub mod catalog;
pub mod commits;
pub mod container;
pub mod elsewhere;
pub mod keys;
pub mod place;
pub mod project;
pub mod revision;

use pippin_model::load::Request;
use pippin_model::load::spoken::Spoken;
use pippin_model::load::tls::TlsSpec;
use pippin_model::target::TargetId;
use pippin_model::target::commit::Commit;
use pippin_model::target::manifest::Manifest;
use pippin_model::target::project::world::World;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::LabError;
use crate::install::digest;
use crate::load::address::{CONSENT_VARIABLE, Url};
use crate::load::proxy::ProxyUrl;
use crate::target::container::Image;

/// A target: of a catalog, of a project file, or given on the command line.
#[derive(Debug, Clone)]
pub struct Target {
    /// Language and name; no variant.
    pub id: TargetId,
    /// The folder in which it is installed and started, absolute.
    pub folder: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
    /// How it comes to run.
    pub kind: Kind,
    /// What stands around each of its starts.
    pub world: World,
    /// What its variable `PIPPIN_REVISION` says: a commit, or "checkout"; `None` for what is no user's own
    /// project.
    pub revision: Option<String>,
    /// Requests that replace the workload's, each with its check. Their host is replaced by the
    /// target's.
    pub requests: Option<Vec<Request>>,
}

/// How a target comes to run.
#[derive(Debug, Clone)]
pub enum Kind {
    /// From a folder of a catalog, which holds its source and nothing else. It is installed there.
    Catalog,
    /// By the user's own command, in a folder that may hold other files too.
    Command,
    /// As a container.
    Image(Image),
    /// It runs already, and Pippin neither starts nor stops it.
    Listening(Box<Listening>),
}

/// Where something listens that runs already.
#[derive(Debug, Clone)]
pub struct Listening {
    /// Its URL; the path is not used.
    pub url: Url,
    /// Its addresses; empty until somebody looks.
    pub addresses: Vec<SocketAddr>,
    /// How connections are secured; `None` for http.
    pub tls: Option<TlsSpec>,
    /// The proxy that leads to it; the addresses are then the proxy's.
    pub proxy: Option<ProxyUrl>,
}

impl Listening {
    /// What listens at a URL; its certificate is verified.
    ///
    /// # Errors
    /// If it is no URL.
    pub fn at(url: &str) -> Result<Self, LabError> {
        let url = Url::parse(url)?;
        let tls = url.is_https.then(|| TlsSpec {
            server_name: url.host.clone(),
            extra_roots_pem: None,
            verify: true,
            resume: false,
            client: None,
        });
        Ok(Self { url, addresses: Vec::new(), tls, proxy: None })
    }

    /// Its addresses, which are looked for if they are not known yet.
    ///
    /// # Errors
    /// If nobody answers, or the host may not be loaded.
    pub fn resolved(&self) -> Result<Vec<SocketAddr>, LabError> {
        if !self.addresses.is_empty() {
            return Ok(self.addresses.clone());
        }
        let consent = std::env::var(CONSENT_VARIABLE).unwrap_or_default();
        let allowed: Vec<String> = consent.split(',').map(str::to_string).collect();
        let Some(proxy) = &self.proxy else { return self.url.resolve(&allowed, None, PATIENCE) };
        if !self.url.is_this_machine() {
            self.url.consented(&allowed)?;
        }
        proxy.url.resolve(&allowed, None, PATIENCE)
    }
}

/// How long opening a connection may take, before the load.
const PATIENCE: Duration = Duration::from_secs(10);

impl Target {
    /// A target of a catalog.
    #[must_use]
    pub const fn of_catalog(id: TargetId, folder: PathBuf, manifest: Manifest) -> Self {
        Self {
            id,
            folder,
            manifest,
            kind: Kind::Catalog,
            world: World::NONE,
            revision: None,
            requests: None,
        }
    }

    /// The digest of its source; `None` where its folder holds more than its source.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        match self.kind {
            Kind::Catalog => digest::of_source(&self.folder).ok(),
            Kind::Command | Kind::Image(_) | Kind::Listening(_) => None,
        }
    }

    /// The commit that its files are of; what is not made of files here has none.
    #[must_use]
    pub fn commit(&self) -> Option<Commit> {
        match self.kind {
            Kind::Catalog | Kind::Command => commits::find(&self.folder),
            Kind::Image(_) | Kind::Listening(_) => None,
        }
    }

    /// The manifest as a run keeps it; what runs already has none.
    #[must_use]
    pub fn kept_manifest(&self) -> Option<Manifest> {
        match self.kind {
            Kind::Listening(_) => None,
            Kind::Catalog | Kind::Command | Kind::Image(_) => Some(self.manifest.clone()),
        }
    }

    /// Its protocol: as its manifest says, or else the plan, or else HTTP/1.1; over TLS if its URL
    /// is `https`.
    ///
    /// # Errors
    /// If manifest, plan and URL contradict each other; the message says what to change.
    pub fn spoken(&self, variant: Option<&str>, asked: Option<Spoken>) -> Result<Spoken, String> {
        let own = self.manifest.spoken(variant);
        if let (Some(own), Some(asked)) = (own, asked)
            && own != asked
        {
            return Err(format!(
                "it speaks {own}, as its manifest says, and the plan asks for {asked}; take profile.protocol out, or the target"
            ));
        }
        let spoken = own.or(asked);
        let Kind::Listening(listening) = &self.kind else {
            return match (&self.kind, spoken.unwrap_or_default()) {
                (Kind::Image(_), spoken) if spoken.is_secured() => Err(format!(
                    "containers get no certificate, which {spoken} needs; ask for http1 or h2c"
                )),
                (_, spoken) => Ok(spoken),
            };
        };
        match (listening.url.is_https, spoken) {
            (true, None | Some(Spoken::Http1 | Spoken::Https)) => Ok(Spoken::Https),
            (true, Some(secured @ (Spoken::H2 | Spoken::H3))) => Ok(secured),
            (true, Some(Spoken::H2c)) => {
                Err("h2c is HTTP/2 without TLS, and its URL is https; ask for h2 or h3".into())
            }
            (false, None | Some(Spoken::Http1)) => Ok(Spoken::Http1),
            (false, Some(Spoken::H2c)) => Ok(Spoken::H2c),
            (false, Some(secured)) => {
                Err(format!("{secured} goes over TLS, and its URL is http; write https://"))
            }
        }
    }

    /// Whether the proofs of a workload apply: not if it has requests of its own, and not if
    /// somebody else runs it.
    #[must_use]
    pub const fn is_proved(&self) -> bool {
        self.requests.is_none() && !matches!(self.kind, Kind::Listening(_))
    }
}
