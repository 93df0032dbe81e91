//! A database that the user gave.
use super::support::{Checkout, alive_with, pippin_with, plan};
use std::process::Command;

/// The address of the private cluster of the run that is under way.
fn database_of(checkout: &Checkout) -> String {
    checkout.wait_for_process("listen_addresses");
    let lines = alive_with(&checkout.marker());
    let server = lines
        .iter()
        .find(|line| line.contains("listen_addresses") && !line.contains("__supervise"))
        .unwrap();
    let mut words = server.split_whitespace().skip_while(|word| *word != "-p");
    format!("postgres://pippin@127.0.0.1:{}/postgres", words.nth(1).unwrap())
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
    let url = database_of(&server);
    assert!(super::support::until(|| Command::new("psql")
        .args([&url, "-Atc", "SELECT 1"])
        .output()
        .is_ok_and(|output| output.status.success())));

    let checkout = Checkout::with_cheat("right", &["users"]);
    checkout.pippin(&["targets", "install", "test/it"]).exits(0);
    sql(&url, "CREATE DATABASE mine");
    let mine = format!("{}/mine", url.trim_end_matches("/postgres"));
    sql(&mine, "CREATE TABLE users (id integer); INSERT INTO users VALUES (42)");
    pippin_with(
        &checkout,
        &["targets", "check", "test/it"],
        &[("PIPPIN_DATABASE_URL", mine.as_str())],
    )
    .says(&["has a table `users` that Pippin did not make", "PIPPIN_DATABASE_URL"]);
    assert_eq!(sql(&mine, "SELECT id FROM users"), "42");

    // One that Pippin made is made anew, and an empty database is fine.
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
