//! `pippin targets new go/chi`: the skeleton of a target. In ten languages it is a server that
//! serves `hello`; in others a manifest to fill in.
mod skeleton;

use pippin_model::target::TargetId;
use std::path::PathBuf;

use skeleton::{SKELETONS, Skeleton};

use crate::error::LabError;
use crate::target::catalog::Catalog;

/// Writes the skeleton; the folder it made.
///
/// # Errors
/// If the target exists, or the folder cannot be written.
pub fn scaffold(catalog: &Catalog, id: &TargetId) -> Result<PathBuf, LabError> {
    if id.variant.is_some() {
        return Err(LabError::User(format!(
            "`{id}` names a variant; add a [[variant]] to the manifest of {} instead",
            id.base()
        )));
    }
    let folder = catalog.root().join("targets").join(&id.language).join(&id.name);
    if folder.exists() {
        return Err(LabError::User(format!("{} exists already", folder.display())));
    }
    std::fs::create_dir_all(&folder)
        .map_err(LabError::io(format!("create {}", folder.display())))?;
    let skeleton = SKELETONS.iter().find(|skeleton| skeleton.language == id.language);
    let ignored = skeleton.map_or("", |skeleton| skeleton.ignored);
    let of_all =
        [("target.toml", manifest(id, skeleton)), (".gitignore", format!("/.pippin/\n{ignored}"))];
    let sources = skeleton.map_or(&[][..], |skeleton| skeleton.files);
    let sources = sources.iter().map(|(name, text)| (*name, (*text).to_string()));
    for (name, text) in of_all.into_iter().chain(sources) {
        let path = folder.join(name);
        path.parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(LabError::io(format!("write {}", path.display())))?;
    }
    Ok(folder)
}

/// The manifest: complete for a language that has a skeleton, with places to fill in for others.
fn manifest(id: &TargetId, skeleton: Option<&Skeleton>) -> String {
    let of =
        |part: fn(&Skeleton) -> &'static str, blank: &'static str| skeleton.map_or(blank, part);
    let (name, language) = (&id.name, &id.language);
    let runtime = of(|skeleton| skeleton.runtime, "native");
    let needs = of(|skeleton| skeleton.needs, "tools = []  # \"go >= 1.22\"\napt = []");
    let steps = of(|skeleton| skeleton.steps, "[]  # [[\"make\"]]");
    let command = of(|skeleton| skeleton.command, "[\"bin/server\"]");
    let version = of(|skeleton| skeleton.version, "# label = [\"program\", \"--version\"]");
    format!(
        r#"# What each key means: pippin help add-a-target. Prove it with: pippin targets check {id} --install
schema = 1
name = "{name}"
language = "{language}"
framework = "{name}"
runtime = "{runtime}"
website = "example.org"
workloads = ["hello"]

[needs]
{needs}

[install]
steps = {steps}

[start]
# The server reads HOST and PORT.
command = {command}
ready = {{ path = "/", timeout = "20s" }}
stop = "SIGTERM"

[versions]
{version}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::place::Place;
    use pippin_model::target::manifest::Manifest;

    #[test]
    fn the_skeleton_is_a_manifest_that_reads() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["targets", "workloads"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        let catalog = Catalog::from_place(&Place::find(folder.path()).unwrap(), None);
        let id: TargetId = "go/chi".parse().unwrap();
        let made = scaffold(&catalog, &id).unwrap();
        assert_eq!(Manifest::read(&made).unwrap().workloads, ["hello"]);
        assert!(scaffold(&catalog, &id).unwrap_err().to_string().contains("exists already"));
    }

    #[test]
    fn every_language_has_files_and_a_manifest_that_reads() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["targets", "workloads"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        let catalog = Catalog::from_place(&Place::find(folder.path()).unwrap(), None);
        for skeleton in &SKELETONS {
            let id: TargetId = format!("{}/new", skeleton.language).parse().unwrap();
            let made = scaffold(&catalog, &id).unwrap();
            let manifest = Manifest::read(&made).unwrap();
            assert_eq!(manifest.workloads, ["hello"], "{id}");
            assert_eq!(manifest.ways().len(), 1, "{id}");
            for (name, _) in skeleton.files {
                assert!(made.join(name).is_file(), "{id}: {name}");
            }
        }
        let other = scaffold(&catalog, &"cobol/new".parse().unwrap()).unwrap();
        assert_eq!(Manifest::read(&other).unwrap().language, "cobol");
    }
}
