//! What stands around the user's own server: services, databases of revisions, commands before and after
//! each start.
use super::services::{OwnServer, sql};
use super::support::{Outcome, Started, alive_with, cheat, command, commit, git, skip, until};
use pippin_model::host::usage::Role;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pippin_testing::patient_tests!(
    revisions_with_other_schemas_have_databases_of_their_own,
    a_killed_comparison_leaves_no_process_no_database_and_no_worktree
);

/// A user's own repository. Everything that Pippin starts for it has the folder's name in its command line,
/// or runs below it.
struct Project {
    folder: TempDir,
}

const REST: &str = "[workload.home]
request = { path = \"/\" }
answer = { contains = [\"Hello\"] }
[plan.ci]
workload = \"home\"
targets = [\"shop\"]
repetitions = 1
profile = { kind = \"closed\", connections = 2, duration = \"300ms\", warm_up = \"none\" }
cpus = { share = true }
";

/// Answers with what its query finds at its start, and exits if the schema is not the one that it needs.
const SERVER: &str = r#"import http.server, os, subprocess
query = ["psql", os.environ["DATABASE_URL"], "-Atc", open("query.sql").read()]
rows = subprocess.run(query, check=True, capture_output=True).stdout
with open(os.environ["STARTS"], "a") as starts:
    starts.write(os.environ["PIPPIN_REVISION"] + " " + os.environ["DATABASE_URL"] + "\n")

class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        found = self.path == "/"
        body = b"Hello " + rows if found else b"not found"
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

address = (os.environ["HOST"], int(os.environ["PORT"]))
http.server.ThreadingHTTPServer(address, Shop).serve_forever()
"#;

impl Project {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap();
        Self { folder }
    }

    /// A server that needs nothing, with these lines in its table and these tables before it.
    fn with(tables: &str, lines: &str) -> Self {
        let project = Self::new();
        let server = cheat().display();
        let name = project.marker();
        let target = format!("[target.shop]\ncommand = \"'{server}' right {name}\"\n{lines}\n");
        project.write("pippin.toml", &format!("{tables}\n{target}{REST}"));
        project
    }

    /// A server with a database, in two revisions: the second needs a column that the first lacks.
    fn of_two_schemas() -> Self {
        let project = Self::new();
        let starts = project.path().join(".git/starts").display().to_string();
        project.write("server.py", SERVER);
        project.write(
            "pippin.toml",
            &format!(
                "[target.shop]\ncommand = \"python3 server.py\"\nservices = [\"postgres\"]\nmigrate = [\"psql {{DATABASE_URL}} -v ON_ERROR_STOP=1 -qf schema.sql\"]\nenv = {{ STARTS = '{starts}' }}\n{REST}"
            ),
        );
        project.write(
            "schema.sql",
            "CREATE TABLE items (name text); INSERT INTO items VALUES ('tea');",
        );
        project.write("query.sql", "SELECT name FROM items");
        git(project.path(), &["init", "-q", "-b", "main"]);
        commit(project.path(), "Names");
        git(project.path(), &["checkout", "-q", "-b", "next"]);
        project.write(
            "schema.sql",
            "CREATE TABLE items (name text, price int); INSERT INTO items VALUES ('tea', 3);",
        );
        project.write("query.sql", "SELECT name, price FROM items");
        commit(project.path(), "Prices");
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn marker(&self) -> String {
        self.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.path().join(file);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path().join(file)).unwrap()
    }

    fn start(&self, arguments: &[&str]) -> Started {
        Started::spawn(&mut command(self.path(), arguments))
    }

    fn pippin(&self, arguments: &[&str]) -> Outcome {
        self.start(arguments).finish()
    }

    /// A run, whose failures are in its record.
    fn run(&self) -> (Outcome, pippin_model::run::RunRecord) {
        let outcome = self.pippin(&["run", "ci"]);
        let store = pippin_store::Store::open(&self.path().join(".pippin/pippin.db"));
        (outcome, store.unwrap().load("latest").unwrap())
    }

    /// A run with a database of the user's; the record if there is one.
    fn run_with(&self, url: &str) -> (Outcome, Option<pippin_model::run::RunRecord>) {
        let mut command = command(self.path(), &["run", "ci"]);
        let outcome = Started::spawn(command.env("PIPPIN_DATABASE_URL", url)).finish();
        let store = pippin_store::Store::open(&self.path().join(".pippin/pippin.db"));
        (outcome, store.unwrap().load("latest").ok())
    }

    /// The failure of the only trial of a run.
    #[track_caller]
    fn fails(&self) -> (Outcome, String) {
        let (outcome, record) = self.run();
        let failure = record.trials[0].failure.clone();
        let failure = failure.unwrap_or_else(|| panic!("it did not fail: {outcome}"));
        let all = [vec![failure.stage.name().into(), failure.message], failure.log_tail].concat();
        self.is_left();
        (outcome, all.join(" | "))
    }

    /// No process that was started for it may still run.
    #[track_caller]
    fn is_left(&self) {
        let marker = self.marker();
        assert!(until(|| alive_with(&marker).is_empty()), "{:?}", alive_with(&marker));
    }

    /// The folders of clusters that are still there.
    fn clusters(&self, pippin: u32) -> Vec<PathBuf> {
        let runs = std::fs::read_dir(self.path().join(".pippin/runs")).unwrap();
        let temporary = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let name = format!("pippin-postgres-{pippin}-");
        let temporary = temporary.filter(|it| it.file_name().to_string_lossy().starts_with(&name));
        let own = runs.flatten().map(|run| run.path().join("postgres"));
        own.filter(|folder| folder.exists()).chain(temporary.map(|it| it.path())).collect()
    }
}

fn revisions_with_other_schemas_have_databases_of_their_own() {
    let project = Project::of_two_schemas();
    let commits = ["main", "next"].map(|name| git(project.path(), &["rev-parse", name]));
    let outcome = project.pippin(&["compare", "main", "next", "--repeat", "2"]);
    outcome.says(&["own/shop@main -> own/shop@next"]).keeps_quiet_about(&["failed at"]);
    let starts = project.read(".git/starts");
    for commit in &commits {
        let of_it = starts.lines().filter(|line| line.starts_with(commit.trim())).count();
        assert_eq!(of_it, 2, "{starts}");
    }
    let mut databases: Vec<&str> =
        starts.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
    databases.sort_unstable();
    databases.dedup();
    assert_eq!(databases.len(), 4, "each start has its own: {starts}");
    assert_eq!(git(project.path(), &["worktree", "list"]).lines().count(), 1);
    project.is_left();
    let store = pippin_store::Store::open(&project.path().join(".pippin/pippin.db")).unwrap();
    for trial in &store.load("latest").unwrap().trials {
        let roles = trial.usage.as_ref().map(|usage| &usage.roles);
        assert!(roles.is_some_and(|roles| roles.contains_key(&Role::Services)), "{outcome}");
    }
}

fn a_killed_comparison_leaves_no_process_no_database_and_no_worktree() {
    let project = Project::of_two_schemas();
    let text = project.read("pippin.toml").replace("300ms", "20s");
    project.write("pippin.toml", &text);
    let killed = project.start(&["compare", "main", "next"]);
    let pid = killed.id();
    let are_up = || {
        let starts = std::fs::read_to_string(project.path().join(".git/starts"));
        starts.is_ok_and(|starts| starts.lines().count() == 2)
    };
    assert!(until(are_up), "{}", killed.finish());
    killed.signal(libc::SIGKILL);
    killed.finish();
    project.is_left();
    assert!(!project.clusters(pid).is_empty(), "the kill came too late");
    project.write("pippin.toml", &text.replace("20s", "300ms"));
    let next = project.pippin(&["compare", "main", "next", "--repeat", "1"]);
    next.says(&["own/shop@main -> own/shop@next"]).keeps_quiet_about(&["failed at"]);
    assert_eq!(git(project.path(), &["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.clusters(pid), Vec::<PathBuf>::new());
    project.is_left();
}

/// Each command notes its name and what it sees. A database is made for the start, so that the build sees
/// none, and nobody knows the port before the start.
#[test]
fn variables_reach_every_command() {
    let all = "services = [\"postgres\"]\nbuild = [\"sh note build\"]\nmigrate = [\"sh note migrate\"]\nprepare = [\"sh note prepare\"]\ncleanup = [\"sh note cleanup\"]\nenv = { GREETING = \"ahoy\", NEAR = \"{PORT}\" }";
    let project = Project::with("", all);
    let note =
        "echo $1 $GREETING $PIPPIN_REVISION ${DATABASE_URL:+database} ${NEAR:+port} >> notes\n";
    project.write("note", note);
    let text = project.read("pippin.toml");
    let started = text.replacen("command = \"", "command = \"sh start ", 1);
    project.write("pippin.toml", &started);
    project.write("start", "sh note command\nexec \"$@\"\n");
    let (outcome, record) = project.run();
    assert_eq!(record.trials[0].failure, None, "{outcome}");
    let expected = "build ahoy checkout\nmigrate ahoy checkout database\nprepare ahoy checkout database\ncommand ahoy checkout database port\ncleanup ahoy checkout database\n";
    assert_eq!(project.read("notes"), expected, "{outcome}");
    project.is_left();
}

const WAITS: &str = "[service.helper]\ncommand = \"sh -c 'while [ ! -e leave ]; do sleep 0.02; done; echo I leave; exit 7'\"\nready = { command = \"test -e come\" }\nready_within = \"60s\"\n";

#[test]
fn a_service_that_is_never_ready_is_named() {
    let soon = WAITS.replace("60s", "1s");
    let project = Project::with(&soon, "services = [\"helper\"]\ncleanup = [\"touch cleaned\"]");
    let (_, said) = project.fails();
    let why = said
        .strip_prefix("services | service `helper`: not ready after 1 s: `test -e come` ")
        .unwrap_or_else(|| panic!("{said}"));
    // On a slow machine not even the first attempt ends in this time.
    assert!(why.starts_with("exited with code 1") || why.starts_with("did not end"), "{said}");
    assert!(!project.path().join("cleaned").exists(), "nothing was prepared");
    let on_a_port = Project::with(
        "[service.deaf]\ncommand = \"sleep 60\"\nready_within = \"1s\"\n",
        "services = [\"deaf\"]",
    );
    let (_, said) = on_a_port.fails();
    assert!(
        said.contains("service `deaf`: not ready after 1 s: nobody listens on 127.0.0.1:"),
        "{said}"
    );
    let over = Project::with(
        "[service.over]\ncommand = \"sh -c 'echo no such index; exit 3'\"\n",
        "services = [\"over\"]",
    );
    let (_, said) = over.fails();
    assert!(
        said.contains("service `over`: it exited with code 3 before it was ready; a service must stay in the foreground: no such index"),
        "{said}"
    );
    let gone =
        Project::with("[service.gone]\ncommand = \"no-such-program\"\n", "services = [\"gone\"]");
    let (_, said) = gone.fails();
    assert!(said.contains("service `gone`: ") && said.contains("no-such-program"), "{said}");
}

#[test]
fn a_service_that_ends_during_the_run_is_named() {
    let lines =
        "services = [\"helper\"]\nprepare = [\"touch leave\"]\ncleanup = [\"touch cleaned\"]";
    let project = Project::with(WAITS, lines);
    project.write("come", "");
    let text = project.read("pippin.toml");
    project.write("pippin.toml", &text.replace("300ms", "2s"));
    let (_, said) = project.fails();
    assert!(said.contains("its service `helper` exited with code 7"), "{said}");
    assert!(said.contains("exited with code 7: I leave"), "its log is shown: {said}");
    assert!(project.path().join("cleaned").exists());
}

#[test]
fn a_command_that_fails_or_hangs_before_the_start_is_told_with_its_output() {
    let lines = "prepare = [\"sh -c 'echo the queue cannot be filled; exit 4'\"]\ncleanup = [\"touch cleaned\"]";
    let project = Project::with("", lines);
    let (_, said) = project.fails();
    assert!(
        said.contains("start | prepare: `sh -c") && said.contains("exited with code 4"),
        "{said}"
    );
    assert!(said.contains("the queue cannot be filled"), "{said}");
    assert!(project.path().join("cleaned").exists(), "what was begun is cleaned up");
    let hangs = Project::with("", "prepare = [\"sleep 600\"]\nprepare_within = \"1s\"");
    let (_, said) = hangs.fails();
    assert!(said.contains("prepare: `sleep 600` did not end within 1 s"), "{said}");
    let wrong = Project::with(
        "",
        "services = [\"postgres\"]\nmigrate = [\"psql {DATABASE_URL} -c 'SELECT nothing'\"]",
    );
    let (_, said) = wrong.fails();
    assert!(
        said.contains("migrate: `psql postgres://pippin_1_owner@127.0.0.1:")
            && said.contains("does not exist"),
        "{said}"
    );
}

/// Ctrl-C while a command of `prepare` runs: it is ended, and what it began is cleaned up.
#[test]
fn ctrl_c_before_the_start_cleans_up() {
    let lines = "prepare = [\"touch begun\", \"sleep 600\"]\ncleanup = [\"touch cleaned\"]";
    let project = Project::with(WAITS, &format!("services = [\"helper\"]\n{lines}"));
    project.write("come", "");
    let run = project.start(&["run", "ci"]);
    assert!(until(|| project.path().join("begun").exists()));
    run.press_ctrl_c();
    run.finish();
    project.is_left();
    assert!(project.path().join("cleaned").exists());
}

#[test]
fn a_cleanup_that_fails_is_told() {
    let project = Project::with("", "cleanup = [\"sh -c 'echo still in use; exit 5'\"]");
    let (outcome, record) = project.run();
    let unclean = record.trials[0].caveats.iter().find(|caveat| caveat.id == "unclean_stop");
    let evidence = &unclean.unwrap_or_else(|| panic!("{outcome}")).evidence;
    assert!(evidence.contains("exited with code 5: still in use"), "{evidence}");
}

#[test]
fn redis_and_a_service_of_ones_own_are_there_for_each_start() {
    if Command::new("redis-server").arg("--version").output().is_err() {
        return skip("a service of Redis", "there is no redis-server");
    }
    let table = "[service.echo]\ncommand = \"python3 -m http.server {PORT} --bind {HOST}\"\nready = \"/pippin.toml\"\n";
    let lines = "services = [\"redis\", \"echo\"]\nprepare = [\"sh -c 'redis-cli -u $REDIS_URL set seen $ECHO_PORT > said'\"]\nenv = { ECHO = \"http://127.0.0.1:{ECHO_PORT}\" }";
    let project = Project::with(table, lines);
    let (outcome, record) = project.run();
    assert_eq!(record.trials[0].failure, None, "{outcome}");
    assert_eq!(project.read("said").trim(), "OK");
    let roles = record.trials[0].usage.as_ref().map(|usage| &usage.roles);
    assert!(roles.is_some_and(|roles| roles.contains_key(&Role::Services)), "{outcome}");
    project.is_left();
}

#[test]
fn slips_are_refused_before_anything_starts() {
    let project = Project::with("", "services = [\"postgre\"]");
    project.pippin(&["run", "ci"]).is_a_user_error(&[
        "pippin.toml:4: there is no [service.postgre]; did you mean `postgres`?",
    ]);
    let url = "[target.old]\nurl = \"http://127.0.0.1:9\"\nservices = [\"postgres\"]\n";
    Project::with(url, "").pippin(&["run", "ci"]).is_a_user_error(&[
        "pippin.toml:3: `services` has no effect beside `url`, because it runs already",
    ]);
    let both = Project::with("", "services = [\"postgres\"]\nserves = [\"users\"]");
    both.pippin(&["run", "users", "--targets", "shop"]).is_a_user_error(&[
        "the workload `users` brings its own database",
        "both are DATABASE_URL",
    ]);
    let given = Project::with("", "services = [\"postgres\"]");
    for (url, says) in [
        ("postgres://me@127.0.0.1:1/x", "PIPPIN_DATABASE_URL: connect to PostgreSQL"),
        ("host=127.0.0.1", "PIPPIN_DATABASE_URL: write it as postgres://"),
    ] {
        given.run_with(url).0.is_a_user_error(&[says]);
    }
}

/// Databases of a run that was killed are dropped, those of one that lives are not, and the rest of the
/// server stays as it is.
#[test]
fn a_server_of_the_users_gets_databases_or_the_result_is_suspect() {
    let server = OwnServer::start();
    let databases = || sql(&server.url(), "SELECT datname FROM pg_database ORDER BY 1");
    let before = databases();
    for name in ["pippin_00000000000000aa_1", "pippin_00000000000000bb_1", "pippin_mine"] {
        sql(&server.url(), &format!("CREATE DATABASE {name}"));
    }
    let lives = format!("{}?application_name=pippin_00000000000000bb", server.url());
    let mut holds =
        Command::new("psql").args([&lives, "-c", "SELECT pg_sleep(600)"]).spawn().unwrap();
    let is_there = "SELECT count(*) FROM pg_stat_activity WHERE application_name ~ '00bb$'";
    assert!(until(|| sql(&server.url(), is_there) == "1"));
    let lines = "services = [\"postgres\"]\nmigrate = [\"psql {DATABASE_URL} -qc 'CREATE TABLE seen ()'\"]\nprepare = [\"sh -c 'echo $DATABASE_URL >> seen'\"]";
    let project = Project::with("", lines);
    let (outcome, record) = project.run_with(&server.url());
    let record = record.unwrap();
    assert_eq!(record.trials[0].failure, None, "{outcome}");
    assert!(record.trials[0].caveats.iter().all(|caveat| caveat.id != "database_shared"));
    assert!(project.read("seen").contains("/pippin_"));
    let words = ["pippin_00000000000000bb_1", "pippin_mine"].map(String::from).to_vec();
    let mut expected = [before.lines().map(String::from).collect(), words].concat();
    expected.sort_unstable();
    assert_eq!(databases().lines().collect::<Vec<_>>(), expected);
    holds.kill().unwrap();
    holds.wait().unwrap();

    sql(&server.url(), "CREATE ROLE small LOGIN");
    sql(&server.url(), "CREATE DATABASE small OWNER small");
    let small = server.url().replace("me@", "small@").replace("/postgres", "/small");
    let (outcome, record) = project.run_with(&small);
    let trial = &record.unwrap().trials[0];
    assert_eq!(trial.failure, None, "{outcome}");
    let shared = trial.caveats.iter().find(|caveat| caveat.id == "database_shared").unwrap();
    assert!(shared.evidence.contains("permission denied to create database"), "{shared:?}");
    assert_eq!(
        sql(&small, "SELECT count(*) FROM seen"),
        "0",
        "it is the named one that is migrated"
    );

    // It asks for no password, so that any is right.
    let tells = "services = [\"postgres\"]\ncleanup = [\"sh -c 'echo error at $DATABASE_URL; exit 5' {DATABASE_URL}\"]";
    let with_password = server.url().replace("me@", "me:hidden-word@");
    let (outcome, record) = Project::with("", tells).run_with(&with_password);
    let record = record.unwrap();
    let unclean = record.trials[0].caveats.iter().find(|caveat| caveat.id == "unclean_stop");
    let evidence = &unclean.unwrap_or_else(|| panic!("{outcome}")).evidence;
    assert!(evidence.contains("exited with code 5: error at postgres://me@"), "{evidence}");
    assert!(!format!("{outcome} {record:?}").contains("hidden-word"), "{outcome} {record:?}");
}
