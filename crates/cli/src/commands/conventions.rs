//! How a revision is built where its project file says nothing: by convention, from the files that are
//! there. What git ignores (`node_modules`, `.venv`, `dist`) is missing in a worktree.
use pippin_lab::target::Target;
use pippin_model::target::manifest::{Command, Install};
use pippin_model::target::own_command;
use pippin_model::text::fnv::Fnv1a;
use std::path::{Path, PathBuf};

use super::init::guess::Guess;

/// A folder that a lock file determines together with the version of a runtime, and the steps that
/// make it. Revisions with the same lock file share it.
struct Locked {
    lock: &'static str,
    steps: &'static [&'static str],
    made: &'static str,
    /// A command that prints the version on which the folder depends.
    version: &'static str,
    how: Sharing,
}

#[derive(Clone, Copy)]
enum Sharing {
    /// Each revision gets a copy: programs of `node_modules` write there.
    Copied,
    /// Each revision gets a link: paths in a virtual environment are absolute.
    Linked,
}

/// Packages with machine code are built for one version of Node's interface to them.
const NODE: &str = "node -p process.versions.modules";
const LOCKED: [Locked; 4] = [
    node("package-lock.json", &["npm ci"]),
    node("pnpm-lock.yaml", &["pnpm install --frozen-lockfile"]),
    node("yarn.lock", &["yarn install --frozen-lockfile"]),
    Locked {
        lock: "requirements.txt",
        steps: &["python3 -m venv .venv", ".venv/bin/pip install -q -r requirements.txt"],
        made: VENV,
        version: "python3 -c 'import os, sys; print(sys.implementation.cache_tag + os.path.realpath(sys.executable).replace(\"/\", \"_\"))'",
        how: Sharing::Linked,
    },
];

/// Where packages of Python go.
const VENV: &str = ".venv";

const fn node(lock: &'static str, steps: &'static [&'static str]) -> Locked {
    Locked { lock, steps, made: "node_modules", version: NODE, how: Sharing::Copied }
}

/// Gives a target of a revision its build steps by convention, if its file has none, and lets steps
/// that fill a folder from a lock file share that folder with other revisions. Returns the steps by
/// convention in words.
pub fn complete(target: &mut Target, caches: &Path) -> Option<String> {
    let guessed = if target.manifest.install.is_none() { by_convention(target) } else { None };
    if let Some(install) = &mut target.manifest.install {
        install.steps = shared(std::mem::take(&mut install.steps), &target.folder, caches);
    }
    guessed
}

fn by_convention(target: &mut Target) -> Option<String> {
    let guess = Guess::from_folder(&target.folder)?;
    // A command that is not in `.venv` uses the packages of the machine.
    let is_in = |part: &str| target.manifest.start.command.iter().any(|word| word.contains(part));
    if guess.build.iter().any(|step| step.contains(VENV) || step.starts_with("uv "))
        && !(is_in(VENV) || is_in("uv"))
    {
        return None;
    }
    if guess.build.is_empty() {
        return None;
    }
    target.manifest.install =
        Some(Install { steps: guess.build.iter().map(|it| words(it)).collect() });
    Some(guess.build.join(" && "))
}

fn words(step: &str) -> Command {
    match own_command::read(step) {
        Ok(read) => read.into_words(),
        Err(_) => ["sh", "-c", step].map(Into::into).to_vec(),
    }
}

/// Steps of which those that fill a folder from a lock file take what an earlier build has made of the
/// same lock file, and leave it for the next.
fn shared(steps: Vec<Command>, folder: &Path, caches: &Path) -> Vec<Command> {
    let mut done = Vec::new();
    let mut rest = &steps[..];
    while let [first, others @ ..] = rest {
        let known = LOCKED.iter().find_map(|it| {
            let makes: Vec<Command> = it.steps.iter().map(|step| words(step)).collect();
            let after = rest.strip_prefix(&makes[..])?;
            // What a later step installs would be in the environment of the other revision too.
            if matches!(it.how, Sharing::Linked) && !after.is_empty() {
                return None;
            }
            Some((it.script(&it.cache(folder, caches)?), after))
        });
        match known {
            Some((script, after)) => {
                done.push(["sh", "-c", &script].map(Into::into).to_vec());
                rest = after;
            }
            None => {
                done.push(first.clone());
                rest = others;
            }
        }
    }
    done
}

impl Locked {
    /// Where the folder is kept that this lock file makes, without the version; `None` if the lock
    /// file cannot be read or does not say everything, or if the path would need a shell's quotes.
    fn cache(&self, folder: &Path, caches: &Path) -> Option<PathBuf> {
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        let text = read(self.lock).ok()?;
        let says_all = match self.how {
            Sharing::Linked => names_each_version(&text),
            Sharing::Copied => runs_nothing_of_its_own(&read("package.json").ok()?),
        };
        if !says_all {
            return None;
        }
        let others = ["package.json", ".npmrc"].map(|name| read(name).unwrap_or_default());
        let steps = self.steps.join("\0");
        let parts = [steps, text].into_iter().chain(others);
        let digest =
            parts.fold(Fnv1a::default(), |digest, it| digest.with(it.as_bytes()).with(&[0]));
        let digest = digest.finish();
        let cache = caches.join(format!("{digest:016x}"));
        cache.to_str().filter(|path| !path.contains('\'')).is_some().then_some(cache)
    }

    /// Makes the folder, or takes what an earlier build made. Builds of one lock file wait for each
    /// other, and one that is cut short leaves no file `whole`.
    fn script(&self, cache: &Path) -> String {
        let Self { made, version, .. } = self;
        let steps = self.steps.join(" && ");
        let is_there = match self.how {
            Sharing::Copied => String::new(),
            // A link to an interpreter that was removed since leads nowhere.
            Sharing::Linked => format!(" && [ -x \"$kept/{made}/bin/python\" ]"),
        };
        let (makes, takes) = match self.how {
            Sharing::Copied => (
                format!("{steps} && cp -a --reflink=auto {made} \"$kept/{made}\""),
                format!("rm -rf {made} && cp -a --reflink=auto \"$kept/{made}\" {made}"),
            ),
            Sharing::Linked => {
                // Two targets of one folder are built there one after the other.
                let link = format!("rm -rf {made} && ln -s \"$kept/{made}\" {made}");
                let lock = self.lock;
                (format!("cp {lock} \"$kept\" && (cd \"$kept\" && {steps}) && {link}"), link)
            }
        };
        // Nothing that a step leaves running holds the lock.
        format!(
            "command -v flock >/dev/null || {{ echo 'flock is not installed (util-linux)' >&2; exit 1; }}; kept='{}'-$({version})-$NODE_ENV && mkdir -p \"$kept\" && exec 9>\"$kept/lock\" && flock 9 && {{ if [ -e \"$kept/whole\" ]{is_there}; then {takes}; else rm -rf \"$kept/{made}\" && {makes} && : >\"$kept/whole\"; fi; }} 9>&-",
            cache.display()
        )
    }
}

/// Whether a list of requirements names the version of each package, and nothing but packages: an
/// option may name another file, and a path is that of a revision.
fn names_each_version(requirements: &str) -> bool {
    let lines = requirements.lines().map(|line| {
        // A comment, a marker (PEP 508) and a line that goes on say nothing of the version.
        let line = line.split(" #").next().unwrap_or_default();
        line.split(';').next().unwrap_or_default().trim().trim_end_matches('\\').trim()
    });
    let mut said = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    said.all(|line| line.starts_with("--hash=") || is_pinned(line))
}

/// `name==1.2` or `name[extra]==1.2`.
fn is_pinned(line: &str) -> bool {
    let line = line.split(" --hash=").next().unwrap_or_default();
    line.split_once("==").is_some_and(|(name, version)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.[], ".contains(c);
        let is_version = |c: char| c.is_ascii_alphanumeric() || ".+!-_ ".contains(c);
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(is_name)
            && version.chars().all(is_version)
    })
}

/// Whether installing the packages of a project runs no script of the project itself, which may make
/// other files than the packages (npm's life cycle scripts).
fn runs_nothing_of_its_own(package: &str) -> bool {
    const SCRIPTS: [&str; 5] = ["preinstall", "install", "postinstall", "prepublish", "prepare"];
    serde_json::from_str::<serde_json::Value>(package).is_ok_and(|package| {
        SCRIPTS.iter().all(|name| package.pointer(&format!("/scripts/{name}")).is_none())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::target::manifest::Manifest;
    use std::process;

    fn target(folder: &Path) -> Target {
        let text = "[target.shop]\ncommand = \"node server.js\"\n";
        std::fs::write(folder.join("pippin.toml"), text).unwrap();
        let project = pippin_model::target::project::Project::read(folder).unwrap();
        pippin_lab::target::project::prepare(&project.targets["shop"], folder).unwrap()
    }

    fn run(target: &Target) {
        let Manifest { install, .. } = &target.manifest;
        for step in &install.as_ref().unwrap().steps {
            let mut command = process::Command::new(&step[0]);
            let done = command.args(&step[1..]).current_dir(&target.folder).status().unwrap();
            assert!(done.success(), "{step:?}");
        }
    }

    /// Paths in a virtual environment are absolute, so it stays where it was made.
    #[test]
    fn two_revisions_with_one_list_of_requirements_share_their_environment() {
        let asked = process::Command::new("python3").args(["-c", "import ensurepip"]).status();
        if !asked.is_ok_and(|status| status.success()) {
            let name = "two_revisions_with_one_list_of_requirements_share_their_environment";
            return pippin_testing::skipped::skip(name, "python3-venv is not installed");
        }
        let top = tempfile::tempdir().unwrap();
        let caches = top.path().join("caches");
        let mut made = Vec::new();
        for (revision, requirements) in [("a", "# none\n"), ("b", "# none\n"), ("c", "# no\n")] {
            let folder = top.path().join(revision);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("requirements.txt"), requirements).unwrap();
            let mut target = target(&folder);
            let steps = [
                &["true"][..],
                &["python3", "-m", "venv", ".venv"],
                &[".venv/bin/pip", "install", "-q", "-r", "requirements.txt"],
            ];
            let steps = steps.map(|step| step.iter().map(ToString::to_string).collect()).to_vec();
            target.manifest.install = Some(Install { steps });
            assert_eq!(complete(&mut target, &caches), None, "the file has its own steps");
            assert_eq!(target.manifest.install.as_ref().unwrap().steps.len(), 2);
            run(&target);
            // A second target of this folder.
            run(&target);
            let mut python = process::Command::new(folder.join(".venv/bin/python"));
            assert!(python.args(["-c", "import pip"]).status().unwrap().success());
            made.push(std::fs::canonicalize(folder.join(".venv")).unwrap());
        }
        assert!(
            made[0].starts_with(&caches) && made[0] == made[1] && made[1] != made[2],
            "{made:?}"
        );
        let pip = std::fs::read_to_string(made[0].join("bin/pip")).unwrap();
        assert!(pip.contains(&format!("{}/bin/python", made[0].display())), "{pip}");
    }

    #[test]
    fn only_a_list_that_names_each_version_is_a_lock_file() {
        for (list, is_locked) in [
            ("flask==3.1.0\n\n# a comment\ngunicorn==23.0.0 \\\n  --hash=sha256:00\n", true),
            ("flask==3.1.0 # pinned\nuvicorn[standard]==0.30.1; python_version >= '3.9'\n", true),
            ("flask>=3; python_version == '3.12'\n", false),
            ("flask # ==3\n", false),
            ("django==5.*\n", false),
            ("./shop; python_version=='3.12'\n", false),
            ("shop @ git+https://h/shop@main ; python_version=='3.12'\n", false),
            ("flask>=3\n", false),
            ("flask==3.1.0\n-e .\n", false),
            ("-r more.txt\n", false),
            ("./shop\n", false),
        ] {
            assert_eq!(names_each_version(list), is_locked, "{list}");
        }
    }

    /// What comes after the packages may be installed in the environment, and is of one revision.
    #[test]
    fn an_environment_that_a_later_step_may_write_to_is_not_shared() {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("requirements.txt"), "flask==3.1.0\n").unwrap();
        let mut target = target(top.path());
        let steps = [
            "python3 -m venv .venv",
            ".venv/bin/pip install -q -r requirements.txt",
            ".venv/bin/pip install -q .",
        ];
        let steps = steps.map(words).to_vec();
        target.manifest.install = Some(Install { steps: steps.clone() });
        complete(&mut target, top.path());
        assert_eq!(target.manifest.install.unwrap().steps, steps);
    }

    #[test]
    fn packages_of_a_project_with_scripts_of_its_own_are_not_shared() {
        assert!(runs_nothing_of_its_own(
            "{\"scripts\": {\"build\": \"tsc\", \"start\": \"node .\"}}"
        ));
        assert!(runs_nothing_of_its_own("{}"));
        for script in ["prepare", "postinstall"] {
            let package = format!("{{\"scripts\": {{\"{script}\": \"patch-package\"}}}}");
            assert!(!runs_nothing_of_its_own(&package), "{script}");
        }
        assert!(!runs_nothing_of_its_own("not JSON"));
    }

    /// The second revision has the same lock file, so nothing is installed for it.
    #[test]
    fn two_revisions_with_one_lock_file_install_once() {
        let top = tempfile::tempdir().unwrap();
        let caches = top.path().join("caches");
        // A program in place of npm, which counts how often it is called.
        let npm =
            "#!/bin/sh\nmkdir node_modules && echo x >> ../calls && echo made > node_modules/x\n";
        std::fs::create_dir(top.path().join("bin")).unwrap();
        std::fs::write(top.path().join("bin/npm"), npm).unwrap();
        std::fs::write(top.path().join("bin/node"), "#!/bin/sh\necho 115\n").unwrap();
        for program in ["bin/npm", "bin/node"] {
            process::Command::new("chmod")
                .arg("+x")
                .arg(top.path().join(program))
                .status()
                .unwrap();
        }
        let path = format!("{}/bin:/usr/bin:/bin", top.path().display());
        for (revision, lock) in [("a", "1"), ("b", "1"), ("c", "2")] {
            let folder = top.path().join(revision);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("package.json"), "{\"main\": \"server.js\"}").unwrap();
            std::fs::write(folder.join("package-lock.json"), lock).unwrap();
            let mut target = target(&folder);
            assert_eq!(complete(&mut target, &caches).as_deref(), Some("npm ci"));
            for step in &mut target.manifest.install.as_mut().unwrap().steps {
                step.splice(0..0, ["env".to_string(), format!("PATH={path}")]);
            }
            run(&target);
            assert_eq!(std::fs::read_to_string(folder.join("node_modules/x")).unwrap(), "made\n");
        }
        assert_eq!(std::fs::read_to_string(top.path().join("calls")).unwrap(), "x\nx\n");
    }

    #[test]
    fn steps_of_the_file_are_left_alone_and_others_are_by_the_files_that_are_there() {
        let top = tempfile::tempdir().unwrap();
        let mut it = target(top.path());
        assert_eq!(complete(&mut it, top.path()), None, "nothing is known of this folder");
        std::fs::write(top.path().join("go.mod"), "module shop\n").unwrap();
        it.manifest.install = Some(Install { steps: vec![vec!["make".into()]] });
        assert_eq!(complete(&mut it, top.path()), None);
        it.manifest.install = None;
        let said = complete(&mut it, top.path()).unwrap();
        assert!(said.contains("go build"), "{said}");
    }
}
