//! What is there: targets by walking `targets/`, plans and workloads by their files.
use pippin_model::file::{FileError, Wrong, nearest};
use pippin_model::manifest::Manifest;
use pippin_model::plan::{Plan, PlanOptions};
use pippin_model::target::TargetId;
use pippin_model::workload::Workload;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::LabError;

/// The folders `targets/`, `plans/` and `workloads/` of a checkout.
#[derive(Debug, Clone)]
pub struct Catalog {
    root: PathBuf,
    /// Targets that are elsewhere: copies of other revisions.
    copies: BTreeMap<TargetId, PathBuf>,
}

/// A target's folder and manifest.
#[derive(Debug, Clone)]
pub struct Target {
    /// Language and name; no variant.
    pub id: TargetId,
    /// The folder, absolute.
    pub folder: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
}

impl Catalog {
    /// The catalogue that `start` lies in: the nearest folder upwards with `targets/` and
    /// `workloads/`; the variable `PIPPIN_HOME` names another one.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(start: &Path) -> Result<Self, LabError> {
        let is_root =
            |folder: &Path| folder.join("targets").is_dir() && folder.join("workloads").is_dir();
        if let Some(home) = std::env::var_os("PIPPIN_HOME") {
            let root = PathBuf::from(home);
            return if is_root(&root) {
                Ok(Self::at(root))
            } else {
                Err(LabError::User(format!(
                    "PIPPIN_HOME is {}, where targets/ and workloads/ are not; set it to a checkout of Pippin",
                    root.display()
                )))
            };
        }
        let start = start
            .canonicalize()
            .map_err(LabError::io(format!("cannot open {}", start.display())))?;
        start.ancestors().find(|folder| is_root(folder)).map(|root| Self::at(root.into())).ok_or_else(|| {
            LabError::User(format!("no targets/ and workloads/ in {} or above it; go to a checkout of Pippin, or set PIPPIN_HOME to one", start.display()))
        })
    }

    const fn at(root: PathBuf) -> Self {
        Self { root, copies: BTreeMap::new() }
    }

    /// The same catalogue with one more target, whose folder is a copy that ends in
    /// `<language>/<name>` as its manifest says.
    #[must_use]
    pub fn with_copy(mut self, id: &TargetId, folder: PathBuf) -> Self {
        self.copies.insert(id.base(), folder);
        self
    }

    /// The checkout's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The names of all targets, sorted; without variants.
    ///
    /// # Errors
    /// If `targets/` cannot be read.
    pub fn target_ids(&self) -> Result<Vec<TargetId>, LabError> {
        let mut ids = Vec::new();
        for language in folders_in(&self.root.join("targets"))? {
            for folder in folders_in(&language)? {
                if folder.join("target.toml").is_file() {
                    let name = |path: &Path| {
                        path.file_name()
                            .map(|name| name.to_string_lossy().into_owned())
                            .unwrap_or_default()
                    };
                    ids.push(TargetId {
                        language: name(&language),
                        name: name(&folder),
                        variant: None,
                    });
                }
            }
        }
        ids.sort();
        Ok(ids)
    }

    /// The target of this name; a variant in the name must be in its manifest.
    ///
    /// # Errors
    /// If there is no such target or variant, or its manifest cannot be used.
    pub fn target(&self, id: &TargetId) -> Result<Target, LabError> {
        let base = id.base();
        let folder = self
            .copies
            .get(&base)
            .cloned()
            .unwrap_or_else(|| self.root.join("targets").join(&base.language).join(&base.name));
        if !folder.join("target.toml").is_file() {
            let known: Vec<String> = self.target_ids()?.iter().map(ToString::to_string).collect();
            return Err(LabError::unknown(
                "target",
                &base.to_string(),
                known.iter().map(String::as_str),
            ));
        }
        let manifest = Manifest::read(&folder)?;
        self.check_workloads(&folder, &manifest)?;
        if id.variant.is_some() && manifest.variant(id.variant.as_deref()).is_none() {
            let known: Vec<String> = manifest
                .variants
                .iter()
                .map(|variant| format!("{base}:{}", variant.name))
                .collect();
            return Err(LabError::unknown(
                "variant",
                &id.to_string(),
                known.iter().map(String::as_str),
            ));
        }
        Ok(Target { id: base, folder, manifest })
    }

    /// A workload that a manifest names must be there. A copy of another revision may know others.
    fn check_workloads(&self, folder: &Path, manifest: &Manifest) -> Result<(), LabError> {
        if self.copies.values().any(|copy| copy == folder) {
            return Ok(());
        }
        let known = stems_in(&self.root.join("workloads"))?;
        for (index, name) in manifest.workloads.iter().enumerate() {
            if !known.contains(name) {
                let path = folder.join("target.toml");
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let hint = nearest(name, known.iter().map(String::as_str))
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default();
                let message = format!(
                    "workloads: there is no workload `{name}`{hint} (there are: {})",
                    known.join(", ")
                );
                return Err(Wrong::at(format!("workloads[{index}]"), message)
                    .of(&path, &text)
                    .into());
            }
        }
        Ok(())
    }

    /// A name, a name with variant, a language (`go`) or `all`, as the command line takes them;
    /// sorted, each once. Variants of a target belong to it where a language or `all` is named.
    ///
    /// # Errors
    /// If a name fits nothing.
    pub fn select(&self, names: &[String]) -> Result<Vec<TargetId>, LabError> {
        let all = self.target_ids()?;
        let mut selected = Vec::new();
        for name in names.iter().flat_map(|name| name.split(',')) {
            let of_group: Vec<&TargetId> =
                all.iter().filter(|id| name == "all" || id.language == name).collect();
            if of_group.is_empty() {
                let id: TargetId =
                    name.parse().map_err(|error: pippin_model::target::TargetIdError| {
                        let known: Vec<String> = all
                            .iter()
                            .flat_map(|id| [id.to_string(), id.language.clone()])
                            .collect();
                        let hint =
                            pippin_model::file::nearest(name, known.iter().map(String::as_str))
                                .map(|near| format!("; did you mean {near}?"));
                        LabError::User(format!("{error}{}", hint.unwrap_or_default()))
                    })?;
                self.target(&id)?;
                selected.push(id);
            }
            for id in of_group {
                selected.push(id.clone());
                // A manifest that cannot be read is reported when the target is used.
                for variant in
                    self.target(id).map(|target| target.manifest.variants).unwrap_or_default()
                {
                    selected.push(TargetId { variant: Some(variant.name), ..id.clone() });
                }
            }
        }
        selected.sort();
        selected.dedup();
        Ok(selected)
    }

    /// The workload of this name.
    ///
    /// # Errors
    /// If there is none, or its file cannot be used.
    pub fn workload(&self, id: &str) -> Result<Workload, LabError> {
        let path = self.root.join("workloads").join(format!("{id}.toml"));
        if !path.is_file() {
            let known = stems_in(&self.root.join("workloads"))?;
            return Err(LabError::unknown("workload", id, known.iter().map(String::as_str)));
        }
        Ok(Workload::read(&path)?)
    }

    /// The names of all shipped plans, sorted.
    ///
    /// # Errors
    /// If `plans/` cannot be read.
    pub fn plan_ids(&self) -> Result<Vec<String>, LabError> {
        stems_in(&self.root.join("plans"))
    }

    /// The plan of this name, or in this file.
    ///
    /// # Errors
    /// If there is none, or it cannot be used.
    pub fn plan(&self, name: &str, options: &PlanOptions) -> Result<Plan, LabError> {
        let given = Path::new(name);
        if name.ends_with(".toml") || name.contains('/') {
            return Ok(Plan::read(given, options)?);
        }
        let path = self.root.join("plans").join(format!("{name}.toml"));
        if !path.is_file() {
            let known = self.plan_ids()?;
            return Err(LabError::unknown("plan", name, known.iter().map(String::as_str)));
        }
        Ok(Plan::read(&path, options)?)
    }
}

fn folders_in(path: &Path) -> Result<Vec<PathBuf>, LabError> {
    let read = |source| FileError::Read { path: path.into(), source };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(path).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    Ok(folders)
}

fn stems_in(path: &Path) -> Result<Vec<String>, LabError> {
    let read = |source| FileError::Read { path: path.into(), source };
    let mut stems = Vec::new();
    for entry in std::fs::read_dir(path).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            stems.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    stems.sort();
    Ok(stems)
}
