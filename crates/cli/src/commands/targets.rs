//! `pippin targets`
use pippin_lab::LabError;
use pippin_lab::check::folder::CheckFolder;
use pippin_lab::check::many::Many;
use pippin_lab::check::passed::Passed;
use pippin_lab::check::{self, Checked, Skipped, causes};
use pippin_lab::install::Installer;
use pippin_lab::scaffold::{self, sibling};
use pippin_lab::target::catalog::Catalog;
use pippin_lab::target::place::Place;
use pippin_model::target::TargetId;
use pippin_model::target::conformance::{Conformance, in_words};
use pippin_model::text::units::parse_duration_ns;
use pippin_model::workload::Service;
use pippin_report::words;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::consent::{self, Asking};
use super::{Shared, catalog, place, print_text};
use crate::arguments::{CheckArguments, TargetsCommand};
use crate::exit::{self, CliError};
use crate::output;
use crate::signals;

pub fn run(shared: &Shared, command: TargetsCommand) -> Result<u8, CliError> {
    let place = place()?;
    let catalog = catalog(&place)?;
    match command {
        TargetsCommand::List { json } => list(&catalog, json),
        TargetsCommand::Install { targets, yes } => install(shared, &catalog, &targets, yes),
        TargetsCommand::New { target, from } => new(&catalog, &target, from.as_deref()),
        TargetsCommand::Check(arguments) => {
            Check { shared, place: &place, catalog: &catalog, arguments: &arguments }.run()
        }
    }
}

fn list(catalog: &Catalog, json: bool) -> Result<u8, CliError> {
    let mut out = String::new();
    let mut rows = Vec::new();
    let register = catalog.register()?;
    let today = today();
    for id in catalog.select(&["all".to_string()])? {
        let target = catalog.target(&id)?;
        let workloads = target.manifest.workloads_of(id.variant.as_deref()).to_vec();
        let about = target
            .manifest
            .variant(id.variant.as_deref())
            .and_then(|variant| variant.about.clone())
            .unwrap_or_else(|| target.manifest.framework.clone());
        let registered = register.entries(&id, None);
        let notes = registered.notes(&today);
        if json {
            rows.push(serde_json::json!({
                "target": id, "about": about, "workloads": workloads,
                "kind": registered.kind, "notes": notes,
            }));
        } else {
            let kind = registered.kind.map_or_else(|| "unknown".into(), |kind| kind.to_string());
            let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
            let (id, workloads) = (id.to_string(), workloads.join(" "));
            out.push_str(&format!("{id:<32} {workloads:<40} {kind:<19} {about}{notes}\n"));
        }
    }
    if json {
        out = format!("{}\n", serde_json::Value::from(rows));
    }
    print_text(&out)
}

fn new(catalog: &Catalog, name: &str, from: Option<&str>) -> Result<u8, CliError> {
    let parse =
        |name: &str| name.parse::<TargetId>().map_err(|error| CliError::User(error.to_string()));
    let id = parse(name)?;
    let (folder, next) = match from.map(parse).transpose()? {
        None => (scaffold::scaffold(catalog, &id)?, "edit target.toml, write the server, then"),
        Some(from) => (
            sibling::copy(catalog, &id, &from)?,
            "prove the copy, put the framework in, prove it again",
        ),
    };
    print_text(&format!("{}\n{next}: pippin targets check {id}\n", folder.display()))
}

fn install(
    shared: &Shared,
    catalog: &Catalog,
    names: &[String],
    yes: bool,
) -> Result<u8, CliError> {
    let targets = catalog.select(names)?;
    let apt =
        consent::for_installation(catalog, &targets, &[], Asking { yes, quiet: shared.quiet })?;
    let stop = signals::catch();
    let interrupted = || stop.load(Ordering::Relaxed);
    let say = |text: &str| say(shared, text);
    let installer =
        Installer { apt_allowed: apt, steps_allowed: true, say: &say, interrupted: &interrupted };
    let mut failed = 0;
    for id in targets.iter().filter(|id| id.variant.is_none()) {
        match installer.install(&catalog.target(id)?) {
            Ok(installed) => {
                drop(print_text(&format!("{id}: installed by route {}\n", installed.route)))
            }
            Err(LabError::Target(failure)) => {
                failed += 1;
                print_text(&format!("{id}: unavailable: {}\n", failure.message))?;
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(if failed > 0 { exit::FAILED } else { exit::OK })
}

/// The day, in UTC, as `2026-11-22`.
fn today() -> String {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = words::time(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX));
    time.split(' ').next().unwrap_or_default().to_string()
}

fn say(shared: &Shared, text: &str) {
    if !shared.quiet {
        output::say(text);
    }
}

struct Check<'a> {
    shared: &'a Shared,
    place: &'a Place,
    catalog: &'a Catalog,
    arguments: &'a CheckArguments,
}

impl Check<'_> {
    fn run(&self) -> Result<u8, CliError> {
        let CheckArguments { workloads, install, yes, within, .. } = self.arguments;
        for workload in workloads {
            self.catalog.workload(workload)?;
        }
        let names = self.names();
        // In the order of the command line: there may be no time left for the last ones.
        let mut targets = Vec::new();
        for name in &names {
            for id in self.catalog.select(std::slice::from_ref(name))? {
                if !targets.contains(&id) {
                    targets.push(id);
                }
            }
        }
        // A target that is named must be available. From a group, only the available ones are
        // checked.
        let mut required: BTreeSet<TargetId> =
            self.catalog.select(&self.arguments.require)?.into_iter().collect();
        if !self.arguments.optional {
            let parts = names.iter().flat_map(|name| name.split(','));
            required.extend(parts.filter_map(|name| name.parse().ok()));
        }
        for id in &targets {
            check::workloads(self.catalog, id, workloads)?;
        }
        let until = within.as_deref().map(deadline).transpose()?;
        let apt = *install
            && consent::for_installation(
                self.catalog,
                &targets,
                &self.services(&targets)?,
                Asking { yes: *yes, quiet: self.shared.quiet },
            )?;
        let stop = signals::catch();
        let folder = self.place.checks()?;
        std::fs::create_dir_all(&folder)
            .map_err(CliError::io(format!("create {}", folder.display())))?;
        let passed = Mutex::new(Passed::read(&folder, self.catalog, workloads)?);
        let own = CheckFolder::take(&folder)?;
        let many = Many {
            catalog: self.catalog,
            only: workloads,
            folder: own.path(),
            jobs: usize::from(self.arguments.jobs),
            until,
            apt_allowed: apt,
            steps_allowed: *install,
            passed: &passed,
            resume: self.arguments.resume,
            say: &|text| say(self.shared, text),
            tell: &|checked| drop(print_text(&row(checked, targets.len() == 1))),
            interrupted: &|| stop.load(Ordering::Relaxed),
        };
        self.conclude(&many.check(&targets)?, &required)
    }

    fn names(&self) -> Vec<String> {
        if self.arguments.all { vec!["all".to_string()] } else { self.arguments.targets.clone() }
    }

    /// The services that the checked workloads need.
    fn services(&self, targets: &[TargetId]) -> Result<Vec<Service>, CliError> {
        let mut services = Vec::new();
        for id in targets {
            let workloads = check::workloads(self.catalog, id, &self.arguments.workloads)?;
            services.extend(workloads.into_iter().flat_map(|workload| workload.services));
        }
        Ok(services)
    }

    /// Whether it had to be proved but was not, neither now nor before.
    fn is_missed(&self, checked: &Checked) -> bool {
        match checked.skipped {
            Some(Skipped::PassedBefore) => false,
            Some(Skipped::NoTimeLeft | Skipped::NoTimeToInstall) => !self.arguments.optional,
            Some(Skipped::NoSuchWorkload) => true,
            None => checked.is_unavailable(),
        }
    }

    fn conclude(&self, results: &[Checked], required: &BTreeSet<TargetId>) -> Result<u8, CliError> {
        let count = |is: &dyn Fn(&Checked) -> bool| results.iter().filter(|c| is(c)).count();
        let passed = count(&Checked::passed);
        let unavailable = count(&Checked::is_unavailable);
        let skipped = count(&|checked| checked.skipped.is_some());
        let failed = results.len() - passed - unavailable - skipped;
        let missed: Vec<String> = results
            .iter()
            .filter(|checked| required.contains(&checked.target) && self.is_missed(checked))
            .map(|checked| checked.target.to_string())
            .collect();
        let mut out = String::new();
        if results.len() > 1 && passed < results.len() {
            out.push_str("by cause:\n");
            for (cause, targets) in causes::group(results) {
                out.push_str(&format!(
                    "{:5}  {cause}\n       {}\n",
                    targets.len(),
                    targets.join(", ")
                ));
            }
        }
        out.push_str(&format!(
            "targets: {passed} passed, {failed} failed, {unavailable} unavailable"
        ));
        if skipped > 0 {
            out.push_str(&format!(", {skipped} not checked"));
        }
        out.push('\n');
        if !missed.is_empty() {
            out.push_str(&format!("not checked, but required: {}\n", missed.join(", ")));
        }
        print_text(&out)?;
        Ok(if failed > 0 || !missed.is_empty() { exit::FAILED } else { exit::OK })
    }
}

/// The deadline that far from now.
fn deadline(within: &str) -> Result<Instant, CliError> {
    let ns = parse_duration_ns(within)
        .map_err(|error| CliError::User(format!("--within {within}: {error}")))?;
    Ok(Instant::now() + Duration::from_nanos(ns))
}

/// One line for each target, and one for each problem. If the target is `alone`, also its answers
/// at the edges of HTTP.
fn row(checked: &Checked, alone: bool) -> String {
    let name = checked.target.to_string();
    if let Some(skipped) = checked.skipped {
        return format!("{name:<32} not checked  {}\n", skipped.words());
    }
    if let Some(failure) = &checked.failure {
        let word = if checked.is_unavailable() { "unavailable" } else { "FAIL" };
        return format!("{name:<32} {word:<11}  {}: {}\n", failure.stage.name(), failure.message);
    }
    let mark = |(workload, wrong): (&String, &Vec<String>)| {
        format!("{workload} {}", if wrong.is_empty() { "ok" } else { "FAILED" })
    };
    let marks: Vec<String> = checked.workloads.iter().map(mark).collect();
    let route = checked
        .route
        .as_deref()
        .filter(|route| *route != "default")
        .map(|route| format!("  (route {route})"))
        .unwrap_or_default();
    let mut out = format!(
        "{name:<32} {:<11}  {}{route}\n",
        if checked.passed() { "pass" } else { "FAIL" },
        marks.join(", ")
    );
    for (workload, wrong) in &checked.workloads {
        for reason in wrong {
            out.push_str(&format!("    {workload}: {reason}\n"));
        }
    }
    for remark in &checked.remarks {
        out.push_str(&format!("    note: {remark}\n"));
    }
    out + &conformance(&checked.conformance, alone)
}

/// Differences from the HTTP standard, or the whole table if `whole`. They do not affect the check.
fn conformance(all: &[Conformance], whole: bool) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("    conformance (not part of the check): {}\n", in_words(all));
    for one in all.iter().filter(|one| whole || !one.is_right) {
        out.push_str(&format!(
            "      {:<3} {:<6} {:<17} {}: {}\n",
            if one.is_right { "ok" } else { "not" },
            one.level.name(),
            one.section,
            one.probe,
            one.found
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::target::conformance::{Kind, Level};

    #[test]
    fn of_many_targets_only_wrong_answers_are_listed_and_of_one_the_whole_table() {
        let one = |probe: &str, level, is_right| Conformance {
            kind: Kind::Compliance,
            probe: probe.into(),
            section: "RFC 9110 6.6.1".into(),
            level,
            found: "200".into(),
            is_right,
        };
        let all = [one("HEAD", Level::Must, true), one("a Date field", Level::Note, false)];
        let sum = "    conformance (not part of the check): 1 of 2 answers right; wrong: 1 note\n";
        let wrong = "      not note   RFC 9110 6.6.1    a Date field: 200\n";
        let right = "      ok  MUST   RFC 9110 6.6.1    HEAD: 200\n";
        assert_eq!(conformance(&all, false), format!("{sum}{wrong}"));
        assert_eq!(conformance(&all, true), format!("{sum}{right}{wrong}"));
        assert_eq!(conformance(&[], true), "");
    }
}
