//! Installing targets: tools, system packages, steps; the first way that works is used.
//!
//! | module | what it does |
//! |---|---|
//! | [`size`] | a target's own lines, and what its installation wrote |
//! | [`versions`] | the output of version commands |
pub mod apt;
pub mod digest;
pub mod embedded_postgres;
pub mod size;
pub mod steps;
pub mod tools;
pub mod versions;

use pippin_model::target::manifest::Route;
use pippin_model::trial::{Failure, Stage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use crate::error::LabError;
use crate::lifecycle::environment;
use crate::target::container;
use crate::target::{Kind, Target};

/// How a target was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// The way that worked.
    pub route: String,
    /// The digest of the folder's source at that time.
    pub digest: String,
    /// Environment that the way adds to the start.
    pub env: BTreeMap<String, String>,
    /// How long its steps took, with what they fetched, in nanoseconds; `None` if nothing was done.
    #[serde(default)]
    pub took_ns: Option<u64>,
}

impl Installed {
    /// For a target that needs no installation, or whose source is not known.
    fn as_it_is() -> Self {
        Self {
            route: "as it is".into(),
            digest: String::new(),
            env: BTreeMap::new(),
            took_ns: None,
        }
    }
}

/// What an installation may do, and where its messages go.
pub struct Installer<'a> {
    /// System packages may be installed.
    pub apt_allowed: bool,
    /// Steps may be run; otherwise only what is installed already counts.
    pub steps_allowed: bool,
    /// Told what is being done.
    pub say: &'a dyn Fn(&str),
    /// Whether the user wants to stop.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// The values of the placeholders that installation and start have in common.
#[must_use]
pub fn base_values(target: &Target) -> BTreeMap<String, String> {
    let variable = |name: &str| (name.to_string(), std::env::var(name).unwrap_or_default());
    BTreeMap::from([
        ("DIR".to_string(), target.folder.to_string_lossy().into_owned()),
        variable("PATH"),
        variable("HOME"),
    ])
}

fn record_path(target: &Target) -> PathBuf {
    target.folder.join(".pippin/installed.json")
}

/// The installation, if it was made from the folder's present source.
#[must_use]
pub fn present(target: &Target) -> Option<Installed> {
    match &target.kind {
        Kind::Catalog => {}
        Kind::Command if target.manifest.install.is_some() => return None,
        Kind::Command | Kind::Listening(_) => return Some(Installed::as_it_is()),
        Kind::Image(image) => return image.is_here().then(Installed::as_it_is),
    }
    let text = std::fs::read_to_string(record_path(target)).ok()?;
    let installed: Installed = serde_json::from_str(&text).ok()?;
    (digest::of_source(&target.folder).ok()? == installed.digest).then_some(installed)
}

impl Installer<'_> {
    /// Installs a target unless it is there already.
    ///
    /// # Errors
    /// A target failure with the reason of every way that did not work; interruption.
    pub fn install(&self, target: &Target) -> Result<Installed, LabError> {
        if let Some(installed) = present(target) {
            return Ok(installed);
        }
        if let (Kind::Image(_), Err(why)) = (&target.kind, container::runtime()) {
            return Err(LabError::target(Stage::Install, why));
        }
        if (self.interrupted)() {
            return Err(LabError::Interrupted);
        }
        // The user's own build needs no consent, as with make.
        let is_own = matches!(target.kind, Kind::Command);
        if !self.steps_allowed && !is_own {
            return Err(LabError::target(
                Stage::Install,
                match target.kind {
                    Kind::Image(_) => "the image is not here; add --install to fetch it".into(),
                    _ => format!(
                        "not installed; run `pippin targets install {}` or add --install",
                        target.id
                    ),
                },
            ));
        }
        let mut reasons = Vec::new();
        let ways = target.manifest.ways();
        for route in &ways {
            match self.try_route(target, route) {
                Ok(installed) => return Ok(installed),
                Err(LabError::Target(failure)) => {
                    if ways.len() > 1 {
                        (self.say)(&format!(
                            "{}: route {} does not work here: {}",
                            target.id, route.name, failure.message
                        ));
                    }
                    reasons.push((route.name.clone(), failure));
                }
                Err(other) => return Err(other),
            }
        }
        Err(LabError::Target(summarise(reasons)))
    }

    fn try_route(&self, target: &Target, route: &Route) -> Result<Installed, LabError> {
        let env = self.route_env(target, route);
        let begin = Instant::now();
        self.provide_tools(target, route, &env)?;
        self.run_steps(target, route, &env)?;
        let took_ns = Some(begin.elapsed().as_nanos() as u64);
        if !matches!(target.kind, Kind::Catalog) {
            // Pippin does not know what it was built from, so it is built anew each time.
            let (route, digest) = (route.name.clone(), String::new());
            return Ok(Installed { route, digest, env, took_ns });
        }
        let digest = digest::of_source(&target.folder)
            .map_err(LabError::io(format!("read {}", target.folder.display())))?;
        let installed = Installed { route: route.name.clone(), digest, env, took_ns };
        let path = record_path(target);
        let json = serde_json::to_vec_pretty(&installed).unwrap_or_default();
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, json));
        written.map_err(LabError::io(format!("write {}", path.display())))?;
        Ok(installed)
    }

    /// Packages bring tools and libraries. If the tools are already there, the steps are tried
    /// first, so that nothing is installed twice. If the steps fail, the packages may bring what is
    /// missing.
    fn run_steps(
        &self,
        target: &Target,
        route: &Route,
        env: &BTreeMap<String, String>,
    ) -> Result<(), LabError> {
        match steps::run(self, target, route, env) {
            Err(LabError::Target(failure)) => {
                let missing = apt::missing(&route.apt);
                if missing.is_empty() || !self.apt_allowed {
                    return Err(LabError::Target(failure));
                }
                apt::install(&missing, self)?;
                steps::run(self, target, route, env)
            }
            other => other,
        }
    }

    fn route_env(&self, target: &Target, route: &Route) -> BTreeMap<String, String> {
        let values = base_values(target);
        route
            .env
            .iter()
            .map(|(name, value)| (name.clone(), environment::fill(value, &values)))
            .collect()
    }

    fn provide_tools(
        &self,
        target: &Target,
        route: &Route,
        env: &BTreeMap<String, String>,
    ) -> Result<(), LabError> {
        let path =
            env.get("PATH").cloned().unwrap_or_else(|| std::env::var("PATH").unwrap_or_default());
        if tools::missing(&route.tools, &path).is_empty() {
            return Ok(());
        }
        let packages = apt::missing(&route.apt);
        if !packages.is_empty() && self.apt_allowed {
            apt::install(&packages, self)?;
        }
        match tools::missing(&route.tools, &path) {
            missing if missing.is_empty() => Ok(()),
            missing => {
                Err(LabError::target(Stage::Install, tools_message(&missing, route, target)))
            }
        }
    }
}

fn tools_message(missing: &[String], route: &Route, target: &Target) -> String {
    let fix = if route.apt.is_empty() {
        // Without the versions that were found.
        let names: Vec<&str> =
            missing.iter().map(|tool| tool.split(" (").next().unwrap_or(tool)).collect();
        format!(
            "install {} (see {})",
            names.join(", "),
            target.manifest.website.as_deref().unwrap_or("its website")
        )
    } else {
        format!("apt-get install {}", route.apt.join(" "))
    };
    format!("missing: {}; {fix}", missing.join("; "))
}

fn summarise(mut reasons: Vec<(String, Failure)>) -> Failure {
    if reasons.len() == 1 {
        return reasons.remove(0).1;
    }
    let message = reasons
        .iter()
        .map(|(route, failure)| format!("route {route}: {}", failure.message))
        .collect::<Vec<_>>()
        .join(" | ");
    let log_tail = reasons
        .into_iter()
        .flat_map(|(route, failure)| {
            failure.log_tail.into_iter().map(move |line| format!("{route}: {line}"))
        })
        .collect();
    Failure { stage: Stage::Install, message, log_tail }
}
