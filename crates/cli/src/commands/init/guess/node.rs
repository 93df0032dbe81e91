//! Node.js: `package.json`.
use pippin_model::target::own_command;
use serde_json::Value;

use super::{Folder, Guess};

/// Lock files, and what installs from them.
const INSTALLERS: [(&str, &str); 4] = [
    ("package-lock.json", "npm ci"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("bun.lock", "bun install --frozen-lockfile"),
];
/// Programs that take their port from an option, and the options.
const WITH_OPTIONS: [(&str, &str); 3] = [
    ("next start", " --hostname {HOST} --port {PORT}"),
    ("vite preview", " --host {HOST} --port {PORT}"),
    ("serve ", " --listen tcp://{HOST}:{PORT}"),
];

pub fn guess(folder: &Folder<'_>) -> Option<Guess> {
    let package: Value = match folder.text("package.json") {
        Some(text) => serde_json::from_str(&text).ok()?,
        None => Value::Null,
    };
    let script = |name: &str| package.pointer(&format!("/scripts/{name}")).and_then(Value::as_str);
    let entry = || {
        let main = package.get("main").and_then(Value::as_str).map(|main| format!("node {main}"));
        // What `npm start` starts where no script says it.
        if folder.has("server.js") { Some("node server.js".into()) } else { main }
    };
    let command = script("start").map(directly).or_else(entry)?;
    let lock = INSTALLERS.iter().find(|(lock, _)| folder.has(lock));
    let has_dependencies = ["dependencies", "devDependencies"]
        .iter()
        .any(|key| package.get(key).and_then(Value::as_object).is_some_and(|all| !all.is_empty()));
    let install =
        lock.map(|(_, install)| *install).or_else(|| has_dependencies.then_some("npm install"));
    let build = script("build").map(|_| "npm run build");
    Some(
        Guess::new(command)
            .built_by(install.into_iter().chain(build))
            .with("NODE_ENV", "production"),
    )
}

/// The command of the script `start` without npm, which does not pass SIGTERM on to what it starts.
fn directly(start: &str) -> String {
    let Ok(own) = own_command::read(start) else { return "npm start".into() };
    let options = WITH_OPTIONS.iter().find(|(name, _)| start.starts_with(name));
    let command = format!("{start}{}", options.map_or("", |(_, options)| options));
    match own.words.first().map(String::as_str) {
        Some("node" | "bun" | "deno") => command,
        // Programs of the project's packages are not in PATH, and variables stand before them.
        Some(program) if !program.contains('/') && start.starts_with(program) => {
            format!("node_modules/.bin/{command}")
        }
        _ => "npm start".into(),
    }
}
