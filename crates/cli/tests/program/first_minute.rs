//! The first minutes that pages of the docs show: their commands run, and print what is shown.
use pippin_testing::patience::alone;
use pippin_testing::skipped::skip;
use std::path::Path;
use std::process::Command;

/// A block of a page.
enum Block {
    /// A file: its name and text.
    File(String, String),
    /// A command, the lines that it prints, and its exit code if the page shows it.
    Command(String, Vec<String>, Option<i32>),
}

/// The blocks of a page, in order. After the language of a file stands its name.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    for fenced in page.split("```").skip(1).step_by(2) {
        let (kind, text) = fenced.split_once('\n').unwrap();
        if kind != "console" {
            let (_, name) = kind.split_once(' ').unwrap();
            blocks.push(Block::File(name.into(), text.into()));
            continue;
        }
        for command in text.split("$ ").skip(1) {
            let mut lines = command.lines().map(str::to_string);
            let line = lines.next().unwrap();
            let (ends, shown): (Vec<_>, Vec<_>) =
                lines.partition(|it| it.starts_with("[exit code "));
            let code = ends.first().map(|it| it["[exit code ".len()..].trim_end_matches(']'));
            blocks.push(Block::Command(line, shown, code.map(|it| it.parse().unwrap())));
        }
    }
    blocks
}

/// Whether the parts of a shown line, between `...`, stand in a text one after the other.
fn stands_in(line: &str, mut text: &str) -> bool {
    line.split("...").all(|part| match text.find(part.trim()) {
        Some(at) => {
            text = &text[at + part.trim().len()..];
            true
        }
        None => false,
    })
}

/// Runs a page in a new folder.
fn run(page: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let program = Path::new(env!("CARGO_BIN_EXE_pippin"));
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let folder = tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap();
    for block in blocks(&std::fs::read_to_string(page).unwrap()) {
        let (line, shown, code) = match block {
            Block::File(name, text) => {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
                continue;
            }
            Block::Command(line, shown, code) => (line, shown, code),
        };
        let mut command = Command::new("timeout");
        command.args(["900", "sh", "-c", &line]).current_dir(folder.path()).env("PATH", &path);
        let output = command.env("COLUMNS", "200").output().unwrap();
        let said =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        let said = said.concat();
        let lines = || said.lines();
        for wanted in shown.iter().filter(|it| *it != "...") {
            assert!(
                lines().any(|line| stands_in(wanted, line)),
                "{line}: no `{wanted}` in:\n{said}"
            );
        }
        let ended = output.status.code();
        // A busy machine may make a result INVALID.
        let is_right = code.map_or(matches!(ended, Some(0 | 3)), |code| ended == Some(code));
        assert!(is_right, "{line} ended with {ended:?}:\n{said}");
    }
}

/// Runs a page if a program that it needs answers to `--version`, or to `version` as Go does.
fn run_with(program: &str, test: &str, page: &str) {
    let version = if program == "go" { "version" } else { "--version" };
    let asked = Command::new(program).arg(version).output();
    if !asked.is_ok_and(|output| output.status.success()) {
        return skip(test, &format!("{program} is not installed"));
    }
    alone(|| run(page));
}

#[test]
fn a_flask_project() {
    run_with("flask", "a_flask_project", "first-minute-flask.md");
}

mod patient {
    use super::run_with;

    #[test]
    fn an_express_project() {
        run_with("npm", "an_express_project", "first-minute-express.md");
    }

    #[test]
    fn a_go_project() {
        run_with("go", "a_go_project", "first-minute-go.md");
    }

    #[test]
    fn an_axum_project() {
        run_with("cargo", "an_axum_project", "first-minute-axum.md");
    }
}
