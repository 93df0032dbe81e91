//! A database that the user gave.
use super::support::{Checkout, alive_with, pippin_with, plan};
use std::process::Command;

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

fn sql(url: &str, statement: &str) -> String {
    let output = Command::new("psql").args([url, "-Atc", statement]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

#[test]
fn a_table_of_the_users_own_is_left_alone() {
    let server = Checkout::with_cheat("right", &["users"]);
    server.write(
        "plans/long.toml",
        &plan(
            "users",
            &["test/it"],
            "kind = \"closed\"\nconnections = 1\nduration = \"60s\"\nwarm_up = \"none\"\n",
        ),
    );
    let other_run = server.start(&["run", "long", "--install"]);
    let mine = database_of(&server);
    // The proofs are over: nobody else needs the table now.
    assert!(super::support::until(|| server
        .store()
        .live_runs()
        .iter()
        .any(|live| { live.trial.as_ref().is_some_and(|trial| !trial.seconds.is_empty()) })));

    let checkout = Checkout::with_cheat("right", &["users"]);
    checkout.pippin(&["targets", "install", "test/it"]).exits(0);
    sql(&mine, "DROP TABLE users; CREATE TABLE users (id integer); INSERT INTO users VALUES (42)");
    pippin_with(
        &checkout,
        &["targets", "check", "test/it"],
        &[("PIPPIN_DATABASE_URL", mine.as_str())],
    )
    .says(&["has a table `users` that Pippin did not make", "PIPPIN_DATABASE_URL"]);
    assert_eq!(sql(&mine, "SELECT id FROM users"), "42");

    // A table that Pippin made is replaced, and an empty database is fine.
    sql(&mine, "DROP TABLE users");
    for _ in 0..2 {
        pippin_with(
            &checkout,
            &["targets", "check", "test/it"],
            &[("PIPPIN_DATABASE_URL", mine.as_str())],
        )
        .exits(0)
        .says(&["users ok"]);
    }
    assert_eq!(sql(&mine, "SELECT count(*) FROM users"), "10");
    other_run.press_ctrl_c();
    other_run.finish().exits(130);
    server.left_nothing();
}

#[test]
fn the_database_of_a_run_lets_in_its_targets_alone_and_they_own_no_more_than_it() {
    let checkout = Checkout::with_cheat("right", &["users"]);
    let profile = "kind = \"closed\"\nconnections = 1\nduration = \"60s\"\nwarm_up = \"none\"\n";
    checkout.write("plans/long.toml", &plan("users", &["test/it"], profile));
    let run = checkout.start(&["run", "long", "--install"]);
    let url = database_of(&checkout);

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
    let stored = "SELECT passwd FROM pg_shadow";
    refused(&url, stored);

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
