//! `pippin compare --with pool=5,10,20`: one server with several values of a parameter, each a target
//! of one interleaved run. The first value is the base.
use pippin_lab::target::Target;
use pippin_lab::target::project::prepare;
use pippin_model::plan::Plan;
use pippin_model::plan::profile::Steps;
use pippin_model::plan::scan::{Scan, Values};
use pippin_model::target::parameter;
use pippin_model::target::project::{FILE, ProjectTarget};
use pippin_model::text::units::{counted, format_length};

use super::given::{self, is_url};
use super::measured::plan_options;
use super::sides::Sides;
use super::{FOR_BRANCHES, FOR_REVISIONS, REVISIONS, for_servers, refuse};
use crate::arguments::CompareArguments;
use crate::commands::copies::{plan_of, targets_of};
use crate::commands::run::{self, folder};
use crate::commands::{Shared, catalog, place};
use crate::exit::CliError;
use crate::output::say;

/// The only parameter of `--with`.
pub fn asked(arguments: &CompareArguments) -> Result<Option<&Values>, CliError> {
    match arguments.with.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => {
            let names: Vec<String> =
                several.iter().map(|it| format!("--with {}", it.parameter)).collect();
            Err(CliError::User(format!(
                "{}: a scan has one parameter; scan one, and then the other with the best value of the first",
                names.join(" and ")
            )))
        }
    }
}

pub fn run(shared: &Shared, arguments: &CompareArguments, values: &Values) -> Result<u8, CliError> {
    if let Some(side) = arguments.sides.first() {
        return Err(CliError::User(if is_url(side) {
            format!(
                "--with {}: {side} runs already, so that nothing can be set; give its command in quotes",
                values.parameter
            )
        } else {
            format!(
                "--with {} compares a server with itself; leave out `{}`",
                values.parameter,
                arguments.sides.join("` and `")
            )
        }));
    }
    if !arguments.image.is_empty() {
        return Err(CliError::User(format!(
            "--with {}: containers get no variables of yours; give a command in quotes, as 'docker run ...'",
            values.parameter
        )));
    }
    refuse(shared, &FOR_REVISIONS, REVISIONS)?;
    match arguments.command.len() {
        0 => {
            refuse(shared, &for_servers(), "URLs, --command and --image")?;
            of_project(shared, arguments, values)
        }
        1 => {
            refuse(shared, &FOR_BRANCHES, "--target")?;
            given::run(shared, arguments)
        }
        several => Err(CliError::User(format!(
            "--with {} compares one server with itself, and there are {several} commands; leave out all but one",
            values.parameter
        ))),
    }
}

/// A target of the project file.
fn of_project(
    shared: &Shared,
    arguments: &CompareArguments,
    values: &Values,
) -> Result<u8, CliError> {
    let place = place()?;
    let catalog = catalog(&place)?;
    let project = catalog.project().ok_or_else(|| {
        CliError::User(format!(
            "--with {}: no server to start; give its command in quotes, or write a {FILE} (pippin init)",
            values.parameter
        ))
    })?;
    let options = plan_options(arguments)?;
    let named = plan_of(project, arguments.plan.as_deref(), None)?;
    let plan = run::plan(&catalog, named, &options)?;
    if !matches!(plan.profile.steps, Steps::One) {
        return Err(CliError::User(format!(
            "plan {} makes several loads, and a scan compares its values under one; choose a plan with `connections` or one `rate`",
            plan.id
        )));
    }
    let target = match targets_of(project, &plan, arguments.target.as_deref())?.as_slice() {
        [one] => set_free(one, values),
        several => {
            let names: Vec<&str> = several.iter().map(|it| it.manifest.name.as_str()).collect();
            return Err(CliError::User(format!(
                "plan {} has several targets, and a scan has one; add --target with one of {}",
                plan.id,
                names.join(", ")
            )));
        }
    };
    let folder = folder(&place, arguments.out.as_deref(), &plan.id)?;
    let (targets, scan) = each(&prepare(&target, place.root())?, values)?;
    let ids: Vec<_> = targets.iter().map(|target| target.id.clone()).collect();
    let plan = Plan { targets: ids.clone(), scan: Some(scan), ..plan };
    tell_time(shared, &plan);
    let catalog = catalog.with_given(targets, []);
    let sides = Sides::first_with_each(&ids);
    sides.measure(shared, arguments, (&catalog, plan), (&folder, true))
}

/// Says before a scan how long it measures.
pub fn tell_time(shared: &Shared, plan: &Plan) {
    if shared.quiet {
        return;
    }
    let (values, repetitions) = (plan.targets.len() as u64, u64::from(plan.repetitions));
    let each = format!("{values} values, {}", counted(repetitions, "repetition"));
    match plan.profile.headline_ns() {
        Some(length_ns) => say(format_args!(
            "{each} of {} each: at least {}, and starts and warm-ups besides",
            format_length(length_ns),
            format_length(length_ns.saturating_mul(values * repetitions))
        )),
        None => say(format_args!("{each}")),
    }
}

/// The target without the usual value of the parameter, so that each value takes its place.
fn set_free(target: &ProjectTarget, values: &Values) -> ProjectTarget {
    let mut target = target.clone();
    target.with.remove(&values.parameter);
    target
}

/// A target for each value. They share a folder, which is built once.
pub fn each(target: &Target, values: &Values) -> Result<(Vec<Target>, Scan), CliError> {
    let scan = values.scan_of(&target.id);
    let mut targets = Vec::new();
    for point in &scan.points {
        let mut one = Target { id: point.target.clone(), ..target.clone() };
        parameter::refuse_around(&one.world, &values.parameter)
            .and_then(|()| parameter::set(&mut one.manifest, values, &point.value))
            .map_err(|message| CliError::User(format!("--with {values}: {message}")))?;
        targets.push(one);
    }
    Ok((targets, scan))
}
