//! The targets of a project file as the lab uses them.
use pippin_model::target::manifest::{Install, Manifest};
use pippin_model::target::project::{Project, ProjectTarget, TargetSource};
use std::path::Path;

use crate::error::LabError;
use crate::load::proxy::ProxyUrl;
use crate::target::container::Image;
use crate::target::{Kind, Listening, Target};

/// What `PIPPIN_REVISION` says of the files that the user works on.
pub const CHECKOUT: &str = "checkout";

/// All targets of the project in this folder.
///
/// # Errors
/// If a URL is none.
pub fn targets(project: &Project, root: &Path) -> Result<Vec<Target>, LabError> {
    project.targets.values().map(|target| prepare(target, root)).collect()
}

/// One of them, as it is in this folder, with the usual values of its parameters.
///
/// # Errors
/// If its URL is none, or nothing takes a parameter.
pub fn prepare(target: &ProjectTarget, root: &Path) -> Result<Target, LabError> {
    let folder = root.join(&target.folder);
    let mut manifest = target.filled().map_err(|(_, message)| LabError::User(message))?;
    let kind = match &target.how {
        TargetSource::Command => Kind::Command,
        TargetSource::Url { url, proxy } => {
            let proxy = proxy.as_deref().map(ProxyUrl::parse).transpose().map_err(|error| {
                LabError::User(format!("`proxy` of the target {}: {error}", target.id().name))
            })?;
            Kind::Listening(Box::new(Listening { proxy, ..Listening::at(url)? }))
        }
        TargetSource::Image(reference) => {
            let image = Image::named(reference).map_err(LabError::User)?;
            manifest =
                Manifest { install: Some(Install { steps: vec![image.pull()] }), ..manifest };
            Kind::Image(image)
        }
    };
    let (id, world, revision) = (target.id(), target.world.clone(), Some(CHECKOUT.into()));
    Ok(Target { id, folder, manifest, kind, world, revision, requests: None })
}
