//! How a revision is built where its project file says nothing: by convention, from the files that are
//! there. What git ignores (`node_modules`, `.venv`, `dist`) is missing in a worktree.
use pippin_lab::target::Target;
use pippin_model::target::manifest::{Command, Install};
use pippin_model::target::own_command;
use pippin_model::text::fnv::Fnv1a;
use std::path::{Path, PathBuf};

use super::init::guess::Guess;

/// Folders that a lock file determines alone: the file, the step that makes the folder, the folder.
const CACHED: [(&str, &str, &str); 3] = [
    ("package-lock.json", "npm ci", "node_modules"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile", "node_modules"),
    ("yarn.lock", "yarn install --frozen-lockfile", "node_modules"),
];

/// Where packages of Python go.
const VENV: &str = ".venv";

/// Gives a target of a revision its build steps by convention, if its file has none. Returns them in
/// words.
pub fn complete(target: &mut Target, caches: &Path) -> Option<String> {
    if target.manifest.install.is_some() {
        return None;
    }
    let guess = Guess::of(&target.folder)?;
    // A command that is not in `.venv` uses the packages of the machine.
    let is_in = |part: &str| target.manifest.start.command.iter().any(|word| word.contains(part));
    if guess.build.iter().any(|step| step.contains(VENV) || step.starts_with("uv "))
        && !(is_in(VENV) || is_in("uv"))
    {
        return None;
    }
    let steps: Vec<Command> =
        guess.build.iter().map(|step| step_of(step, &target.folder, caches)).collect();
    if steps.is_empty() {
        return None;
    }
    target.manifest.install = Some(Install { steps });
    Some(guess.build.join(" && "))
}

/// The words of a step. One that fills a folder from a lock file takes what an earlier run has made of
/// the same lock file, and leaves it for the next.
fn step_of(step: &str, folder: &Path, caches: &Path) -> Command {
    let cached = CACHED.iter().find(|(_, makes, _)| *makes == step);
    if let Some((_, _, made)) = cached
        && let Some(cache) =
            cached.and_then(|(lock, ..)| cache_of(&folder.join(lock), step, caches))
    {
        let cache = cache.display();
        // A copy that is cut short has another name.
        let script = format!(
            "if [ -d '{cache}' ]; then cp -a --reflink=auto '{cache}' {made}; else {step} && mkdir -p '{}' && rm -rf '{cache}.new' && cp -a --reflink=auto {made} '{cache}.new' && mv '{cache}.new' '{cache}'; fi",
            caches.display()
        );
        return ["sh", "-c", &script].map(Into::into).to_vec();
    }
    match own_command::read(step) {
        Ok(read) => read.into_words(),
        Err(_) => ["sh", "-c", step].map(Into::into).to_vec(),
    }
}

/// Where the folder is kept that this lock file makes; `None` if it cannot be read, or if the path
/// would need a shell's quotes.
fn cache_of(lock: &Path, step: &str, caches: &Path) -> Option<PathBuf> {
    let text = std::fs::read(lock).ok()?;
    let digest = Fnv1a::default().with(step.as_bytes()).with(&[0]).with(&text).finish();
    let cache = caches.join(format!("{digest:016x}"));
    cache.to_str().filter(|path| !path.contains('\'')).is_some().then_some(cache)
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
        pippin_lab::target::project::of(&project.targets["shop"], folder).unwrap()
    }

    fn run(target: &Target) {
        let Manifest { install, .. } = &target.manifest;
        for step in &install.as_ref().unwrap().steps {
            let mut command = process::Command::new(&step[0]);
            let done = command.args(&step[1..]).current_dir(&target.folder).status().unwrap();
            assert!(done.success(), "{step:?}");
        }
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
        process::Command::new("chmod").arg("+x").arg(top.path().join("bin/npm")).status().unwrap();
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
