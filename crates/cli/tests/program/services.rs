//! A database that the user gave.
use super::support::{Checkout, Started, alive_with, pippin_with, plan};
use std::process::{Child, Command, Stdio};

/// The address of the private cluster of the current run, from its target.
fn database_of(checkout: &Checkout) -> String {
    checkout.wait_for_process("right");
    let is_target = |line: &&String| line.contains("right") && !line.contains("__supervise");
    let lines = alive_with(&checkout.marker());
    let pid = lines.iter().find(is_target).unwrap().split(' ').next().unwrap();
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let url = environment.split('\0').find_map(|variable| variable.strip_prefix("DATABASE_URL="));
    url.unwrap().to_string()
}

/// The processes of the server: pid and user.
fn server_of(checkout: &Checkout) -> Vec<(String, u32)> {
    use std::os::unix::fs::MetadataExt;
    let lines = alive_with(&checkout.marker());
    let server = lines
        .iter()
        .filter(|line| line.contains("listen_addresses") && !line.contains("__supervise"));
    server
        .map(|line| line.split(' ').next().unwrap().to_string())
        .map(|pid| (pid.clone(), std::fs::metadata(format!("/proc/{pid}")).unwrap().uid()))
        .collect()
}

/// The output of psql for a statement that must be refused.
fn refused(url: &str, statement: &str) -> String {
    let output = Command::new("psql")
        .args([url, "--no-password", "-Atc", statement])
        .env_remove("PGPASSWORD")
        .output()
        .unwrap();
    assert!(!output.status.success(), "{url} let it in: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What psql prints of a statement.
pub fn sql(url: &str, statement: &str) -> String {
    let output = Command::new("psql").args([url, "-Atc", statement]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// A server of the user's own, with the programs that Pippin finds too.
pub struct OwnServer {
    process: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl OwnServer {
    /// PostgreSQL refuses to run as root. In a user namespace it is somebody else, and its files
    /// stay ours.
    fn command(program: &str) -> Command {
        let versions = std::fs::read_dir("/usr/lib/postgresql").unwrap();
        let newest = versions.map(|version| version.unwrap().path()).max().unwrap();
        let mut command = Command::new("unshare");
        command.arg("-U").arg(newest.join("bin").join(program));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// It answers when this returns.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let words = ["-A", "trust", "-U", "me", "-E", "UTF8", "--no-locale", "--no-sync", "-D"];
        assert!(Self::command("initdb").args(words).arg(&data).status().unwrap().success());
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let process = Self::command("postgres")
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"])
            .args(["-c", "unix_socket_directories="])
            .args(["-c", "shared_preload_libraries=pg_stat_statements"])
            .spawn()
            .unwrap();
        let server = Self { process, folder, port };
        assert!(super::support::until(|| {
            let asked = Command::new("psql").args([&server.url(), "-Atc", "SELECT 1"]).output();
            asked.is_ok_and(|output| output.status.success())
        }));
        server
    }

    /// The address of its database.
    pub fn url(&self) -> String {
        format!("postgres://me@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // SAFETY: kill(2) of our own child, which has not been waited for.
        unsafe { libc::kill(self.process.id() as i32, libc::SIGINT) };
        self.process.wait().unwrap();
        assert!(self.folder.path().exists());
    }
}

#[test]
fn a_table_of_the_users_own_is_left_alone_and_a_target_that_owns_its_table_is_doubted() {
    let server = OwnServer::start();
    let mine = server.url();
    let given = [("PIPPIN_DATABASE_URL", mine.as_str())];
    let checkout = Checkout::with_cheat("right", &["users"]);
    checkout.pippin(&["targets", "install", "test/it"]).exits(0);
    sql(&mine, "CREATE TABLE users (id integer); INSERT INTO users VALUES (42)");
    let check = ["targets", "check", "test/it"];
    pippin_with(&checkout, &check, &given)
        .says(&["has a table `users` that Pippin did not make", "PIPPIN_DATABASE_URL"]);
    assert_eq!(sql(&mine, "SELECT id FROM users"), "42");

    // What nobody counts does not pass.
    sql(&mine, "DROP TABLE users");
    pippin_with(&checkout, &check, &given)
        .exits(1)
        .says(&["account of statements cannot be read", "pg_stat_statements"]);
    // A table that Pippin made is replaced, and an empty database is fine.
    sql(&mine, "DROP TABLE users; CREATE EXTENSION pg_stat_statements");
    for _ in 0..2 {
        pippin_with(&checkout, &check, &given).exits(0).says(&["users ok"]);
    }
    assert_eq!(sql(&mine, "SELECT count(*) FROM users"), "10");

    let load = "kind = \"closed\"\nconnections = 2\nduration = \"1s\"\nwarm_up = \"none\"\n";
    checkout.write("plans/plan.toml", &plan("users", &["test/it"], load));
    pippin_with(&checkout, &["run", "plan"], &given);
    let run = checkout.store().load("latest").unwrap();
    let doubted = run.trials[0].caveats.iter().find(|caveat| caveat.id == "proof_doubted");
    assert!(doubted.unwrap().evidence.contains("the target owns the table"));
    checkout.left_nothing();

    let checkout = Checkout::with_cheat("right", &["crud"]);
    checkout.pippin(&["targets", "install", "test/it"]).exits(0);
    pippin_with(&checkout, &check, &given).exits(0).says(&["crud ok"]);
    assert_eq!(sql(&mine, "SELECT count(*) FROM products WHERE id <= 1000"), "1000");
    checkout.left_nothing();
}

/// A server that behaves under a long load of this workload, and the address of its database.
fn under_a_long_load(workload: &str) -> (Checkout, Started, String) {
    let checkout = Checkout::with_cheat("right", &[workload]);
    let profile = "kind = \"closed\"\nconnections = 1\nduration = \"60s\"\nwarm_up = \"none\"\n";
    checkout.write("plans/long.toml", &plan(workload, &["test/it"], profile));
    let run = checkout.start(&["run", "long", "--install"]);
    let url = database_of(&checkout);
    (checkout, run, url)
}

#[test]
fn a_target_may_write_products_and_nothing_else() {
    let (checkout, run, url) = under_a_long_load("crud");
    let made =
        "INSERT INTO products (name, category, price) VALUES ('mine', 'x', 1) RETURNING name";
    assert!(sql(&url, made).starts_with("mine"));
    for statement in [
        "TRUNCATE products",
        "ALTER TABLE products ADD COLUMN other integer",
        "DROP TABLE products",
        "CREATE TABLE other (id integer)",
        "CREATE TEMPORARY TABLE other (id integer)",
        "CREATE TRIGGER other AFTER INSERT ON products EXECUTE FUNCTION tsvector_update_trigger()",
        "SELECT pg_stat_statements_reset()",
    ] {
        let why = refused(&url, statement);
        assert!(
            why.contains("permission denied") || why.contains("must be owner"),
            "{statement}: {why}"
        );
    }
    run.press_ctrl_c();
    run.finish().exits(130);
    checkout.left_nothing();
}

#[test]
fn the_database_of_a_run_lets_in_its_targets_alone_and_they_may_read_and_no_more() {
    let (checkout, run, url) = under_a_long_load("users");

    let (login, place) = url.strip_prefix("postgres://").unwrap().split_once('@').unwrap();
    let (user, password) = login.split_once(':').unwrap();
    assert!(password.len() >= 32, "{password}");
    let server = place.split('/').next().unwrap();
    refused(&format!("postgres://{user}@{place}"), "SELECT 1");
    refused(&format!("postgres://{user}:wrong@{place}"), "SELECT 1");
    for superuser in ["postgres", "pippin", "root"] {
        refused(&format!("postgres://{superuser}@{server}/postgres"), "SELECT 1");
    }
    refused(&format!("postgres://{login}@{server}/postgres"), "SELECT 1");

    let role = "SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication FROM pg_roles WHERE rolname = current_user";
    assert_eq!(sql(&url, role), "f");
    assert!(
        refused(&url, "COPY users TO PROGRAM 'cat'").contains("permission denied")
            || refused(&url, "COPY users TO PROGRAM 'cat'").contains("must be superuser")
    );
    let template = format!("postgres://{login}@{server}/pippin_template");
    refused(&template, "SELECT 1");
    for statement in [
        "SELECT passwd FROM pg_shadow",
        "CREATE TABLE other (id integer)",
        "CREATE TEMPORARY TABLE other (id integer)",
        "CREATE FUNCTION one() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "DO $$ BEGIN END $$",
        "UPDATE users SET name = 'x'",
        "DELETE FROM users",
        "ALTER TABLE users RENAME TO other",
        "BEGIN; LOCK TABLE users IN SHARE MODE",
        "SELECT pg_stat_statements_reset()",
        "CREATE DATABASE other",
    ] {
        let why = refused(&url, statement);
        assert!(
            why.contains("permission denied") || why.contains("must be owner"),
            "{statement}: {why}"
        );
    }
    assert_eq!(sql(&url, "SELECT count(*) FROM users"), "10");

    let processes = server_of(&checkout);
    assert!(!processes.is_empty());
    // SAFETY: geteuid(2) cannot fail.
    let own = unsafe { libc::geteuid() };
    for (pid, user) in processes {
        assert!(user != 0, "process {pid} of the server runs as root");
        assert!(own == 0 || user == own, "process {pid} runs as {user}");
    }
    run.press_ctrl_c();
    run.finish().exits(130);
    checkout.left_nothing();
}
