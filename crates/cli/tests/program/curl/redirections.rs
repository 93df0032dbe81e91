//! `--follow` against `curl -L`: the requests that a load sends along a chain are those that curl sends.
//! And no other server gets a byte of it, least of all a secret.
use super::super::support::pippin;
use super::{Normal, Recorder, normal};
use pippin_testing::scripted::Answer;
use pippin_testing::skipped::skip;
use std::process::{Command, Stdio};

/// A server whose paths say where they lead: `/302/PLACE`, with `!` for a slash of the place, and HOST
/// for the server. Everything else is the end.
fn maze() -> Recorder {
    Recorder::answering(|target| {
        let part = target.strip_prefix('/').and_then(|rest| rest.split_once('/'));
        match part.and_then(|(status, rest)| Some((status.parse().ok()?, rest))) {
            Some((status, place)) => {
                let place = place.split('#').next().unwrap_or_default().replace('!', "/");
                Answer::new(status, b"").header(&format!("Location: {place}"))
            }
            None => Answer::ok(b""),
        }
    })
}

/// What both do: the flags of curl, those of a load, and the first path.
const SAME: [(&[&str], &[&str], &str); 28] = [
    (&[], &[], "/end"),
    (&[], &[], "/301/!end"),
    (&[], &[], "/302/!end?q=1"),
    (&[], &[], "/303/!end"),
    (&[], &[], "/307/!end"),
    (&[], &[], "/308/!end"),
    (&[], &[], "/302/..!next"),
    (&[], &[], "/302/..!..!..!end"),
    (&[], &[], "/302/..!a!.!..!b"),
    (&[], &[], "/302/!!HOST!end"),
    (&[], &[], "/302/http:!!HOST!end?a=b"),
    (&[], &[], "/302/http:!!HOST"),
    (&[], &[], "/302/HTTP:!!HOST!end"),
    (&[], &[], "/301/!302!!303!!307!!end"),
    (&["-I"], &["-m", "HEAD"], "/302/!303!!end"),
    (&["-d", "a=1"], &["--data-urlencode", "a=1"], "/301/!end"),
    (&["-d", "a=1"], &["--data-urlencode", "a=1"], "/302/!end"),
    (&["-d", "a=1"], &["--data-urlencode", "a=1"], "/303/!end"),
    (&["-d", "a=1"], &["--data-urlencode", "a=1"], "/307/!end"),
    (&["-d", "a=1"], &["--data-urlencode", "a=1"], "/308/!end"),
    (&["-d", "a=1"], &["--data-urlencode", "a=1"], "/308/!302!!307!!end"),
    (&["-T", "f.txt"], &["-m", "PUT", "-b", "@f.txt"], "/307/!end"),
    (&["-T", "f.txt"], &["-m", "PUT", "-b", "@f.txt"], "/302/!end"),
    (&["-T", "f.txt"], &["-m", "PUT", "-b", "@f.txt"], "/303/!end"),
    (&["-X", "DELETE"], &["-m", "DELETE"], "/302/!end"),
    (&["-u", "ana:secret"], &["-u", "ana:secret"], "/302/!end"),
    (&["-H", "X-Tag: {id}"], &["-H", "X-Tag: {id}"], "/302/!end"),
    (&["-H", "Cookie: a=1"], &["--cookie", "a=1"], "/302/http:!!HOST!end"),
];

#[test]
fn a_load_follows_as_curl_does() {
    if Command::new("curl").arg("--version").output().is_err() {
        return skip("curl: redirections are followed as curl does", "there is no curl");
    }
    let (recorder, folder) = (maze(), tempfile::tempdir().unwrap());
    super::files(folder.path());
    let mut wrong = Vec::new();
    for (of_curl, of_load, path) in SAME {
        let url = recorder.placed(&format!("http://HOST{path}"));
        let mut curl = Command::new("curl");
        curl.args(["-sS", "-L", "--globoff"]).args(of_curl).args([
            "-H",
            "User-Agent:",
            "-H",
            "Accept:",
        ]);
        let output =
            curl.arg(&url).current_dir(folder.path()).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{path}: {output:?}");
        let wanted: Vec<Normal> = recorder.taken().iter().map(|bytes| normal(bytes)).collect();
        let count = wanted.len().to_string();
        let load = ["load", &url, "--follow", "10", "-c", "1", "-n", &count];
        let more = ["--warm-up", "none", "--no-store"];
        let outcome = pippin(folder.path(), &[&load[..], of_load, &more].concat());
        let sent: Vec<Normal> = recorder.taken().iter().map(|bytes| normal(bytes)).collect();
        if sent != wanted {
            wrong.push(format!(
                "{of_curl:?} {path}\n  curl: {wanted:?}\n  load: {sent:?}\n{outcome}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The other server sees nothing: no request, and no connection.
#[test]
fn no_secret_reaches_another_origin() {
    let other = Recorder::start();
    let (recorder, folder) = (maze(), tempfile::tempdir().unwrap());
    let place = other.server.address();
    for location in [
        format!("http:!!{place}!end"),
        format!("!!{place}!end"),
        format!("http:!!ana:secret@{place}!end"),
        format!("http:!!{}@{place}!end", recorder.server.address()),
        format!("https:!!{}!end", recorder.server.address()),
    ] {
        let url = recorder.placed(&format!("http://HOST/302/{location}"));
        let secrets =
            ["-u", "ana:secret", "--cookie", "a=secret", "-H", "Proxy-Authorization: secret"];
        let load = ["load", &url, "--follow", "5", "-c", "1", "-n", "5", "--warm-up", "none"];
        let outcome = pippin(folder.path(), &[&load[..], &secrets].concat());
        outcome.exits(3).says(&["5 redirect", "redirected to another origin"]);
        let told = outcome.stdout.lines().find(|line| line.contains("redirected to")).unwrap();
        assert!(!told.contains("secret"), "{told}");
        assert_eq!(recorder.taken().len(), 5, "{location}");
    }
    assert_eq!(other.taken(), Vec::<Vec<u8>>::new());
    let account = other.server.stop().unwrap();
    assert_eq!((account.connections, account.bytes_in), (0, 0));
}

#[test]
fn what_cannot_be_followed_is_refused_with_what_can() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("all.jsonl"), "{\"path\": \"/\"}\n").unwrap();
    let refused: [(&[&str], &str); 6] = [
        (&["ws://127.0.0.1:9/"], "a WebSocket has no redirections"),
        (&["https://127.0.0.1:9/", "--http2"], "over HTTP/1.1"),
        (&["http://127.0.0.1:9/", "--h2c"], "over HTTP/1.1"),
        (&["http://127.0.0.1:9/", "--pipeline", "2"], "leave out --pipeline"),
        (
            &["http://127.0.0.1:9/", "--requests", "all.jsonl"],
            "write the requests of the file as its steps",
        ),
        (&["http://127.0.0.1:9/", "--follow", "51"], "51"),
    ];
    for (flags, words) in refused {
        let follow: &[&str] = if flags.contains(&"--follow") { &[] } else { &["--follow", "3"] };
        pippin(folder.path(), &[&["load"], flags, follow].concat()).is_a_user_error(&[words]);
    }
}

/// A scenario whose first step leads to its end over two redirections.
const CHAIN: &str =
    "[[steps]]\nname = \"old\"\nget = \"/301/!302!!end\"\nexpect = { status = 200 }\n";

/// `follow` in the file of a scenario is `--follow`, which overrides it.
#[test]
fn a_scenario_may_say_that_its_users_follow() {
    let (recorder, folder) = (maze(), tempfile::tempdir().unwrap());
    let url = recorder.placed("http://HOST");
    let load = |text: &str, flags: &[&str]| {
        std::fs::write(folder.path().join("s.toml"), text).unwrap();
        let load =
            ["load", &url, "--scenario", "s.toml", "-c", "1", "-n", "6", "--warm-up", "none"];
        let outcome = pippin(folder.path(), &[&load[..], flags, &["--no-store"]].concat());
        let targets = |bytes: &Vec<u8>| {
            String::from_utf8_lossy(bytes).split(' ').nth(1).unwrap_or_default().to_string()
        };
        (outcome, recorder.taken().iter().map(targets).collect::<Vec<_>>())
    };
    let walk = ["/301/!302!!end", "/302//end", "/end"];
    let whole = [walk, walk].concat();
    let says = |follow: u32| format!("follow = {follow}\n{CHAIN}");
    for (text, flags) in
        [(says(2), &[][..]), (CHAIN.into(), &["--follow", "2"]), (says(1), &["--follow", "2"])]
    {
        let (outcome, seen) = load(&text, flags);
        assert_eq!(seen, whole, "{outcome}");
    }
    let (outcome, _) = load(&says(1), &[]);
    outcome.says(&["redirected more than 1 times"]);
    let (outcome, _) = load(&says(51), &[]);
    outcome.is_a_user_error(&["s.toml:1", "follow = 51 is not from 0 to 50"]);
    let two = ["--scenario", "s.toml:1", "--scenario", "t.toml:1"];
    std::fs::write(folder.path().join("t.toml"), CHAIN).unwrap();
    std::fs::write(folder.path().join("s.toml"), says(2)).unwrap();
    pippin(folder.path(), &[&["load", &url][..], &two].concat())
        .is_a_user_error(&["`s` has `follow`", "one setting for all"]);
}

/// A plan of a server that runs already, and one of a server that is started and proved.
#[test]
fn a_workload_of_a_project_may_follow_too() {
    let (recorder, folder) = (maze(), tempfile::tempdir().unwrap());
    let project = |target: &str, workload: &str| {
        let plan = "[plan.ci]\nworkload = \"old\"\ntargets = [\"shop\"]\nrepetitions = 1\nconnections = 2\nduration = \"300ms\"\n[plan.ci.cpus]\nshare = true\n";
        let text = format!("[target.shop]\n{target}\n[workload.old]\n{workload}\n{plan}");
        std::fs::write(folder.path().join("pippin.toml"), text).unwrap();
    };
    let url = recorder.placed("url = \"http://HOST\"");
    let steps = "steps = [{ get = \"/301/!302!!end\", expect = { status = 200 } }]";
    project(&url, &format!("follow = 2\n{steps}"));
    let outcome = pippin(folder.path(), &["run", "ci", "--json", "-"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert!(recorder.taken().iter().any(|request| request.starts_with(b"GET /end ")));
    assert!(!outcome.has("\"wrong_status\""), "{outcome}");
    project(&url, "follow = 2\nrequest = { path = \"/\" }");
    pippin(folder.path(), &["run", "ci"])
        .is_a_user_error(&["pippin.toml:4", "only a user of steps follows redirections"]);
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("python3: a walk is proved with its redirections", "there is no python3");
    }
    std::fs::write(folder.path().join("shop.py"), SHOP).unwrap();
    project("command = \"python3 shop.py\"", &format!("follow = 2\n{steps}"));
    let outcome = pippin(folder.path(), &["run", "ci"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    outcome.says(&["GET /301/!302!!end"]);
    project("command = \"python3 shop.py\"", &format!("follow = 1\n{steps}"));
    pippin(folder.path(), &["run", "ci"]).exits(4).says(&["redirected more than 1 times"]);
}

/// The maze by Python's standard library, for the one chain.
const SHOP: &str = r#"
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PLACES = {"/301/!302!!end": (301, "/302//end"), "/302//end": (302, "/end")}

class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        status, place = PLACES.get(self.path, (200, None))
        self.send_response(status)
        if place:
            self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *arguments):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 128

Server((os.environ["HOST"], int(os.environ["PORT"])), Shop).serve_forever()
"#;
