//! `pippin targets new go/chi --from go/net-http`: a copy of a sibling, which serves all the workloads
//! of the sibling until another framework takes its place.
use pippin_model::target::TargetId;
use pippin_model::target::manifest::Manifest;
use std::path::{Path, PathBuf};

use super::{new_folder, pointer, write};
use crate::error::LabError;
use crate::install::digest;
use crate::target::Kind;
use crate::target::catalog::Catalog;

/// Copies the source of a target of the same language; the folder it made.
///
/// # Errors
/// If the target exists, the sibling cannot be copied, or the folder cannot be written.
pub fn copy(catalog: &Catalog, id: &TargetId, sibling: &TargetId) -> Result<PathBuf, LabError> {
    if sibling.language != id.language {
        return Err(LabError::User(format!(
            "--from {sibling}: name a target of {}, as {id} is one",
            id.language
        )));
    }
    if sibling.variant.is_some() {
        return Err(LabError::User(format!(
            "--from {sibling}: a copy has all variants; name {}",
            sibling.base()
        )));
    }
    let original = catalog.target(sibling)?;
    if !matches!(original.kind, Kind::Catalog) {
        return Err(LabError::User(format!(
            "--from {sibling}: it has no folder below targets/ that could be copied"
        )));
    }
    let folder = new_folder(catalog, id)?;
    let manifest = read(&original.folder.join("target.toml"))?;
    let manifest = renamed(&String::from_utf8_lossy(&manifest), id, sibling);
    for file in sources(&original.folder)? {
        write(&folder.join(file.strip_prefix(&original.folder).unwrap_or(&file)), &read(&file)?)?;
    }
    write(&folder.join("target.toml"), manifest.as_bytes())?;
    Manifest::read(&folder)?;
    Ok(folder)
}

/// What a folder holds besides what was installed there.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let mut files = digest::sources(folder)
        .map_err(LabError::io(format!("read the files of {}", folder.display())))?;
    files.extend(Some(folder.join(".gitignore")).filter(|file| file.is_file()));
    Ok(files)
}

fn read(file: &Path) -> Result<Vec<u8>, LabError> {
    std::fs::read(file).map_err(LabError::io(format!("read {}", file.display())))
}

/// The sibling's manifest under a new name. Its framework, its website and its first comments, which say
/// where it was seen running, are left out.
fn renamed(manifest: &str, id: &TargetId, sibling: &TargetId) -> String {
    let mut text = format!("{}# Begun as a copy of {sibling}.\n", pointer(id));
    let mut is_head = true;
    for line in manifest.lines().skip_while(|line| line.is_empty() || line.starts_with('#')) {
        is_head = is_head && !line.starts_with('[');
        let key = line.split_once('=').map_or("", |(key, _)| key.trim());
        match key {
            "name" | "framework" if is_head => {
                text.push_str(&format!("{key} = \"{}\"\n", id.name));
            }
            "website" if is_head => text.push_str("website = \"example.org\"\n"),
            _ => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::place::Place;

    const MANIFEST: &str = r#"# Seen running on a machine.

schema = 1
name = "one"
language = "go"
framework = "One"
runtime = "go"
website = "one.example"
# No page: it has no template engine.
workloads = ["hello", "messages"]

[start]
command = ["bin/server"]
ready = { path = "/", timeout = "20s" }

[[variant]]
name = "h2"
about = "HTTP/2 over TLS"
protocol = "h2"
"#;

    /// A place with the target `go/one`.
    fn place() -> (tempfile::TempDir, Catalog) {
        let place = tempfile::tempdir().unwrap();
        let sibling = place.path().join("targets/go/one");
        let files = [
            ("target.toml", MANIFEST),
            ("main.go", "package main"),
            ("views/page.html", "<p>"),
            (".gitignore", "/bin/"),
            ("bin/server", "built"),
            (".pippin/installed.json", "{}"),
        ];
        for (name, text) in files {
            write(&sibling.join(name), text.as_bytes()).unwrap();
        }
        for workload in ["hello", "messages"] {
            write(&place.path().join(format!("workloads/{workload}.toml")), b"").unwrap();
        }
        let catalog = Catalog::from_place(&Place::find(place.path()).unwrap(), None);
        (place, catalog)
    }

    fn id(name: &str) -> TargetId {
        name.parse().unwrap()
    }

    #[test]
    fn a_copy_has_the_source_under_a_new_name_and_not_what_was_installed() {
        let (_place, catalog) = place();
        let made = copy(&catalog, &id("go/two"), &id("go/one")).unwrap();
        let manifest = Manifest::read(&made).unwrap();
        assert_eq!((manifest.name.as_str(), manifest.framework.as_str()), ("two", "two"));
        assert_eq!(manifest.workloads, ["hello", "messages"]);
        assert_eq!(manifest.variants[0].name, "h2");
        let text = std::fs::read_to_string(made.join("target.toml")).unwrap();
        assert!(text.contains("copy of go/one") && text.contains("# No page"), "{text}");
        assert!(!text.contains("Seen running") && !text.contains("one.example"), "{text}");
        for (name, is_there) in [
            ("main.go", true),
            ("views/page.html", true),
            (".gitignore", true),
            ("bin", false),
            (".pippin", false),
        ] {
            assert_eq!(made.join(name).exists(), is_there, "{name}");
        }
    }

    #[test]
    fn what_is_no_sibling_is_refused_and_nothing_is_written() {
        let (place, catalog) = place();
        let refused = |new: &str, from: &str, why: &str| {
            let error = copy(&catalog, &id(new), &id(from)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        refused("rust/two", "go/one", "name a target of rust");
        refused("go/two", "go/one:h2", "a copy has all variants; name go/one");
        refused("go/two", "go/on", "did you mean `go/one`?");
        refused("go/one", "go/one", "exists already");
        refused("go/two:h2", "go/one", "names a variant");
        assert!(!place.path().join("targets/go/two").exists());
        assert!(!place.path().join("targets/rust").exists());
    }
}
