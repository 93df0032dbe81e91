//! `pippin targets new go/chi`: the skeleton of a target.
use pippin_model::target::TargetId;
use std::path::PathBuf;

use crate::catalog::Catalog;
use crate::error::LabError;

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
    for (name, text) in [("target.toml", manifest(id)), (".gitignore", "/.pippin/\n".to_string())] {
        std::fs::write(folder.join(name), text).map_err(LabError::io(format!("write {name}")))?;
    }
    Ok(folder)
}

fn manifest(id: &TargetId) -> String {
    format!(
        r#"# What each key means: docs/add-a-target.md. Prove it with: pippin targets check {id}
schema = 1
name = "{name}"
language = "{language}"
framework = "{name}"
runtime = "native"
website = "example.org"
workloads = ["hello"]

[needs]
tools = []                    # "go >= 1.22"
apt = []                      # Debian packages that give them

[install]
steps = []                    # [["go", "build", "-o", "bin/server", "."]]

[start]
command = ["bin/server"]      # reads HOST and PORT
ready = {{ path = "/", timeout = "20s" }}
stop = "SIGTERM"

[versions]                    # label = ["program", "--version"]
"#,
        name = id.name,
        language = id.language,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::manifest::Manifest;

    #[test]
    fn the_skeleton_is_a_manifest_that_reads() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["targets", "workloads"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        let catalog = Catalog::find(folder.path()).unwrap();
        let id: TargetId = "go/chi".parse().unwrap();
        let made = scaffold(&catalog, &id).unwrap();
        assert_eq!(Manifest::read(&made).unwrap().workloads, ["hello"]);
        assert!(scaffold(&catalog, &id).unwrap_err().to_string().contains("exists already"));
    }
}
