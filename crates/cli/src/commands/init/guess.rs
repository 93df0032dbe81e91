//! Guesses how a server is built and started, from the files in its folder.
//!
//! | module | whose files it reads |
//! |---|---|
//! | [`node`] | `package.json` |
//! | [`python`] | `manage.py`, `main.py`, `app.py` |
//! | [`jvm`] | `pom.xml`, `build.gradle` |
//! | [`others`] | Go, Rust, .NET, Ruby, Elixir and PHP |
mod jvm;
mod node;
mod others;
mod python;

use std::fs;
use std::path::{Path, PathBuf};

/// How a server is built and started, as far as its folder shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guess {
    /// What starts it; empty if nothing in the folder tells.
    pub command: String,
    /// Commands to run before, in order.
    pub build: Vec<String>,
    /// Variables that it needs: in production settings, or for its port.
    pub env: Vec<(&'static str, String)>,
}

impl Guess {
    fn new(command: impl Into<String>) -> Self {
        Self { command: command.into(), ..Self::default() }
    }

    fn built_by<S: Into<String>>(self, build: impl IntoIterator<Item = S>) -> Self {
        Self { build: build.into_iter().map(Into::into).collect(), ..self }
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// The guess for a folder; `None` if it holds no file of a platform that is known. Platforms
    /// whose folders often hold a `package.json` for their pages stand before Node.js.
    pub fn from_folder(folder: &Path) -> Option<Self> {
        let folder = Folder(folder);
        let platforms: [fn(&Folder<'_>) -> Option<Self>; 11] = [
            others::dotnet,
            jvm::maven,
            jvm::gradle,
            python::django,
            others::ruby,
            others::elixir,
            others::php,
            others::go,
            others::rust,
            node::guess,
            python::script,
        ];
        platforms.iter().find_map(|platform| platform(&folder))
    }
}

/// The folder of a server.
struct Folder<'a>(&'a Path);

impl Folder<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.join(name).is_file()
    }

    /// The text of a file; `None` if there is no such file, or it is no text.
    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.0.join(name)).ok()
    }

    /// The first file in alphabetical order whose name ends like this.
    fn ending_in(&self, ending: &str) -> Option<PathBuf> {
        let files = fs::read_dir(self.0).ok()?.flatten().map(|entry| entry.path());
        let fits = |path: &PathBuf| path.to_str().is_some_and(|path| path.ends_with(ending));
        files.filter(fits).min()
    }
}

/// The text between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    rest.split_once(to).map(|(value, _)| value)
}

/// The quoted text after a key at the begin of a line: `version = '1.0'`, `name = "shop"`.
fn quoted_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(key)?;
        let rest = rest.trim_start_matches([' ', '=', '(']);
        let quote = rest.chars().next().filter(|quote| "'\"".contains(*quote))?;
        rest[1..].split_once(quote).map(|(value, _)| value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::target::own_command;

    /// The files of a folder, and what is guessed: the command, the build, the variables.
    type Row = (
        &'static [(&'static str, &'static str)],
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
    );

    const POM: &str = "<project><parent><artifactId>spring-boot-starter-parent</artifactId><version>3.3.4</version></parent>\n<artifactId>shop</artifactId><version>1.0</version><dependencies><dependency><artifactId>x</artifactId></dependency></dependencies></project>";
    const SPRING: &str = "plugins {\n  id 'org.springframework.boot' version '3.3.4'\n}\nversion = '0.0.1-SNAPSHOT'\n";

    const ROWS: &[Row] = &[
        (
            &[("Shop.csproj", "<Project Sdk=\"Microsoft.NET.Sdk.Web\"/>")],
            "dotnet bin/publish/Shop.dll",
            &["dotnet publish Shop.csproj -c Release -o bin/publish"],
            &["ASPNETCORE_URLS"],
        ),
        (
            &[("Shop.csproj", "<AssemblyName>Till</AssemblyName>"), ("package.json", "{}")],
            "dotnet bin/publish/Till.dll",
            &["dotnet publish Shop.csproj -c Release -o bin/publish"],
            &["ASPNETCORE_URLS"],
        ),
        (
            &[("pom.xml", POM)],
            "java -jar target/shop-1.0.jar",
            &["mvn -q -B package -DskipTests"],
            &["SERVER_PORT"],
        ),
        (
            &[
                (
                    "pom.xml",
                    "<project><artifactId>shop</artifactId><version>1</version><build><finalName>till</finalName></build></project>",
                ),
                ("mvnw", ""),
            ],
            "java -jar target/till.jar",
            &["sh mvnw -q -B package -DskipTests"],
            &["SERVER_PORT"],
        ),
        (
            &[
                ("build.gradle", SPRING),
                ("settings.gradle", "rootProject.name = 'shop'"),
                ("gradlew", ""),
            ],
            "java -jar build/libs/shop-0.0.1-SNAPSHOT.jar",
            &["sh gradlew --no-daemon bootJar"],
            &["SERVER_PORT"],
        ),
        (
            &[
                ("build.gradle.kts", "plugins { application }"),
                ("settings.gradle.kts", "rootProject.name = \"shop\""),
            ],
            "build/install/shop/bin/shop",
            &["gradle --no-daemon installDist"],
            &["SERVER_PORT"],
        ),
        (
            &[("manage.py", "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')")],
            "python3 manage.py runserver {HOST}:{PORT} --noreload",
            &[],
            &[],
        ),
        (
            &[
                (
                    "manage.py",
                    "os.environ.setdefault(\"DJANGO_SETTINGS_MODULE\", \"shop.settings\")",
                ),
                ("requirements.txt", "django\ngunicorn==22\n"),
            ],
            ".venv/bin/gunicorn shop.wsgi --bind {HOST}:{PORT} --workers {WORKERS}",
            &["python3 -m venv .venv", ".venv/bin/pip install -q -r requirements.txt"],
            &[],
        ),
        (
            &[("app.py", "from flask import Flask\napp = Flask(__name__)\n"), ("uv.lock", "")],
            ".venv/bin/flask --app app run --host {HOST} --port {PORT}",
            &["uv sync --frozen"],
            &[],
        ),
        (
            &[
                ("app.py", "from flask import Flask\napp = Flask(__name__)\n"),
                ("requirements.txt", "flask\ngunicorn\n"),
            ],
            ".venv/bin/gunicorn app:app --bind {HOST}:{PORT} --workers {WORKERS}",
            &["python3 -m venv .venv", ".venv/bin/pip install -q -r requirements.txt"],
            &[],
        ),
        (
            &[("config.ru", "run App"), ("Gemfile", "gem 'puma'")],
            "bundle exec puma --bind tcp://{HOST}:{PORT} --environment production",
            &["sh -c 'bundle check || bundle install'"],
            &[],
        ),
        (
            &[("config.ru", "run App")],
            "rackup --host {HOST} --port {PORT} --env production",
            &[],
            &[],
        ),
        (
            &[("config.ru", "run Rails.application"), ("Gemfile", "gem \"rails\"\ngem \"puma\"")],
            "bundle exec puma --bind tcp://{HOST}:{PORT} --environment production",
            &["sh -c 'bundle check || bundle install'"],
            &["RAILS_ENV", "SECRET_KEY_BASE"],
        ),
        (
            &[("mix.exs", "{:bandit, \"~> 1.0\"}")],
            "env MIX_ENV=prod mix run --no-halt",
            &["env MIX_ENV=prod mix do deps.get, compile"],
            &[],
        ),
        (
            &[("mix.exs", "{:phoenix, \"~> 1.7\"}"), ("package.json", "{}")],
            "env MIX_ENV=prod mix phx.server",
            &["env MIX_ENV=prod mix do deps.get, compile"],
            &["PHX_HOST", "SECRET_KEY_BASE"],
        ),
        (
            &[("artisan", ""), ("composer.json", "{}")],
            "php artisan serve --host={HOST} --port={PORT} --no-reload",
            &["composer install --no-dev"],
            &["PHP_CLI_SERVER_WORKERS"],
        ),
        (
            &[("public/index.php", "<?php")],
            "php -S {HOST}:{PORT} -t public",
            &[],
            &["PHP_CLI_SERVER_WORKERS"],
        ),
        (
            &[("go.mod", "module x"), ("main.go", "package main")],
            "./server",
            &["go build -o server ."],
            &[],
        ),
        (
            &[("go.mod", "module x"), ("cmd/api/main.go", "package main"), ("server/x.go", "")],
            "./pippin-server",
            &["go build -o pippin-server ./cmd/api"],
            &[],
        ),
        (
            &[("Cargo.toml", "[package]\nname = \"shop\"\n")],
            "target/release/shop",
            &["cargo build --release"],
            &[],
        ),
        (
            &[("Cargo.toml", "[package]\nname = \"shop\"\n[[bin]]\nname = \"till\"\n")],
            "target/release/till",
            &["cargo build --release"],
            &[],
        ),
        (
            &[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n")],
            "cargo run --release",
            &["cargo build --release"],
            &[],
        ),
        (
            &[
                ("package.json", r#"{"scripts": {"start": "node server.js"}}"#),
                ("package-lock.json", "{}"),
            ],
            "node server.js",
            &["npm ci"],
            &["NODE_ENV"],
        ),
        (
            &[(
                "package.json",
                r#"{"scripts": {"build": "tsc", "start": "NODE_ENV=production node dist/index.js"}, "dependencies": {"express": "5"}}"#,
            )],
            "NODE_ENV=production node dist/index.js",
            &["npm install", "npm run build"],
            &["NODE_ENV"],
        ),
        (
            &[
                (
                    "package.json",
                    r#"{"scripts": {"start": "next start"}, "dependencies": {"next": "15"}}"#,
                ),
                ("pnpm-lock.yaml", ""),
            ],
            "node_modules/.bin/next start --hostname {HOST} --port {PORT}",
            &["pnpm install --frozen-lockfile"],
            &["NODE_ENV"],
        ),
        (
            &[
                (
                    "package.json",
                    r#"{"scripts": {"start": "tsx src/index.ts"}, "dependencies": {"tsx": "4"}}"#,
                ),
                ("yarn.lock", ""),
            ],
            "node_modules/.bin/tsx src/index.ts",
            &["yarn install --frozen-lockfile"],
            &["NODE_ENV"],
        ),
        (
            &[("package.json", r#"{"scripts": {"start": "a && b"}}"#)],
            "npm start",
            &[],
            &["NODE_ENV"],
        ),
        (&[("package.json", r#"{"main": "lib/app.js"}"#)], "node lib/app.js", &[], &["NODE_ENV"]),
        (&[("package.json", "{}"), ("server.js", "")], "node server.js", &[], &["NODE_ENV"]),
        (&[("server.js", "")], "node server.js", &[], &["NODE_ENV"]),
        (
            &[("main.py", "from fastapi import FastAPI\napi = FastAPI()\n")],
            "uvicorn main:api --host {HOST} --port {PORT} --workers {WORKERS}",
            &[],
            &[],
        ),
        (
            &[("app.py", "from flask import Flask\napp = Flask(__name__)\n")],
            "flask --app app run --host {HOST} --port {PORT}",
            &[],
            &[],
        ),
        (&[("app.py", "import http.server\n")], "python3 app.py", &[], &[]),
    ];

    fn guessed(files: &[(&str, &str)]) -> Option<Guess> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Guess::from_folder(folder.path())
    }

    #[test]
    fn the_usual_files_of_each_platform_are_known() {
        for (files, command, build, env) in ROWS {
            let guess = guessed(files).unwrap_or_else(|| panic!("{files:?}"));
            assert_eq!(guess.command, *command, "{files:?}");
            assert_eq!(guess.build, *build, "{files:?}");
            let names: Vec<&str> = guess.env.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, *env, "{files:?}");
            // What is guessed must be what the project file takes.
            own_command::read(&guess.command).unwrap();
            for step in &guess.build {
                own_command::several(step).unwrap();
            }
        }
        assert_eq!(guessed(&[("notes.txt", "")]), None);
        assert_eq!(guessed(&[("package.json", "{}")]), None, "nothing says how it starts");
    }
}
