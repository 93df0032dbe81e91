//! Platforms with one file that says everything.
use super::{Folder, Guess, between, quoted_after};

/// A value that signs cookies. It protects nothing: the server is there for a measurement.
const SECRET: &str = "only-for-measurements-0123456789abcdef0123456789abcdef0123456789abcdef";

pub fn dotnet(folder: &Folder<'_>) -> Option<Guess> {
    let path = folder.ending_in(".csproj").or_else(|| folder.ending_in(".fsproj"))?;
    let file = path.file_name()?.to_str()?;
    let text = folder.text(file).unwrap_or_default();
    let name =
        between(&text, "<AssemblyName>", "</AssemblyName>").or(path.file_stem()?.to_str())?;
    let guess = Guess::new(format!("dotnet bin/publish/{name}.dll"));
    // Below `bin`, which a project leaves out of its own files; what is elsewhere would be published
    // with it the next time.
    Some(
        guess
            .built_by([format!("dotnet publish {file} -c Release -o bin/publish")])
            .with("ASPNETCORE_URLS", "http://{HOST}:{PORT}"),
    )
}

pub fn ruby(folder: &Folder<'_>) -> Option<Guess> {
    folder.text("config.ru")?;
    let gems = folder.text("Gemfile");
    let has = |gem: &str| gems.as_ref().is_some_and(|text| text.contains(gem));
    let by_bundler = if gems.is_some() { "bundle exec " } else { "" };
    let command = if has("puma") {
        "puma --bind tcp://{HOST}:{PORT} --environment production"
    } else {
        "rackup --host {HOST} --port {PORT} --env production"
    };
    let guess = Guess::new(format!("{by_bundler}{command}"));
    // Gems that are there already need no network.
    let install = gems.as_ref().map(|_| "sh -c 'bundle check || bundle install'");
    let guess = guess.built_by(install);
    Some(if has("rails") {
        guess.with("RAILS_ENV", "production").with("SECRET_KEY_BASE", SECRET)
    } else {
        guess
    })
}

pub fn elixir(folder: &Folder<'_>) -> Option<Guess> {
    let is_phoenix = folder.text("mix.exs")?.contains(":phoenix");
    let task = if is_phoenix { "phx.server" } else { "run --no-halt" };
    // The build needs the same variable as the server.
    let guess = Guess::new(format!("env MIX_ENV=prod mix {task}"))
        .built_by(["env MIX_ENV=prod mix do deps.get, compile"]);
    Some(if is_phoenix {
        guess.with("PHX_HOST", "localhost").with("SECRET_KEY_BASE", SECRET)
    } else {
        guess
    })
}

pub fn php(folder: &Folder<'_>) -> Option<Guess> {
    let command = if folder.has("artisan") {
        "php artisan serve --host={HOST} --port={PORT} --no-reload"
    } else if folder.has("public/index.php") {
        "php -S {HOST}:{PORT} -t public"
    } else if folder.has("index.php") {
        "php -S {HOST}:{PORT}"
    } else {
        return None;
    };
    let install = folder.has("composer.json").then_some("composer install --no-dev");
    Some(Guess::new(command).built_by(install).with("PHP_CLI_SERVER_WORKERS", "{WORKERS}"))
}

pub fn go(folder: &Folder<'_>) -> Option<Guess> {
    folder.text("go.mod")?;
    let package = if folder.has("main.go") { ".".into() } else { command_of_go(folder)? };
    let program = if folder.0.join("server").is_dir() { "pippin-server" } else { "server" };
    let guess = Guess::new(format!("./{program}"));
    Some(guess.built_by([format!("go build -o {program} {package}")]))
}

/// The only command below `cmd/`, or the module's own folder.
fn command_of_go(folder: &Folder<'_>) -> Option<String> {
    let Ok(entries) = std::fs::read_dir(folder.0.join("cmd")) else { return Some(".".into()) };
    let names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    match names.as_slice() {
        [one] => Some(format!("./cmd/{one}")),
        [] => Some(".".into()),
        _ => None,
    }
}

pub fn rust(folder: &Folder<'_>) -> Option<Guess> {
    let manifest = folder.text("Cargo.toml")?;
    let of =
        |part: &str| manifest.split_once(part).and_then(|(_, rest)| quoted_after(rest, "name"));
    let name = of("[[bin]]").or_else(|| of("[package]"));
    let command =
        name.map_or("cargo run --release".into(), |name| format!("target/release/{name}"));
    Some(Guess::new(command).built_by(["cargo build --release"]))
}
