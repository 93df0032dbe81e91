//! `pippin compare URL URL`, `--command ... --command ...`, `--image ...`: servers from the command
//! line, measured as targets of one interleaved run; or one command with several values of a parameter.
use pippin_lab::load::address::Url;
use pippin_lab::target::ad_hoc;
use pippin_lab::target::container::{self, Image};
use pippin_lab::target::{Listening, Target};
use pippin_model::load::{LoadSpec, Protocol, Request};
use pippin_model::plan::Plan;
use pippin_model::plan::goal::FEWEST_REPETITIONS;
use pippin_model::plan::scan::Scan;
use pippin_model::target::TargetId;
use pippin_model::workload::Workload;
use std::path::Path;
use std::slice;
use std::time::Duration;

use super::scan;
use super::sides::Sides;
use crate::arguments::CompareArguments;
use crate::commands::load::{profile, protocol, reach, request, tls};
use crate::commands::run::folder;
use crate::commands::{Shared, catalog, place};
use crate::exit::CliError;
use crate::values::{Time, statuses_of};

/// The name of such runs, in place of a plan's name.
const PLAN: &str = "compare";
/// The default number of fresh starts of each server.
const REPETITIONS: u32 = 5;
/// The default time to measure each server.
const DURATION: Time = Time::from_s(3);
/// The longest time for opening a connection before the load.
const PATIENCE: Duration = Duration::from_secs(10);

/// The host in requests until they are aimed at a target: a target's address is not known before it
/// listens.
const HOST: &str = "localhost";

/// Whether a text is a URL and not the name of a run or a revision: it has a scheme or a port. Of
/// `RUN#TARGET`, the target may be a URL.
pub fn is_url(text: &str) -> bool {
    let text = text.split('#').next().unwrap_or_default();
    let authority = text.split(['/', '?']).next().unwrap_or_default();
    let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    text.contains("://") || (has_port && !Path::new(text).exists())
}

pub fn run(shared: &Shared, arguments: &CompareArguments) -> Result<u8, CliError> {
    let place = place()?;
    let folder = folder(&place, arguments.out.as_deref(), PLAN)?;
    let protocol = protocol::without_url(&arguments.http2, false, arguments.shape.pipeline)?;
    let (targets, asked, values) = Given { arguments, folder: &folder, protocol }.targets()?;
    let ids: Vec<TargetId> = targets.iter().map(|target| target.id.clone()).collect();
    let title = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut profile = profile::of_shape(&arguments.shape, DURATION)?;
    profile.protocol = arguments.http2.spoken();
    profile.connections.streams = arguments.http2.streams;
    if let Some(walk) = &asked.walk {
        profile::divide_users(&arguments.shape, &walk.scenario, &mut profile)?;
    }
    let goal = arguments.goal.goal(arguments.repeat)?;
    let usual = if goal.is_some() { FEWEST_REPETITIONS } else { REPETITIONS };
    let repetitions = arguments.repeat.unwrap_or(usual);
    let plan = Plan {
        goal,
        instructions: arguments.instructions,
        limits: arguments.limits.limits(),
        scan: values,
        ..ad_hoc::plan(PLAN, title, ids.clone(), repetitions, profile)
    };
    if plan.scan.is_some() {
        scan::tell_time(shared, &plan);
    }
    let catalog = catalog(&place)?.with_given(targets, [asked]);
    let sides = Sides::first_with_each(&ids);
    sides.measure(shared, arguments, (&catalog, plan), (&folder, true))
}

struct Given<'a> {
    arguments: &'a CompareArguments,
    folder: &'a Path,
    protocol: Protocol,
}

impl Given<'_> {
    /// Everything that is compared, in the order URLs, commands, images; its workload: the steps of a
    /// file, or one path for all; and the parameter whose values are compared, if one is.
    fn targets(&self) -> Result<(Vec<Target>, Workload, Option<Scan>), CliError> {
        let CompareArguments { sides, command, image, path, .. } = self.arguments;
        let path = path.clone().unwrap_or_else(|| "/".into());
        if !path.starts_with('/') {
            return Err(CliError::User(format!("--path {path}: a path begins with `/`")));
        }
        let here = std::env::current_dir().map_err(CliError::io("find the current folder"))?;
        let mut targets = Vec::new();
        for side in sides {
            targets.push(self.listening(side)?);
        }
        for (text, differs) in command.iter().zip(ad_hoc::what_differs(command)) {
            targets.push(ad_hoc::command((text, &differs), &here, self.only(&path)?)?);
        }
        for reference in image {
            let image = container::runtime()
                .map_err(str::to_string)
                .and_then(|_| Image::named(reference))
                .map_err(|error| CliError::User(format!("--image {reference}: {error}")))?;
            targets.push(ad_hoc::image(image, self.folder, self.only(&path)?));
        }
        let values = scan::asked(self.arguments)?;
        if targets.len() < 2 && values.is_none() {
            return Err(CliError::User(
                "name at least two things to compare: URLs, --command, --image".into(),
            ));
        }
        self.name(&mut targets)?;
        let scan = match values {
            Some(values) => {
                let (each, scan) = scan::each(&targets[0], values)?;
                targets = each;
                Some(scan)
            }
            None => None,
        };
        ad_hoc::tell_apart(&mut targets);
        let asked: Vec<&str> = targets
            .iter()
            .flat_map(|target| &target.requests)
            .flatten()
            .map(|request| request.target.as_str())
            .collect();
        let same = asked.iter().all(|path| *path == asked[0]);
        let asked = if same { asked.first().copied().unwrap_or(&path) } else { &path };
        let asked = self.workload(asked)?;
        Ok((targets, asked, scan))
    }

    /// Gives targets the names of `--name`.
    fn name(&self, targets: &mut [Target]) -> Result<(), CliError> {
        let names = &self.arguments.name;
        if names.is_empty() {
            return Ok(());
        }
        if names.len() != targets.len() {
            return Err(CliError::User(format!(
                "--name is given {} times for {} servers; name each of them, in the order URLs, --command, --image",
                names.len(),
                targets.len()
            )));
        }
        for (target, name) in targets.iter_mut().zip(names) {
            let of = format!("{}/{name}", target.id.language).parse::<TargetId>();
            target.id = of.ok().filter(|id| id.variant.is_none()).ok_or_else(|| {
                CliError::User(format!("--name {name}: a name has letters, digits, `-` and `_`"))
            })?;
        }
        Ok(())
    }

    fn workload(&self, path: &str) -> Result<Workload, CliError> {
        let asked = &self.arguments.request;
        if asked.digest {
            return Err(CliError::User(
                "--digest: `compare` also sends proofs, and these carry no credentials; use pippin load".into(),
            ));
        }
        let named = &self.arguments.scenario;
        if !named.is_empty() {
            let (written, steps) = request::steps(asked, named, HOST)?;
            let title = request::in_words(named).replacen('s', "S", 1);
            return Ok(ad_hoc::walking(title, written, steps));
        }
        let status = statuses_of(&asked.expect_status).first().copied().unwrap_or(200);
        Ok(ad_hoc::workload(request::in_workload(asked, path)?, status))
    }

    /// The only request, unless a file has steps.
    fn only(&self, path: &str) -> Result<Option<Request>, CliError> {
        if !self.arguments.scenario.is_empty() { Ok(None) } else { self.request(path).map(Some) }
    }

    fn request(&self, path: &str) -> Result<Request, CliError> {
        let request = request::from_arguments(&self.arguments.request, HOST, path)?;
        protocol::check(self.protocol, slice::from_ref(&request))?;
        Ok(request)
    }

    fn listening(&self, text: &str) -> Result<Target, CliError> {
        if !is_url(text) {
            return Err(CliError::User(format!(
                "`{text}` is not a URL, and cannot be compared with one; write it like http://127.0.0.1:8080/path"
            )));
        }
        let url = Url::parse(text)?;
        if self.arguments.path.is_some() && url.target != "/" {
            return Err(CliError::User(format!(
                "`{text}` already has a path, so --path has no effect on it; leave one of them out"
            )));
        }
        if let Some(named) = self.arguments.scenario.first().filter(|_| url.target != "/") {
            return Err(CliError::User(format!(
                "the path of {text} has no effect, because {} has the paths; leave it out",
                named.file.display()
            )));
        }
        let path = self.arguments.path.as_ref().unwrap_or(&url.target);
        protocol::fits(&self.arguments.http2, &url)?;
        let tls = tls::from_arguments(&self.arguments.tls, &url)?;
        let allowed = &self.arguments.hosts.allow_host;
        let addresses = reach::resolved(&url, allowed, None, PATIENCE)?;
        let load = LoadSpec { addresses, tls, protocol: self.protocol, ..LoadSpec::default() };
        protocol::try_places(&load, PATIENCE)?;
        let LoadSpec { addresses, tls, .. } = load;
        let request = self.only(path)?;
        Ok(ad_hoc::listening(Listening { addresses, tls, url, proxy: None }, request))
    }
}

#[cfg(test)]
mod tests {
    use super::is_url;

    #[test]
    fn urls_are_told_from_runs_and_revisions() {
        for url in ["http://a/", "https://a.example", "localhost:8080", "127.0.0.1:80/x?y=1:2"] {
            assert!(is_url(url), "{url}");
        }
        for other in [
            "latest",
            "main",
            "feature/x:y",
            "20261122-020747",
            "latest#go/net-http:tuned",
            "HEAD:x",
        ] {
            assert!(!is_url(other), "{other}");
        }
    }
}
