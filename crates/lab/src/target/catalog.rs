//! Finds targets, workloads and plans: the user's own first, then those that ship with the program.
//! Targets are found by walking `targets/`.
use pippin_model::plan::{Plan, PlanOptions};
use pippin_model::request::secrets::Public;
use pippin_model::run::{RunHeader, TargetInfo};
use pippin_model::target::TargetId;
use pippin_model::target::manifest::Manifest;
use pippin_model::target::project::Project;
use pippin_model::target::register::Register;
use pippin_model::text::file::{FileError, Wrong, nearest};
use pippin_model::workload::Workload;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::LabError;
pub use crate::target::Target;
use crate::target::place::Place;
use crate::target::project;

/// Makes the folder of the catalog that ships with the program, and names it.
pub type Unpack = fn() -> Result<PathBuf, LabError>;

/// Targets, workloads and plans: those of the user's own folder first, then those that ship with
/// the program.
#[derive(Debug, Clone)]
pub struct Catalog {
    root: PathBuf,
    unpack: Option<Unpack>,
    /// The folder that `unpack` made; set at the first use.
    shipped: OnceLock<PathBuf>,
    /// Targets in other folders: copies of other revisions.
    copies: BTreeMap<TargetId, PathBuf>,
    /// Targets that no folder of a catalog holds.
    given: BTreeMap<TargetId, Target>,
    /// Workloads that no folder of a catalog holds.
    given_workloads: BTreeMap<String, Workload>,
    /// The user's project file, whose plans come first.
    project: Option<Project>,
}

impl Catalog {
    /// The catalog of this place, then the one that ships with the program, if there is one and the
    /// place does not stand alone.
    #[must_use]
    pub fn from_place(place: &Place, shipped: Option<Unpack>) -> Self {
        Self {
            root: place.root().to_path_buf(),
            unpack: shipped.filter(|_| !place.stands_alone()),
            shipped: OnceLock::new(),
            copies: BTreeMap::new(),
            given: BTreeMap::new(),
            given_workloads: BTreeMap::new(),
            project: None,
        }
    }

    /// This catalog with a project's targets, workloads and plans before all others.
    ///
    /// # Errors
    /// If one of its targets cannot be used, or a plan or a target names a workload that is not
    /// there. The message names the line.
    pub fn with_project(self, project: Project) -> Result<Self, LabError> {
        let targets = project::targets(&project, &self.root)?;
        let workloads: Vec<Workload> = project.workloads.values().cloned().collect();
        let mut catalog = self.with_given(targets, workloads);
        for target in project.targets.values() {
            for (place, name) in target.manifest.workloads.iter().enumerate() {
                catalog.workload(name).map_err(|error| {
                    let at = format!("target.{}.serves[{place}]", target.manifest.name);
                    project.wrong(&at, &error.to_string())
                })?;
            }
        }
        // A mistake in any plan is reported at once, too.
        for name in project.plan_ids() {
            let Some(plan) = project.plan(name, &PlanOptions::default()).transpose()? else {
                continue;
            };
            catalog.workload(&plan.workload).map_err(|error| {
                project.wrong(&format!("plan.{name}.workload"), &error.to_string())
            })?;
        }
        catalog.project = Some(project);
        Ok(catalog)
    }

    /// The project file, if there is one.
    #[must_use]
    pub const fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    /// This catalog with these targets and this workload before all others.
    #[must_use]
    pub fn with_given(
        mut self,
        targets: impl IntoIterator<Item = Target>,
        workloads: impl IntoIterator<Item = Workload>,
    ) -> Self {
        self.given.extend(targets.into_iter().map(|target| (target.id.clone(), target)));
        self.given_workloads
            .extend(workloads.into_iter().map(|workload| (workload.id.clone(), workload)));
        self
    }

    /// The folder that ships with the program, unpacked; `None` if there is none.
    fn shipped(&self) -> Result<Option<&Path>, LabError> {
        let Some(unpack) = self.unpack else { return Ok(None) };
        if self.shipped.get().is_none() {
            let _ = self.shipped.set(unpack()?);
        }
        Ok(self.shipped.get().map(PathBuf::as_path))
    }

    /// The user's file of this name, or else the shipped one.
    fn find(&self, file: &Path) -> Result<Option<PathBuf>, LabError> {
        let own = self.root.join(file);
        if own.is_file() {
            return Ok(Some(own));
        }
        Ok(self.shipped()?.map(|shipped| shipped.join(file)).filter(|path| path.is_file()))
    }

    /// The names of the files in this folder of both catalogs; sorted, each once.
    fn stems(&self, folder: &str) -> Result<Vec<String>, LabError> {
        let mut stems = stems_in(&self.root.join(folder))?;
        if let Some(shipped) = self.shipped()? {
            stems.extend(stems_in(&shipped.join(folder))?);
        }
        stems.sort();
        stems.dedup();
        Ok(stems)
    }

    /// This catalog with one more target. Its folder is a copy that ends in
    /// `<language>/<name>`, as its manifest says.
    #[must_use]
    pub fn with_copy(mut self, id: &TargetId, folder: PathBuf) -> Self {
        self.copies.insert(id.base(), folder);
        self
    }

    /// The user's own folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The names of all targets, sorted; without variants.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn target_ids(&self) -> Result<Vec<TargetId>, LabError> {
        let mut ids = target_ids_in(&self.root.join("targets"))?;
        if let Some(shipped) = self.shipped()? {
            ids.extend(target_ids_in(&shipped.join("targets"))?);
        }
        ids.extend(self.given.keys().cloned());
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// The target of this name; a variant in the name must be in its manifest.
    ///
    /// # Errors
    /// If there is no such target or variant, or its manifest cannot be used.
    pub fn target(&self, id: &TargetId) -> Result<Target, LabError> {
        let base = id.base();
        if let Some(given) = self.given.get(id) {
            return Ok(given.clone());
        }
        let file = Path::new("targets").join(&base.language).join(&base.name).join("target.toml");
        let found = match self.copies.get(&base) {
            Some(copy) => Some(copy.clone()),
            None => self.find(&file)?.and_then(|file| file.parent().map(Path::to_path_buf)),
        };
        let Some(folder) = found.filter(|folder| folder.join("target.toml").is_file()) else {
            let known: Vec<String> = self.target_ids()?.iter().map(ToString::to_string).collect();
            return Err(LabError::unknown(
                "target",
                &base.to_string(),
                known.iter().map(String::as_str),
            ));
        };
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
        Ok(Target::of_catalog(base, folder, manifest))
    }

    /// A workload that a manifest names must be there. A copy of another revision may know others.
    fn check_workloads(&self, folder: &Path, manifest: &Manifest) -> Result<(), LabError> {
        if self.copies.values().any(|copy| copy == folder) {
            return Ok(());
        }
        let known = self.stems("workloads")?;
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
                    .in_file(&path, &text)
                    .into());
            }
        }
        Ok(())
    }

    /// A name, a name with variant, a language (`go`) or `all`, as the command line takes them;
    /// sorted, each once. A language and `all` include variants.
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
                let own =
                    self.project.as_ref().and_then(|project| project.own(name).ok().flatten());
                let id: TargetId = own.as_deref().unwrap_or(name).parse().map_err(
                    |error: pippin_model::target::TargetIdError| {
                        let known: Vec<String> = all
                            .iter()
                            .flat_map(|id| [id.to_string(), id.language.clone()])
                            .collect();
                        let hint = pippin_model::text::file::nearest(
                            name,
                            known.iter().map(String::as_str),
                        )
                        .map(|near| format!("; did you mean {near}?"));
                        LabError::User(format!("{error}{}", hint.unwrap_or_default()))
                    },
                )?;
                self.target(&id)?;
                selected.push(id);
            }
            for id in of_group {
                selected.push(id.clone());
                // An unreadable manifest is reported when its target is used.
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

    /// What is known of the kinds and the support of targets: `targets/register.toml`, the user's
    /// own before the one that ships; empty if there is none.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn register(&self) -> Result<Register, LabError> {
        match self.find(&Path::new("targets").join("register.toml"))? {
            Some(path) => Ok(Register::read(&path)?),
            None => Ok(Register::default()),
        }
    }

    /// A plan of all targets gets those that serve its workload, without their variants.
    fn filled(&self, plan: Plan) -> Result<Plan, LabError> {
        if !plan.every_target {
            return Ok(plan);
        }
        let mut targets = Vec::new();
        for id in self.target_ids()? {
            if self.target(&id)?.manifest.workloads.contains(&plan.workload) {
                targets.push(id);
            }
        }
        if targets.is_empty() {
            let message = format!("plan {}: no target serves `{}`", plan.id, plan.workload);
            return Err(LabError::User(message));
        }
        Ok(Plan { targets, ..plan })
    }

    /// The workload of this name.
    ///
    /// # Errors
    /// If there is none, or its file cannot be used.
    pub fn workload(&self, id: &str) -> Result<Workload, LabError> {
        if let Some(given) = self.given_workloads.get(id) {
            return Ok(given.clone());
        }
        match self.find(&Path::new("workloads").join(format!("{id}.toml")))? {
            Some(path) => Ok(Workload::read(&path)?),
            None => {
                let mut known = self.stems("workloads")?;
                known.extend(self.given_workloads.keys().cloned());
                Err(LabError::unknown("workload", id, known.iter().map(String::as_str)))
            }
        }
    }

    /// What everybody has of a run, so that it holds no secret: what is as it ships with the program.
    /// Nothing but this catalog's own files ships where it stands alone.
    ///
    /// # Errors
    /// If what ships cannot be read.
    pub fn public(&self, header: &RunHeader) -> Result<Public, LabError> {
        let shipped = self.shipped()?.unwrap_or(&self.root);
        let id = &header.workload.id;
        let file = shipped.join("workloads").join(format!("{id}.toml"));
        let is_same = |workload: &Workload| *workload == header.workload;
        let workload = file.is_file() && Workload::read(&file).is_ok_and(|own| is_same(&own));
        let is_shipped = |(id, info): &(&TargetId, &TargetInfo)| {
            let folder = shipped.join("targets").join(&id.language).join(&id.name);
            info.manifest.as_ref().is_some_and(|manifest| {
                Manifest::read(&folder).is_ok_and(|shipped| shipped == *manifest)
            })
        };
        let targets = header.targets.iter().filter(is_shipped).map(|(id, _)| id.clone()).collect();
        Ok(Public { workload, targets })
    }

    /// The names of all plans, sorted.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn plan_ids(&self) -> Result<Vec<String>, LabError> {
        let mut plans = self.stems("plans")?;
        plans.extend(self.project.iter().flat_map(Project::plan_ids).cloned());
        plans.sort();
        plans.dedup();
        Ok(plans)
    }

    /// The plan of this name, or in this file.
    ///
    /// # Errors
    /// If there is none, or it cannot be used.
    pub fn plan(&self, name: &str, options: &PlanOptions) -> Result<Plan, LabError> {
        if let Some(plan) = self.project.as_ref().and_then(|project| project.plan(name, options)) {
            return Ok(plan?);
        }
        let given = Path::new(name);
        if name.ends_with(".toml") || name.contains('/') {
            return self.filled(Plan::read(given, options)?);
        }
        match self.find(&Path::new("plans").join(format!("{name}.toml")))? {
            Some(path) => self.filled(Plan::read(&path, options)?),
            None => {
                let known = self.plan_ids()?;
                Err(LabError::unknown("plan", name, known.iter().map(String::as_str)))
            }
        }
    }
}

fn target_ids_in(targets: &Path) -> Result<Vec<TargetId>, LabError> {
    let name = |path: &Path| {
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let mut ids = Vec::new();
    for language in folders_in(targets)? {
        for folder in folders_in(&language)? {
            if folder.join("target.toml").is_file() {
                ids.push(TargetId {
                    language: name(&language),
                    name: name(&folder),
                    variant: None,
                });
            }
        }
    }
    Ok(ids)
}

/// What is in a folder; nothing if it is not there.
fn entries_of(path: &Path) -> Result<Vec<PathBuf>, LabError> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let read = |source| FileError::Read { path: path.into(), source };
    let entries = std::fs::read_dir(path).map_err(read)?;
    Ok(entries.map(|entry| Ok(entry.map_err(read)?.path())).collect::<Result<_, FileError>>()?)
}

fn folders_in(path: &Path) -> Result<Vec<PathBuf>, LabError> {
    Ok(entries_of(path)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn stems_in(path: &Path) -> Result<Vec<String>, LabError> {
    let files = entries_of(path)?;
    let plain = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    Ok(plain.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect())
}
