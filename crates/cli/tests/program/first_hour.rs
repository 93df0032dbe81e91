//! The first hour of new users: the usual template of each platform, from `pippin init` to a gate that
//! fails, with nothing edited in between.
//!
//! The templates are in the folder `first_hour`, as the tools of their communities write them.
use super::support::{Outcome, Started, command, commit, copy, git, without_job};
use pippin_stats::gate::comparing::USUAL_GATES;
use pippin_testing::patience::alone;
use pippin_testing::skipped::skip;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A platform, and the first thing that its users write.
struct Template {
    /// The folder of its files. A name that ends with `.txt` stands for the one without.
    folder: &'static str,
    /// Commands that end well where the platform is on this machine.
    needs: &'static [&'static [&'static str]],
    /// A part of `pippin.toml` as `init` writes it.
    written: &'static str,
    /// The file in which somebody makes each request cost up to a millisecond more.
    file: &'static str,
    /// Before which text.
    before: &'static str,
    /// What is written there.
    slower: &'static str,
}

impl Template {
    fn is_on_the_jvm(&self) -> bool {
        self.needs.iter().any(|words| words[0] == "javac")
    }
}

const PYTHON: &[&[&str]] = &[&["python3", "-c", "import venv, ensurepip"]];
const SLOWER_IN_PYTHON: &str = "sum(range(100_000))\n    ";
/// Two milliseconds, which is about ten times what a request of a JVM costs that is not warm yet: so it is
/// told by starts that are not warm, of which a busy machine has no others.
const SLOWER_IN_JAVA: &str =
    "for (long begin = System.nanoTime(); System.nanoTime() - begin < 2_000_000; ); ";

const TEMPLATES: &[Template] = &[
    Template {
        folder: "flask",
        needs: PYTHON,
        written: "command = \".venv/bin/gunicorn app:app --bind {HOST}:{PORT} --workers {WORKERS}\"",
        file: "app.py",
        before: "return \"Hello",
        slower: SLOWER_IN_PYTHON,
    },
    Template {
        folder: "django",
        needs: PYTHON,
        written: "command = \".venv/bin/python3 manage.py runserver {HOST}:{PORT} --noreload\"",
        file: "shop/urls.py",
        before: "return Http",
        slower: SLOWER_IN_PYTHON,
    },
    Template {
        folder: "fastapi",
        needs: PYTHON,
        written: "command = \".venv/bin/uvicorn main:app --host {HOST} --port {PORT} --workers {WORKERS}\"",
        file: "main.py",
        before: "return {",
        slower: SLOWER_IN_PYTHON,
    },
    Template {
        folder: "express",
        needs: &[&["npm", "--version"]],
        written: "command = \"node index.js\"",
        file: "index.js",
        before: "res.send(",
        slower: "for (const begin = performance.now(); performance.now() - begin < 1;);\n  ",
    },
    Template {
        folder: "spring",
        needs: &[&["mvn", "--version"], &["javac", "--version"]],
        written: "command = \"java -jar target/demo-0.0.1-SNAPSHOT.jar\"",
        file: "src/main/java/com/example/demo/DemoApplication.java",
        before: "return \"Hello",
        slower: SLOWER_IN_JAVA,
    },
    Template {
        folder: "gradle",
        needs: &[&["gradle", "--version"], &["javac", "--version"]],
        written: "command = \"build/install/shop/bin/shop\"",
        file: "src/main/java/shop/App.java",
        before: "context.result(",
        slower: SLOWER_IN_JAVA,
    },
    Template {
        folder: "sinatra",
        needs: &[
            &["bundle", "--version"],
            &["ruby", "-e", "require 'sinatra/base'; require 'puma'"],
        ],
        written: "command = \"bundle exec puma --bind tcp://{HOST}:{PORT} --environment production\"",
        file: "app.rb",
        before: "'Hello",
        slower: "(1..20_000).sum { |n| n }\n    ",
    },
    Template {
        folder: "php",
        needs: &[&["php", "--version"]],
        written: "command = \"php -S {HOST}:{PORT} -t public\"",
        file: "public/index.php",
        before: "echo ",
        slower: "for ($begin = hrtime(true); hrtime(true) - $begin < 1e6;);\n",
    },
    Template {
        folder: "elixir",
        // Cowboy comes from hex.pm, or from a folder in ERL_LIBS.
        needs: &[&["elixir", "-e", "[_ | _] = :code.lib_dir(:cowboy)"]],
        written: "command = \"env MIX_ENV=prod mix run --no-halt\"",
        file: "lib/shop/hello.ex",
        before: "answer =",
        slower: "Enum.reduce(1..100_000, 0, &(&1 + &2))\n    ",
    },
    Template {
        folder: "go",
        needs: &[&["go", "version"]],
        written: "build = [\"go build -o server .\"]",
        file: "main.go",
        before: "fmt.Fprint(",
        slower: "for begin := time.Now(); time.Since(begin) < time.Millisecond; {\n\t}\n\t",
    },
    Template {
        folder: "axum",
        needs: &[&["cargo", "--version"]],
        written: "command = \"target/release/shop\"",
        file: "src/main.rs",
        before: "\"Hello",
        slower: "let begin = std::time::Instant::now();\n    while begin.elapsed().as_millis() < 1 {}\n    ",
    },
    Template {
        folder: "dotnet",
        needs: &[&["dotnet", "--version"]],
        written: "command = \"dotnet bin/publish/shop.dll\"",
        file: "Startup.cs",
        before: "await context",
        slower: "var watch = System.Diagnostics.Stopwatch.StartNew(); while (watch.ElapsedMilliseconds < 1) { } ",
    },
];

/// A name that ends with `.txt` behind another ending stands for the one without.
fn stands_for(name: &str) -> &str {
    name.strip_suffix(".txt").filter(|it| it.contains('.')).unwrap_or(name)
}

/// The program in a repository, as outside of any job, and with the folders of the user's package
/// managers.
fn pippin(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = command(folder, arguments);
    without_job(&mut command);
    command.env_remove("XDG_CACHE_HOME").env_remove("CARGO_TARGET_DIR");
    Started::spawn(&mut command).finish()
}

/// A repository with the template as its only commit.
fn repository(template: &Template) -> TempDir {
    let folder = tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap();
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/first_hour");
    copy(&templates.join(template.folder), folder.path(), stands_for);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    commit(folder.path(), "the template");
    folder
}

/// What the template needs and this machine lacks.
fn lacking(template: &Template) -> Option<String> {
    let works = |words: &&[&str]| {
        let output = Command::new(words[0]).args(&words[1..]).output();
        output.is_ok_and(|output| output.status.success())
    };
    template.needs.iter().find(|words| !works(words)).map(|words| words.join(" "))
}

/// From the template to a gate that passes, and from a commit that costs more to one that fails.
fn first_hour(name: &str) {
    alone(|| whole_hour(name));
}

fn whole_hour(name: &str) {
    let template = TEMPLATES.iter().find(|it| it.folder == name).unwrap();
    if template.is_on_the_jvm() && std::env::var_os("PIPPIN_JVM_GATES").is_none() {
        // Five starts of both sides took 16 minutes on two busy processors (docs/first-hour.md).
        return skip(name, "a gate on a JVM takes too long: PIPPIN_JVM_GATES=1 runs it");
    }
    if let Some(lacking) = lacking(template) {
        return skip(name, &format!("`{lacking}` does not work on this machine"));
    }
    let folder = repository(template);
    let here = folder.path();
    pippin(here, &["init"]).exits(0);
    let written = std::fs::read_to_string(here.join("pippin.toml")).unwrap();
    assert!(written.contains(template.written), "{written}");
    commit(here, "a gate");
    let outcome = pippin(here, &["run", "ci", "--quick"]);
    if was_too_busy(name, &outcome) {
        return;
    }
    outcome.exits(0).says(&["gate passed  require errors < 0.1%"]);
    let file = here.join(template.file);
    let text = std::fs::read_to_string(&file).unwrap();
    let (above, below) = text.split_once(template.before).unwrap();
    let slower = format!("{above}{}{}{below}", template.slower, template.before);
    std::fs::write(&file, slower).unwrap();
    git(here, &["commit", "-q", "-a", "-m", "slower"]);
    let outcome = pippin(here, &["ci"]);
    if was_too_busy(name, &outcome) {
        return;
    }
    outcome.says(&["gate passed  require errors < 0.1%"]);
    // It ends with the first change that fails: CPU time as a rule, or what the server answers of it.
    let has = |gate: &&str, said| outcome.has(&format!("gate {said}  fail if {gate}"));
    if outcome.code == Some(0) && has(&USUAL_GATES[0], "UNDECIDED") {
        // Too many starts were disturbed. What it says of the others must be right all the same.
        outcome.says(&["this checkout needs ", " more CPU time per request than "]);
        let why = line_with(&outcome, "UNDECIDED");
        return skip(name, &format!("its gate stayed undecided: {why}"));
    }
    outcome.exits(1);
    assert!(USUAL_GATES.iter().any(|gate| has(gate, "FAILED")), "{outcome}");
}

/// Whether a result is INVALID, which a busy machine may make it. The test is then skipped.
fn was_too_busy(name: &str, outcome: &Outcome) -> bool {
    let is_invalid = outcome.code == Some(3);
    if is_invalid {
        skip(name, &format!("this machine was too busy: {}", line_with(outcome, "INVALID")));
    }
    is_invalid
}

/// The first line with this word.
fn line_with<'a>(outcome: &'a Outcome, word: &str) -> &'a str {
    outcome.stdout.lines().find(|line| line.contains(word)).unwrap_or_default()
}

/// No template is without a test, and no folder without a template.
#[test]
fn every_template_has_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/first_hour");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), TEMPLATES.len());
    for name in TEMPLATES.iter().map(|template| template.folder) {
        let test = format!("    #[test]\n    fn {name}() {{\n        first_hour(\"{name}\");");
        assert!(include_str!("first_hour.rs").contains(&test), "{name}");
    }
}

mod patient {
    use super::first_hour;

    #[test]
    fn flask() {
        first_hour("flask");
    }

    #[test]
    fn django() {
        first_hour("django");
    }

    #[test]
    fn fastapi() {
        first_hour("fastapi");
    }

    #[test]
    fn express() {
        first_hour("express");
    }

    #[test]
    fn spring() {
        first_hour("spring");
    }

    #[test]
    fn gradle() {
        first_hour("gradle");
    }

    #[test]
    fn sinatra() {
        first_hour("sinatra");
    }

    #[test]
    fn php() {
        first_hour("php");
    }

    #[test]
    fn elixir() {
        first_hour("elixir");
    }

    #[test]
    fn go() {
        first_hour("go");
    }

    #[test]
    fn axum() {
        first_hour("axum");
    }

    #[test]
    fn dotnet() {
        first_hour("dotnet");
    }
}
