//! `pippin targets new go/chi`: the skeleton of a target. In ten languages it is a server that
//! serves what the language itself has the means for; in others a manifest to fill in.
//!
//! | module | what it does |
//! |---|---|
//! | `skeleton` | the server of each language, and what its manifest says |
//! | [`sibling`] | a copy of another target in place of the skeleton |
pub mod sibling;
mod skeleton;

use pippin_model::target::TargetId;
use std::path::{Path, PathBuf};

use skeleton::{SKELETONS, Skeleton};

use crate::error::LabError;
use crate::target::catalog::Catalog;

/// Writes the skeleton; the folder it made.
///
/// # Errors
/// If the target exists, or the folder cannot be written.
pub fn scaffold(catalog: &Catalog, id: &TargetId) -> Result<PathBuf, LabError> {
    let folder = new_folder(catalog, id)?;
    let skeleton = SKELETONS.iter().find(|skeleton| skeleton.language == id.language);
    let ignored = skeleton.map_or("", |skeleton| skeleton.ignored);
    write(&folder.join("target.toml"), manifest(id, skeleton).as_bytes())?;
    write(&folder.join(".gitignore"), format!("/.pippin/\n{ignored}").as_bytes())?;
    for (name, text) in skeleton.map_or(&[][..], |skeleton| skeleton.files) {
        write(&folder.join(name), text.as_bytes())?;
    }
    Ok(folder)
}

/// The folder of a target that does not exist yet.
fn new_folder(catalog: &Catalog, id: &TargetId) -> Result<PathBuf, LabError> {
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
    Ok(folder)
}

/// Writes a file, and the folders above it.
fn write(path: &Path, content: &[u8]) -> Result<(), LabError> {
    path.parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, content))
        .map_err(LabError::io(format!("write {}", path.display())))
}

/// The first line of a manifest.
fn pointer(id: &TargetId) -> String {
    format!(
        "# What each key means: pippin help add-a-target. Prove it with: pippin targets check {id} --install\n"
    )
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
    let workloads = skeleton.map_or(&["hello"][..], |skeleton| skeleton.workloads);
    let pointer = pointer(id);
    format!(
        r#"{pointer}schema = 1
name = "{name}"
language = "{language}"
framework = "{name}"
runtime = "{runtime}"
website = "example.org"
workloads = {workloads:?}

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
        assert_eq!(Manifest::read(&made).unwrap().workloads, ["hello", "json", "static", "upload"]);
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
            assert_eq!(manifest.workloads, skeleton.workloads, "{id}");
            assert_eq!(manifest.ways().len(), 1, "{id}");
            for (name, _) in skeleton.files {
                assert!(made.join(name).is_file(), "{id}: {name}");
            }
        }
        let other = scaffold(&catalog, &"cobol/new".parse().unwrap()).unwrap();
        let other = Manifest::read(&other).unwrap();
        assert_eq!(other.language, "cobol");
        assert_eq!(other.workloads, ["hello"]);
    }

    #[test]
    fn a_manifest_names_what_its_server_has_a_route_for() {
        for Skeleton { language, workloads, files, .. } in &SKELETONS {
            let sources: String = files.iter().map(|(_, text)| *text).collect();
            let is_there = |workload: &str, sign: &str| {
                assert_eq!(
                    workloads.contains(&workload),
                    sources.contains(sign),
                    "{language}: {workload}"
                );
            };
            is_there("hello", "Hello World!");
            is_there("json", "ITEMS_FILE");
            is_there("static", "STATIC_FOLDER");
            is_there("upload", "/upload");
            is_there("messages", "DATABASE_URL");
        }
    }
}
