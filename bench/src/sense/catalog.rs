//! The targets and the plan, in their own folder.
use std::fs;
use std::path::{Path, PathBuf};

use super::variations::manifest;

/// A folder with a target in several variants, the workload `hello` and a plan.
pub struct SenseCatalog {
    root: PathBuf,
    /// The plan `hello` of the checkout.
    hello: toml::Table,
}

impl SenseCatalog {
    /// Writes the folder, with the plan and the workload of a checkout.
    pub fn write(root: &Path, checkout: &Path) -> Result<Self, String> {
        let read = |path: PathBuf| {
            fs::read_to_string(&path).map_err(|error| {
                format!("{}: {error}; name a checkout of Pippin with --checkout", path.display())
            })
        };
        let hello = read(checkout.join("plans/hello.toml"))?;
        let hello = hello.parse().map_err(|error| format!("plans/hello.toml: {error}"))?;
        let catalog = Self { root: root.into(), hello };
        catalog.file("workloads/hello.toml", &read(checkout.join("workloads/hello.toml"))?)?;
        catalog.file("targets/go/sense/main.go", include_str!("../../sense/main.go"))?;
        catalog.file("targets/go/sense/go.mod", include_str!("../../sense/go.mod"))?;
        catalog.file("targets/go/sense/.gitignore", "bin/\n")?;
        catalog.manifest(None)?;
        Ok(catalog)
    }

    /// Writes the variants, once the cost of a step of burning is known.
    pub fn targets(&self, step: f64) -> Result<(), String> {
        self.manifest(Some(step))
    }

    /// Writes the plan: `hello` with these targets.
    pub fn plan(&self, targets: &[String]) -> Result<(), String> {
        let mut plan = self.hello.clone();
        plan.remove("published");
        plan.insert("title".into(), "Targets that differ in a known way".into());
        plan.insert("targets".into(), targets.to_vec().into());
        let text = toml::to_string(&plan).map_err(|error| format!("the plan: {error}"))?;
        self.file("plans/sense.toml", &text)
    }

    fn manifest(&self, step: Option<f64>) -> Result<(), String> {
        let text = format!("{}{}", include_str!("../../sense/target.toml"), manifest(step));
        self.file("targets/go/sense/target.toml", &text)
    }

    fn file(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.root.join(name);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}
