//! `pippin mcp`. The judge of the protocol is its official Python package, as the client.
use super::support::{command, virtual_environment};
use pippin_reference::handle::Running;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command};

/// A client by hand: what the package never sends.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Client {
    fn new(folder: &Path) -> Self {
        let mut child = command(folder, &["--store", "runs.db", "mcp"])
            .stdin(std::process::Stdio::piped())
            .env("PIPPIN_ALLOW_HOST", "192.0.2.1")
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, answers: BufReader::new(output) }
    }

    /// With a load of a minute under way, which is call 1.
    fn loading(folder: &Path, server: &Running<Account>) -> Self {
        let mut client = Self::new(folder);
        let url = format!("http://{}/", server.address());
        client.call(1, "load", &json!({ "url": url, "seconds": 60 }));
        while server.account().requests == 0 {
            std::thread::yield_now();
        }
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_ref().unwrap(), "{message}").unwrap();
    }

    fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Closes standard input. What came until the end, and the exit code.
    fn end(mut self) -> (Vec<String>, Option<i32>) {
        drop(self.input.take());
        let rest = self.answers.lines().map_while(Result::ok).collect();
        (rest, self.child.wait().unwrap().code())
    }
}

fn serve_ok() -> Running<Account> {
    spawn(Script::always(Answer::ok(b"hello"))).unwrap()
}

#[test]
fn its_own_client_lists_the_tools_and_measures() {
    let test = "mcp: the official client";
    let Some(bin) = virtual_environment(test, "mcp==2.3.0") else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = serve_ok();
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/mcp/client.py");
    // Its settings are those of a command of the tests.
    let pippin = command(folder.path(), &[]);
    let mut python = Command::new(bin.join("python3"));
    for (name, value) in pippin.get_envs() {
        match value {
            Some(value) => python.env(name, value),
            None => python.env_remove(name),
        };
    }
    let said = python
        .arg(client)
        .arg(pippin.get_program())
        .arg(format!("http://{}/", server.address()))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    let seen: Value = serde_json::from_str(stdout.trim())
        .unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    assert_eq!(seen["tools"], json!(["load", "compare", "run", "report"]), "{seen}");
    // A busy machine makes a load of one second INVALID, which is a result.
    assert!([0, 3].contains(&seen["load"]["exit_code"].as_i64().unwrap()), "{seen}");
    let good = seen["load"]["result"]["requests"]["good"].as_u64().unwrap();
    assert!(good > 0 && good <= server.account().requests, "{seen}");
    assert_eq!(seen["report"]["result"]["schema"], 1, "{seen}");
    let tables = seen["tables"]["result"].as_str().unwrap();
    assert!(tables.contains(&server.address().to_string()), "{tables}");
    assert_eq!(seen["wrong"]["is_error"], true, "{seen}");
    assert!(seen["wrong"]["text"].as_str().unwrap().contains("seconds"), "{seen}");
}

#[test]
fn no_other_host_is_loaded_whatever_the_user_allowed_for_own_loads() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.call(1, "load", &json!({ "url": "http://192.0.2.1:9/", "seconds": 1 }));
    let answer = client.answer();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(true)));
    assert!(answer.to_string().contains("--allow-host"), "{answer}");
    assert_eq!(client.end(), (Vec::new(), Some(0)));
}

#[test]
fn a_cancelled_call_ends_and_is_not_answered_and_the_next_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_ok();
    let mut client = Client::loading(folder.path(), &server);
    client.call(2, "report", &json!({ "run": "no-such-run" }));
    let params = json!({ "requestId": 1 });
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    let answer = client.answer();
    assert_eq!(answer["id"], 2, "{answer}");
    assert!(answer.to_string().contains("no-such-run"), "{answer}");
    // What was measured until then is kept.
    client.call(3, "report", &json!({}));
    let kept = client.answer();
    assert!(kept.to_string().contains(&server.address().to_string()), "{kept}");
    assert_eq!(client.end(), (Vec::new(), Some(0)));
}

#[test]
fn the_end_of_standard_input_ends_a_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_ok();
    let client = Client::loading(folder.path(), &server);
    assert_eq!(client.end(), (Vec::new(), Some(0)));
}
