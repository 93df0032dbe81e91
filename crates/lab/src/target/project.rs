//! The targets of a project file as the lab uses them.
use pippin_model::target::manifest::{Install, Manifest};
use pippin_model::target::project::{How, Project, ProjectTarget};
use std::path::Path;

use crate::error::LabError;
use crate::load::proxy::ProxyUrl;
use crate::target::container::Image;
use crate::target::{Kind, Listening, Target};

/// All targets of the project in this folder.
///
/// # Errors
/// If a URL is none.
pub fn targets(project: &Project, root: &Path) -> Result<Vec<Target>, LabError> {
    project.targets.values().map(|target| of(target, root)).collect()
}

/// One of them, as it is in this folder.
///
/// # Errors
/// If its URL is none.
pub fn of(target: &ProjectTarget, root: &Path) -> Result<Target, LabError> {
    let folder = root.join(&target.folder);
    let mut manifest = target.manifest.clone();
    let kind = match &target.how {
        How::Command => Kind::Command,
        How::Url { url, proxy } => {
            let proxy = proxy.as_deref().map(ProxyUrl::parse).transpose().map_err(|error| {
                LabError::User(format!("`proxy` of the target {}: {error}", target.id().name))
            })?;
            Kind::Listening(Box::new(Listening { proxy, ..Listening::at(url)? }))
        }
        How::Image(reference) => {
            let image = Image::named(reference).map_err(LabError::User)?;
            manifest =
                Manifest { install: Some(Install { steps: vec![image.pull()] }), ..manifest };
            Kind::Image(image)
        }
    };
    Ok(Target { id: target.id(), folder, manifest, kind, requests: None })
}
