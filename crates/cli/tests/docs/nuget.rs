//! Targets of C#: the packages that their project files pin, and their lock files.
use crate::pages::{root, text};
use crate::tables::manifests;
use std::collections::BTreeMap;

/// The packages of NuGet that a target's project file pins: name and version. A version is pinned as
/// `[1.2.3]`, which means exactly this one.
pub fn pinned(id: &str) -> BTreeMap<String, String> {
    let folder = root().join("targets").join(id);
    let projects = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let projects = projects.filter(|path| path.extension().is_some_and(|end| end == "csproj"));
    let references = projects.flat_map(|path| {
        let project = std::fs::read_to_string(path).unwrap();
        let lines = project.lines().filter(|line| line.contains("<PackageReference "));
        lines.map(str::to_string).collect::<Vec<_>>()
    });
    let attribute = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_string()
    };
    let versions = references.map(|line| {
        let version = attribute(&line, "Version");
        let exact = version.strip_prefix('[').and_then(|version| version.strip_suffix(']'));
        (attribute(&line, "Include"), exact.expect("a version in brackets").to_string())
    });
    versions.collect()
}

/// What a project file of C# pins, its lock file resolves, and nothing else is direct.
#[test]
fn lock_files_of_nuget_agree_with_the_pins() {
    let mut compared = 0;
    for (id, _) in manifests() {
        let pins = pinned(&id);
        if pins.is_empty() {
            continue;
        }
        let lock = text(&format!("targets/{id}/packages.lock.json"));
        let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
        let packages = lock["dependencies"]["net10.0"].as_object().unwrap();
        let direct = packages.iter().filter(|(_, package)| package["type"] == "Direct");
        let resolved: BTreeMap<String, String> = direct
            .map(|(name, package)| (name.clone(), package["resolved"].as_str().unwrap().into()))
            .collect();
        assert_eq!(resolved, pins, "{id}");
        compared += 1;
    }
    assert_eq!(compared, 3);
}
