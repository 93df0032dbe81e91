//! Compares the pages with plans, workloads, commands, exit codes and manifests.
use crate::nuget;
use crate::pages::{assert_same, entries, named_in, root, rows, section, text, ticked, toml_names};
use pippin_lab::scaffold::scaffold;
use pippin_lab::target::catalog::Catalog;
use pippin_lab::target::place::Place;
use pippin_model::target::manifest::Manifest;
use pippin_model::target::register::Register;
use std::collections::BTreeSet;

const PLANS: &str = "docs/plans.md";
const COMMANDS: &str = "docs/commands.md";
const TARGETS: &str = "docs/targets.md";
const ADD_A_TARGET: &str = "docs/add-a-target.md";

#[test]
fn the_readme_points_and_stays_short() {
    let readme = text("README.md");
    let lines = readme.lines().count();
    assert!(lines <= 130, "README.md has {lines} lines; it points to pages in docs/");
}

/// The index of decisions has a row for each page.
#[test]
fn every_decision_is_in_the_index() {
    const INDEX: &str = "docs/decisions/README.md";
    let page = text(INDEX);
    let lines: Vec<&str> = page.lines().collect();
    let named = rows(&lines).into_iter().map(|cells| {
        let (_, link) = cells[0].split_once("](").expect("a link");
        link.trim_end_matches(')').to_string()
    });
    let mut real = entries("docs/decisions");
    real.remove("README.md");
    assert_same(INDEX, "the table", &named.collect(), &real);
}

#[test]
fn every_plan_is_there_and_no_other() {
    assert_same(
        PLANS,
        "## Plans",
        &named_in(&section(&text(PLANS), "## Plans")),
        &toml_names("plans"),
    );
}

#[test]
fn every_workload_is_there_and_no_other() {
    assert_same(
        PLANS,
        "## Workloads",
        &named_in(&section(&text(PLANS), "## Workloads")),
        &toml_names("workloads"),
    );
}

/// The manifests of all targets, by `language/name`.
pub(crate) fn manifests() -> Vec<(String, Manifest)> {
    let mut found = Vec::new();
    for language in entries("targets") {
        if !root().join("targets").join(&language).is_dir() {
            continue;
        }
        for name in entries(&format!("targets/{language}")) {
            let folder = root().join("targets").join(&language).join(&name);
            // A folder may remain from the installation of a removed target.
            if folder.join("target.toml").is_file() {
                found.push((format!("{language}/{name}"), Manifest::read(&folder).unwrap()));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

#[test]
fn every_target_is_there_with_its_workloads_variants_and_routes() {
    let page = text(TARGETS);
    let lines = section(&page, "# Targets");
    let manifests = manifests();
    assert_same(
        TARGETS,
        "# Targets",
        &named_in(&lines),
        &manifests.iter().map(|(id, _)| id.clone()).collect(),
    );
    for cells in rows(&lines) {
        let id = ticked(cells[0]).pop_first().unwrap();
        let (_, manifest) = manifests.iter().find(|(other, _)| *other == id).unwrap();
        let set = |names: Vec<&String>| names.into_iter().cloned().collect::<BTreeSet<String>>();
        let words = |cell: &str| {
            cell.split(", ")
                .filter(|word| !word.is_empty())
                .map(str::to_string)
                .collect::<BTreeSet<String>>()
        };
        assert_same(
            TARGETS,
            &format!("variants of {id}"),
            &ticked(cells[1]),
            &set(manifest.variants.iter().map(|variant| &variant.name).collect()),
        );
        assert_same(
            TARGETS,
            &format!("workloads of {id}"),
            &words(cells[2]),
            &set(manifest.workloads.iter().collect()),
        );
        assert_same(
            TARGETS,
            &format!("routes of {id}"),
            &ticked(cells[3]),
            &set(manifest.routes.iter().map(|route| &route.name).collect()),
        );
    }
}

#[test]
fn every_skeleton_serves_what_its_row_says() {
    let place = tempfile::tempdir().unwrap();
    for name in ["targets", "workloads"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    let catalog = Catalog::from_place(&Place::find(place.path()).unwrap(), None);
    let page = text(ADD_A_TARGET);
    let mut skeletons = 0;
    for cells in rows(&section(&page, "## What `targets new` writes")) {
        let workloads: BTreeSet<String> = cells[1].split(", ").map(str::to_string).collect();
        for language in cells[0].split(", ") {
            let folder = language.to_lowercase().replace('#', "sharp");
            let made = scaffold(&catalog, &format!("{folder}/new").parse().unwrap()).unwrap();
            let served = Manifest::read(&made).unwrap().workloads.into_iter().collect();
            assert_same(ADD_A_TARGET, language, &workloads, &served);
            skeletons += 1;
        }
    }
    assert_eq!(skeletons, 10);
}

/// What is fetched is what was chosen: wheels by their hashes, crates and packages of npm and NuGet
/// by their lock files. And no step keeps anything in the home folder.
#[test]
fn steps_fetch_what_was_chosen_and_keep_it_in_their_folder() {
    let mut fetching = 0;
    for (id, manifest) in manifests() {
        let own = manifest.install.iter().flat_map(|install| &install.steps);
        let own = own.map(|step| (step, None));
        let routes = manifest.routes.iter();
        let of_routes =
            routes.flat_map(|route| route.steps.iter().map(move |step| (step, Some(&route.env))));
        for (step, env) in own.chain(of_routes) {
            let program = step[0].rsplit('/').next().unwrap();
            let has = |word: &str| step.iter().any(|other| other == word);
            let is_chosen = match program {
                _ if (program == "pip" || has("pip")) && has("install") => has("--require-hashes"),
                "cargo" => has("--locked"),
                "npm" => has("ci"),
                "dotnet" if !nuget::pinned(&id).is_empty() => has("-p:RestoreLockedMode=true"),
                "cpanm" => env.is_some_and(|env| env.contains_key("PERL_CPANM_HOME")),
                _ => continue,
            };
            assert!(is_chosen, "{id}: {step:?}");
            fetching += 1;
        }
    }
    assert!(fetching > 50, "{fetching}");
}

/// Every target has a kind, and every target in the register exists.
#[test]
fn the_register_knows_every_target() {
    let register = Register::read(&root().join("targets/register.toml")).unwrap();
    let ids: BTreeSet<String> = manifests().into_iter().map(|(id, _)| id).collect();
    let named: BTreeSet<String> = register.targets().map(ToString::to_string).collect();
    assert_same("targets/register.toml", "targets", &named, &ids);
    let without_kind: Vec<&String> = ids
        .iter()
        .filter(|id| register.entries(&id.parse().unwrap(), None).kind.is_none())
        .collect();
    assert!(without_kind.is_empty(), "targets/register.toml: no kind of {without_kind:?}");
}

#[test]
fn the_exit_codes_are_those_of_the_program() {
    let source = text("crates/cli/src/exit.rs");
    let codes = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split_once(" = ")?.1.strip_suffix(';'));
    let page = text(COMMANDS);
    assert_same(
        COMMANDS,
        "## Exit codes",
        &named_in(&section(&page, "## Exit codes")),
        &codes.map(str::to_string).collect(),
    );
}

#[test]
fn every_command_is_named() {
    let output =
        std::process::Command::new(env!("CARGO_BIN_EXE_pippin")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let commands: Vec<&str> = listed
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !["", "help"].contains(name))
        .collect();
    assert!(commands.contains(&"run"), "no commands in: {help}");
    let page = text(COMMANDS);
    let missing: Vec<&&str> =
        commands.iter().filter(|name| !page.contains(&format!("pippin {name}"))).collect();
    assert!(missing.is_empty(), "{COMMANDS} does not name the commands {missing:?}");
}
