//! How a target is started: command, variables, certificate, or the container of an image.
use pippin_model::load::spoken::Spoken;
use pippin_model::target::TargetId;
use pippin_model::trial::Stage;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::certificate::Certificate;
use super::{GRACE, StartSettings};
use crate::error::LabError;
use crate::install::{Installed, base_values};
use crate::lifecycle::environment;
use crate::lifecycle::supervised::Launch;
use crate::target::container::Image;
use crate::target::{Kind, Target};

/// A container that is removed at the end, even if its runtime did not do so.
#[derive(Debug)]
pub(super) struct Container {
    pub image: Image,
    pub name: String,
}

impl Container {
    /// The container of an image that will listen at this address; `None` for other targets.
    pub fn from_target(target: &Target, address: SocketAddr) -> Result<Option<Self>, LabError> {
        let Kind::Image(image) = &target.kind else { return Ok(None) };
        if !address.ip().is_loopback() {
            return Err(LabError::target(
                Stage::Start,
                format!(
                    "its container is published on loopback only, and {address} is asked for: run its command instead of its image"
                ),
            ));
        }
        let name = format!("pippin-{}-{}", std::process::id(), address.port());
        Ok(Some(Self { image: image.clone(), name }))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        self.image.remove(&self.name);
    }
}

/// What a process finds when it starts.
pub(super) struct Given<'a> {
    pub installed: &'a Installed,
    /// The variables of its services.
    pub services: &'a BTreeMap<String, String>,
    pub certificate: Option<&'a Certificate>,
}

/// How the process of a target is started: its command with all values filled in.
pub(super) fn launch(
    target: &Target,
    id: &TargetId,
    Given { installed, services, certificate }: Given<'_>,
    settings: &StartSettings<'_>,
    port: u16,
) -> Launch {
    let manifest = &target.manifest;
    let variant = manifest.variant(id.variant.as_deref());
    // What one process says to all of its connections, those of another one do not hear.
    let is_room = settings.messages.is_some_and(|messages| messages.broadcast)
        && manifest.process_per_worker(id.variant.as_deref());
    let workers = if is_room { 1 } else { settings.workers };
    let mut values = base_values(target);
    values.extend([
        ("HOST".to_string(), settings.address.to_string()),
        ("PORT".to_string(), port.to_string()),
        ("WORKERS".to_string(), workers.to_string()),
        ("DATABASE_POOL".to_string(), settings.database_pool.to_string()),
    ]);
    let more = settings.more.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let given: BTreeMap<String, String> = services.clone().into_iter().chain(more).collect();
    values.extend(given.clone());
    let secrets: BTreeMap<String, String> = certificate.map(of_certificate).unwrap_or_default();
    values.extend(secrets.clone());
    let mut env = match target.kind {
        // The user's own server may read its settings from the environment.
        Kind::Command => environment::of_the_user(),
        _ => environment::for_targets(),
    };
    for name in ["HOST", "PORT", "WORKERS"] {
        env.insert(name.into(), values[name].clone());
    }
    if given.contains_key("DATABASE_URL") {
        env.insert("DATABASE_POOL".into(), values["DATABASE_POOL"].clone());
    }
    env.extend(given);
    env.extend(secrets);
    env.extend(installed.env.clone());
    if let Some(path) = installed.env.get("PATH") {
        values.insert("PATH".into(), path.clone());
    }
    let own =
        manifest.start.env.iter().chain(variant.iter().flat_map(|variant| variant.env.iter()));
    env.extend(own.map(|(name, value)| (name.clone(), environment::fill(value, &values))));
    let command =
        variant.and_then(|variant| variant.command.as_ref()).unwrap_or(&manifest.start.command);
    Launch {
        command: command.iter().map(|word| environment::fill(word, &values)).collect(),
        env,
        folder: manifest
            .start
            .folder
            .as_ref()
            .map_or_else(|| target.folder.clone(), |folder| target.folder.join(folder)),
        log: log_of(id, settings),
        errors: None,
        cpus: settings.cpus.clone(),
        stop: manifest.start.stop.clone(),
        grace: GRACE,
        // A command of the user's own may have other processes to speak with.
        apart: matches!(target.kind, Kind::Catalog),
    }
}

/// The certificate of a target that uses TLS.
pub(super) fn certificate(
    spoken: Spoken,
    id: &TargetId,
    settings: &StartSettings<'_>,
) -> Result<Option<Certificate>, LabError> {
    if !spoken.is_secured() {
        return Ok(None);
    }
    let issued = Certificate::issue(settings.folder, &id.file_name());
    issued.map(Some).map_err(LabError::io(format!("write a certificate for {id}")))
}

fn of_certificate(certificate: &Certificate) -> BTreeMap<String, String> {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    BTreeMap::from([
        ("TLS_CERTIFICATE".into(), path(&certificate.certificate)),
        ("TLS_KEY".into(), path(&certificate.key)),
    ])
}

/// How the container of an image is started.
pub(super) fn of_container(
    Container { image, name }: &Container,
    target: &Target,
    id: &TargetId,
    settings: &StartSettings<'_>,
    port: u16,
) -> Launch {
    Launch {
        command: image.start(name, port, settings),
        env: environment::for_runtimes(),
        folder: settings.folder.to_path_buf(),
        log: log_of(id, settings),
        errors: None,
        cpus: settings.cpus.clone(),
        stop: target.manifest.start.stop.clone(),
        grace: GRACE,
        apart: false,
    }
}

fn log_of(id: &TargetId, settings: &StartSettings<'_>) -> PathBuf {
    settings.folder.join(format!("{}.log", id.file_name()))
}
