//! Python: Django by `manage.py`, other frameworks by what `main.py` or `app.py` makes.
use super::{Folder, Guess, between};

pub fn django(folder: &Folder<'_>) -> Option<Guess> {
    let manage = folder.text("manage.py")?;
    let settings = between(&manage, "DJANGO_SETTINGS_MODULE", ")");
    let settings = settings.map(|text| text.trim_matches([' ', ',', '\'', '"', '\n', '\t']));
    let site = settings.and_then(|module| module.split_once('.')).map(|(site, _)| site);
    let venv = Venv::from_folder(folder);
    Some(venv.guess(match site {
        Some(site) if needs(folder, "gunicorn") => gunicorn(&format!("{site}.wsgi")),
        _ => "python3 manage.py runserver {HOST}:{PORT} --noreload".into(),
    }))
}

/// What installs the packages of a project into `.venv`, if its files say which.
struct Venv(Vec<&'static str>);

impl Venv {
    fn from_folder(folder: &Folder<'_>) -> Self {
        Self(if folder.has("uv.lock") {
            vec!["uv sync --frozen"]
        } else if folder.has("requirements.txt") {
            vec!["python3 -m venv .venv", ".venv/bin/pip install -q -r requirements.txt"]
        } else {
            Vec::new()
        })
    }

    /// The guess for a command, whose program is that of `.venv` if there is one.
    fn guess(self, command: String) -> Guess {
        let within = if self.0.is_empty() { "" } else { ".venv/bin/" };
        Guess::new(format!("{within}{command}")).built_by(self.0)
    }
}

pub fn script(folder: &Folder<'_>) -> Option<Guess> {
    let (module, text) = ["main", "app"]
        .into_iter()
        .find_map(|name| Some((name, folder.text(&format!("{name}.py"))?)))?;
    let made = |class: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            value.trim_start().starts_with(class).then(|| name.trim().to_string())
        })
    };
    let venv = Venv::from_folder(folder);
    if let Some(name) = made("FastAPI(").or_else(|| made("Starlette(")) {
        return Some(venv.guess(format!(
            "uvicorn {module}:{name} --host {{HOST}} --port {{PORT}} --workers {{WORKERS}}"
        )));
    }
    let is_run_by_itself = text.contains(".run(");
    Some(venv.guess(match made("Flask(") {
        Some(name) if needs(folder, "gunicorn") => gunicorn(&format!("{module}:{name}")),
        Some(_) if !is_run_by_itself => {
            format!("flask --app {module} run --host {{HOST}} --port {{PORT}}")
        }
        _ => format!("python3 {module}.py"),
    }))
}

/// The server that a project names for production.
fn gunicorn(application: &str) -> String {
    format!("gunicorn {application} --bind {{HOST}}:{{PORT}} --workers {{WORKERS}}")
}

/// Whether a package is among what the project installs.
fn needs(folder: &Folder<'_>, package: &str) -> bool {
    let lists = ["requirements.txt", "pyproject.toml", "Pipfile"];
    lists.iter().filter_map(|list| folder.text(list)).any(|text| text.contains(package))
}
