//! Targets that the command line gives instead of a catalog: URLs, commands, container images. They
//! are asked one request, which nothing proves, or go through the steps of a file.
use pippin_model::load::Request;
use pippin_model::plan::limits::Limits;
use pippin_model::plan::profile::Profile;
use pippin_model::plan::{EXTRA_TIME, Plan, PlanCpus};
use pippin_model::request::secrets::without_values;
use pippin_model::scenario::file::Written;
use pippin_model::scenario::text::Text;
use pippin_model::target::TargetId;
use pippin_model::target::manifest::{Install, Manifest, Ready, Start};
use pippin_model::target::own_command::{self, OwnCommand};
use pippin_model::target::project::world::World;
use pippin_model::workload::{self, Answer, Proof, Steps, Workload};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::error::LabError;
use crate::target::container::Image;
use crate::target::{Kind, Listening, Target};

/// The name of the workload of such runs.
pub const WORKLOAD: &str = "url";
/// The longest name that is made from a text.
const LONGEST_NAME: usize = 60;
/// How long such a target may take to answer for the first time.
const READY_WITHIN: &str = "60s";

/// Something that listens already. `request` holds the path of its own URL; without one it is asked
/// what the workload says, as are the others.
#[must_use]
pub fn listening(listening: Listening, request: Option<Request>) -> Target {
    let id = TargetId::of_url(&without_values(&listening.url.whole()));
    target(id, Path::new("/"), OwnCommand::default(), request, Kind::Listening(Box::new(listening)))
}

/// A command, split into words as a shell would, and the text that its target is named by. No shell
/// runs it.
///
/// # Errors
/// As [`own_command::read`].
pub fn command(
    (text, name): (&str, &str),
    folder: &Path,
    request: Option<Request>,
) -> Result<Target, LabError> {
    let own = own_command::read(text).map_err(LabError::User)?;
    Ok(target(name_of("command", name), folder, own, request, Kind::Command))
}

/// A container image. `folder` is for the log of fetching it.
#[must_use]
pub fn image(image: Image, folder: &Path, request: Option<Request>) -> Target {
    let id = name_of("image", &image.reference);
    let install = Some(Install { steps: vec![image.pull()] });
    let made = target(id, folder, OwnCommand::default(), request, Kind::Image(image));
    Target { manifest: Manifest { install, ..made.manifest }, ..made }
}

/// Makes a target's name from the words of a text: `command/node-server-js`.
fn name_of(language: &str, text: &str) -> TargetId {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words.collect::<Vec<_>>().join("-").chars().take(LONGEST_NAME).collect();
    let name = if name.is_empty() { language.into() } else { name };
    TargetId { language: language.into(), name, variant: None }
}

/// What differs between commands, in their order, for the names of their targets: `-w 4` and
/// `-w 2 -k gthread` of commands that are otherwise alike. The words that all begin with and all
/// end with are left out, but an option stays with its value. A single command stays as it is, and
/// so do commands that are all the same.
#[must_use]
pub fn what_differs(commands: &[String]) -> Vec<String> {
    let words: Vec<Vec<&str>> = commands.iter().map(|it| it.split_whitespace().collect()).collect();
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    let is_common = |n: &usize| words.iter().all(|one| one[*n] == words[0][*n]);
    let mut start = (0..shortest).take_while(is_common).count();
    let all_are_equal = words.iter().all(|one| one.len() == start);
    if all_are_equal || commands.len() < 2 {
        return commands.to_vec();
    }
    let model = &words[0];
    let is_common =
        |n: &usize| words.iter().all(|one| one[one.len() - 1 - n] == model[model.len() - 1 - n]);
    let end = (0..shortest - start).take_while(is_common).count();
    // Without its option, a value alone says little; and nothing is no name.
    let is_empty = |words: &Vec<&str>| words.len() == start + end;
    let follows_option = start > 0 && words[0][start - 1].starts_with('-');
    if start > 0 && (follows_option || words.iter().any(is_empty)) {
        start -= 1;
    }
    words.iter().map(|words| words[start..words.len() - end].join(" ")).collect()
}

/// Gives each target a name of its own: the second of two equal ones ends in `-2`.
pub fn tell_apart(targets: &mut [Target]) {
    for place in 1..targets.len() {
        let (before, rest) = targets.split_at_mut(place);
        let own = rest[0].id.clone();
        rest[0].id = own.untaken(|id| before.iter().any(|other| other.id == *id));
    }
}

fn target(
    id: TargetId,
    folder: &Path,
    command: OwnCommand,
    request: Option<Request>,
    kind: Kind,
) -> Target {
    let manifest = Manifest {
        schema: 1,
        name: id.name.clone(),
        language: id.language.clone(),
        framework: id.name.clone(),
        runtime: id.language.clone(),
        website: None,
        workloads: vec![WORKLOAD.into()],
        needs: None,
        install: None,
        routes: Vec::new(),
        start: Start {
            command: command.words,
            env: command.env,
            folder: command.folder,
            ready: Ready {
                path: request.as_ref().map_or_else(|| "/".into(), |it| it.target.clone()),
                status: None,
                timeout: READY_WITHIN.into(),
            },
            stop: "SIGTERM".into(),
            process_per_worker: false,
            unix_socket: false,
            protocol: None,
        },
        versions: BTreeMap::new(),
        variants: Vec::new(),
        deviations: Vec::new(),
    };
    Target {
        id,
        folder: folder.into(),
        manifest,
        kind,
        world: World::NONE,
        revision: None,
        requests: request.map(|it| vec![it]),
    }
}

/// The workload of one request. Only its answer is checked; there are no other proofs.
#[must_use]
pub fn workload(request: workload::Request, status: u16) -> Workload {
    Workload {
        schema: 1,
        id: WORKLOAD.into(),
        title: "URL".into(),
        summary: "One request to a URL; nothing but its answer is checked.".into(),
        services: Vec::new(),
        request,
        message: None,
        steps: Vec::new(),
        data: BTreeMap::new(),
        cookies: false,
        follow: 0,
        scenarios: Vec::new(),
        walk: None,
        answer: Answer {
            status,
            content_type: None,
            body: None,
            body_bytes: None,
            contains: Vec::new(),
            json: Vec::new(),
            as_proved: false,
            from: None,
            coded_from: None,
            fresh_within: None,
            events: None,
        },
        proofs: Vec::new(),
    }
}

/// The workload of the steps of files: as they are in the only one, or the names of several.
#[must_use]
pub fn walking(
    title: String,
    (written, scenarios): (Written, Vec<String>),
    steps: Steps,
) -> Workload {
    let first = &steps.requests[0];
    let request = workload::Request {
        method: first.method.clone(),
        path: Text::parse(&first.target).example(),
        ..workload::Request::default()
    };
    Workload {
        title,
        summary: "The steps of a file, which each user goes through in order.".into(),
        steps: written.steps,
        data: written.data,
        cookies: written.cookies,
        follow: written.follow,
        scenarios,
        walk: Some(Arc::new(steps)),
        proofs: vec![Proof::Answer],
        ..workload(request, 200)
    }
}

/// A plan that no file holds.
#[must_use]
pub fn plan(
    id: &str,
    title: String,
    targets: Vec<TargetId>,
    repetitions: u32,
    profile: Profile,
) -> Plan {
    Plan {
        id: id.into(),
        title,
        summary: None,
        workload: WORKLOAD.into(),
        targets,
        scan: None,
        every_target: false,
        repetitions,
        precision: None,
        goal: None,
        slice_ns: None,
        extra_time: EXTRA_TIME,
        profile,
        workers: None,
        limits: Limits::default(),
        database_pool: 0,
        upstream_delay_ns: 0,
        errors_allowed: 0.001,
        cpus: PlanCpus::default(),
        price: None,
        published: None,
        gates: Vec::new(),
        undecided: None,
        life: false,
        instructions: false,
        quick: false,
        changed: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_of(text: &str) -> Target {
        command((text, text), Path::new("/srv"), Some(Request::get("/api", ""))).unwrap()
    }

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        let made = command_of("node 'my server.js' --port {PORT}");
        assert_eq!(made.manifest.start.command, ["node", "my server.js", "--port", "{PORT}"]);
        assert_eq!(made.id.to_string(), "command/node-my-server-js-port-PORT");
        assert_eq!(made.manifest.start.ready.path, "/api");
        let wrong = |text| command((text, text), Path::new("/"), None).unwrap_err();
        assert!(wrong("node 'x").to_string().contains("a quote is not closed"));
        assert!(wrong(" ").to_string().contains("names no program"));
        for text in ["serve $PORT", "serve --port=${PORT}"] {
            assert!(wrong(text).to_string().contains("no shell reads the command"), "{text}");
            assert!(wrong(text).to_string().ends_with("write {PORT}"), "{text}");
        }
        let start = command_of("cd api && A=1 serve").manifest.start;
        assert_eq!((start.command, start.env["A"].as_str()), (vec!["serve".into()], "1"));
        assert_eq!(start.folder.as_deref(), Some(Path::new("api")));
        let own = command_of("sh -c 'exec serve $PORT'").manifest.start.command;
        assert_eq!(own, ["sh", "-c", "exec serve $PORT"]);
    }

    #[test]
    fn commands_are_named_by_what_differs() {
        let named = |commands: &[&str]| {
            what_differs(&commands.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let gunicorn = "/usr/bin/python3 -m gunicorn app:app --bind {HOST}:{PORT}";
        let both = [format!("{gunicorn} -w 4"), format!("{gunicorn} -w 2 -k gthread")];
        assert_eq!(what_differs(&both), ["-w 4", "-w 2 -k gthread"]);
        assert_eq!(named(&["node old.js", "node new.js"]), ["old.js", "new.js"]);
        assert_eq!(named(&["node a.js 1 x", "node b.js 2 x"]), ["a.js 1", "b.js 2"]);
        assert_eq!(named(&["node a.js", "node a.js --fast"]), ["a.js", "a.js --fast"]);
        assert_eq!(named(&["x", "y z"]), ["x", "y z"]);
        assert_eq!(named(&["A=1 serve", "A=2 serve"]), ["A=1", "A=2"]);
        assert_eq!(
            named(&["serve -w 1", "serve -w 2", "serve"]),
            ["serve -w 1", "serve -w 2", "serve"]
        );
        assert_eq!(named(&["a a", "a"]), ["a a", "a"]);
        for same in [&["node a.js"][..], &["node a.js", "node a.js"], &[]] {
            assert_eq!(named(same), same);
        }
    }

    #[test]
    fn equal_names_are_told_apart() {
        let mut targets = ["a b", "a-b", "a.b", "c"].map(command_of);
        tell_apart(&mut targets);
        let names = targets.map(|target| target.id.to_string());
        assert_eq!(names, ["command/a-b", "command/a-b-2", "command/a-b-3", "command/c"]);
        let long = TargetId::of_url(&format!("http://h/{}", "a".repeat(600)));
        let second = long.clone().untaken(|id| *id == long);
        assert!(second != long && second.to_string().parse() == Ok(second));
    }
}
