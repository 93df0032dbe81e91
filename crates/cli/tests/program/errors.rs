//! Mistakes on the command line: exit code 2, and a message with the place and the fix.
use super::support::{Checkout, plan};
use pippin_testing::scripted::{Answer, OnConnect, Refusing, Script, Unaccepting, spawn};

/// This call is refused with these texts.
#[track_caller]
fn refused(checkout: &Checkout, arguments: &[&str], texts: &[&str]) {
    let outcome = checkout.pippin(arguments);
    assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome}");
    outcome.is_a_user_error(texts);
}

#[test]
fn unknown_names_come_with_the_nearest_known_one() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("hello", "hello", &["test/it"]);
    for (arguments, texts) in [
        (
            &["run", "helo"][..],
            &["there is no plan `helo`; did you mean `hello`? (there are: hello)"][..],
        ),
        (&["run", "plans/none.toml"], &["plans/none.toml", "No such file"]),
        (
            &["run", "hello", "--targets", "test/ti"],
            &["there is no target `test/ti`; did you mean `test/it`?"],
        ),
        (&["run", "hello", "--targets", "test/it:fast"], &["there is no variant `test/it:fast`"]),
        (
            &["run", "hello", "--targets", "tset"],
            &["`tset` is not the name of a target", "did you mean test?"],
        ),
        (
            &["targets", "check", "test/ti"],
            &["there is no target `test/ti`; did you mean `test/it`?"],
        ),
        (
            &["targets", "install", "../etc"],
            &["`../etc` is not the name of a target; write it like go/net-http"],
        ),
        (
            &["targets", "check", "test/it", "--workloads", "helo"],
            &["there is no workload `helo`; did you mean `hello`? (there are: ", ", hello, hola, "],
        ),
        (
            &["targets", "new", "chi"],
            &["`chi` is not the name of a target; write it like go/net-http"],
        ),
        (&["targets", "new", "test/it"], &["targets/test/it exists already"]),
        (&["report", "20200101"], &["there is no run `20200101`; `pippin history` lists them"]),
        (&["history", "test/it", "--html", "page.html", "-n", "3"], &["cannot be used with"]),
        (&["history", "test/it", "--json", "-", "-n", "3"], &["cannot be used with"]),
        (&["history", "--json", "-"], &["<TARGET>"]),
        (&["reprot", "latest"], &["unrecognized subcommand 'reprot'", "'report'"]),
        (&["run", "hello", "--quik"], &["unexpected argument '--quik'", "'--quick'"]),
        (
            &["load", "http://127.0.0.1:1/", "--conections", "3"],
            &["unexpected argument '--conections'", "'--connections'"],
        ),
        (&["completions", "tcsh"], &["invalid value 'tcsh'", "bash"]),
    ] {
        refused(&checkout, arguments, texts);
    }
}

#[test]
fn options_that_do_not_go_with_the_plan_are_refused() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("hello", "hello", &["test/it"]);
    checkout.write(
        "plans/devices.toml",
        &plan("hello", &["test/it"], "kind = \"devices\"\ndevices = 10\nramp_up = \"1s\"\nsustain = \"1s\"\nramp_down = \"1s\"\n"),
    );
    for (arguments, texts) in [
        (
            &["run", "hello", "--scale", "1/10"][..],
            &["plans/hello.toml: --scale goes with device plans only; this one is `closed`"][..],
        ),
        (
            &["run", "devices", "--scale", "0"],
            &["--scale", "`0` is not a fraction; write it like 1/10 or 0.1"],
        ),
        (&["run", "devices", "--scale", "1/0"], &["--scale", "`1/0` is not a fraction"]),
        (&["run", "devices", "--scale", "NaN"], &["--scale", "`NaN` is not a fraction"]),
        (&["run", "devices", "--scale", "ten"], &["--scale", "`ten` is not a fraction"]),
        (
            &["run", "hello", "--ramp", "1s,1s,1s"],
            &["--ramp goes with device plans only; this one is `closed`"],
        ),
        (
            &["run", "hello", "--think", "1s"],
            &["--think goes with device plans only; this one is `closed`"],
        ),
        (
            &["run", "devices", "--ramp", "1s,1s"],
            &["--ramp", "`1s,1s` needs three times, UP,SUSTAIN,DOWN"],
        ),
        (&["run", "devices", "--ramp", "1s,x,1s"], &["--ramp", "`x`"]),
        (&["run", "devices", "--think", "soon"], &["--think", "`soon`"]),
        (&["run", "hello", "--repeat", "0"], &["invalid value '0' for '--repeat <N>'"]),
        (&["run", "hello", "--yes"], &["--install"]),
        (&["targets", "check"], &["<TARGET"]),
        (&["targets", "check", "test/it", "--all"], &["cannot be used with"]),
    ] {
        refused(&checkout, arguments, texts);
    }
}

#[test]
fn urls_that_cannot_be_loaded() {
    let checkout = Checkout::new();
    let nobody = Refusing::new().unwrap();
    let refusing = format!("http://{}/", nobody.address());
    for (url, texts) in [
        (
            "ftp://127.0.0.1/",
            &[
                "only http, https, ws and wss URLs can be loaded; write it like http://127.0.0.1:8080/path",
            ][..],
        ),
        ("ftp://127.0.0.1/", &["only http, https, ws and wss URLs can be loaded"]),
        ("http://", &["it has no host"]),
        ("http://:80/", &["it has no host"]),
        ("http:///path", &["it has no host"]),
        ("http://127.0.0.1:99999/", &["its port is not a number from 1 to 65535"]),
        ("http://127.0.0.1:0/", &["its port is not a number from 1 to 65535"]),
        ("http://127.0.0.1:http/", &["its port is not a number from 1 to 65535"]),
        ("http://me@127.0.0.1/", &["a user in the URL is not sent; use -H 'Authorization: ...'"]),
        ("http://127.0.0.1/a b", &["its path must be percent-encoded ASCII"]),
        ("http://127.0.0.1/ä", &["its path must be percent-encoded ASCII"]),
        (
            "http://192.0.2.1/",
            &[
                "`192.0.2.1` is not this machine; if you may load it, say so: --allow-host 192.0.2.1",
            ],
        ),
        (
            refusing.as_str(),
            &["nobody answers at 127.0.0.1:", "the connection was refused; is the server running?"],
        ),
    ] {
        refused(&checkout, &["load", url, "-d", "1s"], texts);
    }
    refused(
        &checkout,
        &["load", "http://192.0.2.1/", "-d", "1s", "--allow-host", "example.org"],
        &["is not this machine"],
    );
}

/// `--timeout` limits opening a connection and its handshake, also before the load.
#[test]
fn servers_that_never_accept_or_never_speak() {
    let checkout = Checkout::new();
    let full = Unaccepting::new().unwrap();
    let silent = spawn(Script::always(Answer::ok(b"hello")).on_connect(OnConnect::Ignore)).unwrap();
    let (http, https) =
        (format!("http://{}/", full.address()), format!("https://{}/", silent.address()));
    for (url, text) in [
        (http.as_str(), "no connection was open after 0.2 s; is the server running?"),
        (https.as_str(), "the handshake did not end in time"),
    ] {
        let arguments = ["load", url, "-d", "2s", "--timeout", "200ms", "--insecure"];
        let count = if url.starts_with("https") { 7 } else { 6 };
        refused(&checkout, &arguments[..count], &[text]);
    }
}

#[test]
fn numbers_times_and_headers_that_mean_nothing() {
    let checkout = Checkout::new();
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let url = format!("http://{}/", server.address());
    for (arguments, texts) in [
        (&["-c", "0"][..], &["invalid value '0' for '--connections <N>'"][..]),
        (&["-c", "99999999999999999999"], &["invalid value '99999999999999999999'"]),
        (
            &["-c", "2", "-t", "3", "-d", "1s"],
            &["3 threads for 2 connections", "use at most 2 threads"],
        ),
        (&["-t", "0"], &["invalid value '0' for '--threads <N>'"]),
        (
            &["-c", "10", "-n", "3"],
            &["3 requests for 10 connections", "ask for at most 3 connections"],
        ),
        (&["-n", "0"], &["invalid value '0' for '--count <N>'"]),
        (&["-n", "-5"], &["-5"]),
        (
            &["-d", "ten"],
            &["--duration <TIME>", "`ten` is not a duration; write it like \"900ms\", \"10s\""],
        ),
        (&["-d", "0s"], &["--duration <TIME>", "must be longer than 0"]),
        (&["-d", "10 parsecs"], &["`10 parsecs` is not a duration"]),
        (&["-d", "99999999999h"], &["is not a duration"]),
        (&["-R", "NaN"], &["'NaN' for '--rate <RATE>'", "must be above 0"]),
        (
            &["-R", "inf"],
            &["'--rate <RATE>'", "must be above 0 and at most 100 million requests per second"],
        ),
        (&["-R", "0"], &["'0' for '--rate <RATE>'", "must be above 0"]),
        (&["-R=-5"], &["'-5' for '--rate <RATE>'", "must be above 0"]),
        (&["-R", "fast"], &["invalid value 'fast'"]),
        (&["-H", "Accept"], &["--header <FIELD>", "`Accept` is not NAME: VALUE"]),
        (
            &["-H", "X-Name: a\u{7}b"],
            &["value of header `X-Name` must hold no line breaks or other control characters"],
        ),
        (&["-H", "X Name: a"], &["header name `X Name` must hold letters"]),
        (&["-H", "Content-Length: 5"], &["header `Content-Length` is set by Pippin"]),
        (&["-m", "GE T"], &["method `GE T` must be a word like GET or POST"]),
        (&["--expect-status", "99"], &["from 100 to 599 like 200, 2xx or 200-204"]),
        (&["--expect-status", "ok"], &["invalid value 'ok'"]),
        (&["--think", "a while"], &["--think <TIME>", "`a while` is not a duration with jitter"]),
        (&["--timeout", "0s"], &["--timeout <TIME>", "must be longer than 0"]),
        (&["--timeout", "2h"], &["the timeout of requests is", "at most 1 hour"]),
        (&["--timeout", "500us"], &["the timeout of requests is 500 µs", "at least 1 ms"]),
        (&["--cpus", "4096"], &["--cpus"]),
        (&["--cpus", "one"], &["--cpus"]),
        (&["--source-ips", "192.0.2.7", "-d", "1s"], &["192.0.2.7"]),
        (&["--source-ips", "here"], &["invalid value 'here'"]),
        (
            &["--sweep", "8..1"],
            &["--sweep <LIST>", "`8..1` is neither a list (1,2,4,8) nor a doubling range (1..512)"],
        ),
        (&["--sweep", "4,2"], &["--sweep <LIST>", "must be ascending"]),
        (&["--objective", "fast"], &["--objective"]),
        (
            &["--warm-up", "soon"],
            &["--warm-up <TIME>", "`soon` is not a duration", "(or \"auto\", \"none\")"],
        ),
        (&["--io", "kqueue"], &["invalid value 'kqueue'", "epoll"]),
        (
            &["--json", "no/such/folder/out.json", "-d", "1s"],
            &["--json: there is no folder no/such/folder"],
        ),
        (&["-m", "HEAD", "--expect-body", "x", "-d", "1s"], &["an answer to HEAD has no body"]),
    ] {
        let all = [&["load", url.as_str()], arguments].concat();
        refused(&checkout, &all, texts);
    }
    assert_eq!(server.stop().unwrap().requests, 0, "nothing was sent");
}

#[test]
fn flags_that_exclude_each_other() {
    let checkout = Checkout::new();
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let url = format!("http://{}/", server.address());
    for (arguments, texts) in [
        (&["-d", "1s", "-n", "10"][..], &["cannot be used with"][..]),
        (&["-R", "10", "-n", "10"], &["do not go together"]),
        (&["-R", "10", "--think", "1s"], &["cannot be used with"]),
        (&["--poisson"], &["--rate"]),
        (&["--devices", "10"], &["--ramp"]),
        (&["--devices", "10", "--ramp", "1s,1s,1s", "-c", "5"], &["do not go together"]),
        (
            &["--devices", "10", "--ramp", "1s"],
            &["devices need three times, UP,SUSTAIN,DOWN, as 10s,30s,10s"],
        ),
        (&["--requests-per-device", "5"], &["--devices"]),
        (
            &["--ramp", "1s"],
            &["--ramp has no effect with a closed loop; it goes with -R or --devices"],
        ),
        (&["--sweep", "1,2", "-c", "3"], &["cannot be used with"]),
        (&["--sweep", "1,2", "--ramp", "1s"], &["--ramp has no effect with --sweep"]),
        (&["-R", "10", "--warm-up", "1s"], &["--warm-up has no effect with -R"]),
        (&["-n", "20", "--warm-up", "1s"], &["--warm-up has no effect with a number of requests"]),
        (&["--pipeline", "4", "--no-keep-alive"], &["cannot be used with"]),
        (&["--no-keep-alive", "--requests-per-connection", "5"], &["cannot be used with"]),
        (&["--spin", "50us", "-d", "1s"], &["a spin time does not go with this schedule"]),
        (
            &["--insecure", "-d", "1s"],
            &["--insecure has no effect with http://; leave it out, or write https://"],
        ),
        (&["--ca", "root.pem", "-d", "1s"], &["--ca has no effect with http://"]),
        (
            &["--server-name", "example.org", "-d", "1s"],
            &["--server-name has no effect with http://"],
        ),
        (&["--tls-resume", "-d", "1s"], &["--tls-resume has no effect with http://"]),
        (&["--ca", "root.pem", "--insecure"], &["cannot be used with"]),
        (&["--http2"], &["--http2 is negotiated in TLS", "--h2c"]),
        (&["--streams", "4"], &["--streams has no effect over HTTP/1.1", "--h2c"]),
        (
            &["--h2c", "--pipeline", "4"],
            &["--pipeline has no effect over HTTP/2", "streams", "write --streams"],
        ),
        (&["--h2c", "--streams", "4", "--no-keep-alive"], &["cannot be used with"]),
        (&["--h2c", "-H", "Connection: close", "-n", "10"], &["HTTP/2 has no header `connection`"]),
    ] {
        let all = [&["load", url.as_str()], arguments].concat();
        refused(&checkout, &all, texts);
    }
    assert_eq!(server.stop().unwrap().requests, 0, "nothing was sent");
}

#[test]
fn an_argument_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_pippin"))
        .args(["run".as_ref(), std::ffi::OsStr::from_bytes(b"\xff\xfe")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("invalid UTF-8"), "{output:?}");
}

#[test]
fn a_variable_that_names_no_checkout_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = super::support::command(folder.path(), &["targets", "list"]);
    command.env("PIPPIN_HOME", folder.path());
    let outcome = super::support::Started::spawn(&mut command).finish();
    outcome.is_a_user_error(&["PIPPIN_HOME is", "set it to a checkout of Pippin"]);
}

#[test]
fn a_store_that_is_something_else_is_left_as_it_is() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("hello", "hello", &["test/it"]);
    let text = checkout.write("notes.txt", &"my notes\n".repeat(500));
    let other = checkout.path().join("notes.txt").display().to_string();
    for arguments in [&["history"][..], &["report"], &["run", "hello", "--install"]] {
        let all = [&["--store", other.as_str()], arguments].concat();
        let outcome = super::support::pippin(checkout.path(), &all);
        outcome.is_a_user_error(&[
            "notes.txt is not a database of Pippin's",
            "name another one with --store",
        ]);
    }
    assert_eq!(std::fs::read_to_string(text).unwrap(), "my notes\n".repeat(500));
}

#[test]
fn a_damaged_store_is_named_and_left_as_it_is() {
    let checkout = Checkout::with_cheat("exits", &["hello"]);
    checkout.add_plan("hello", "hello", &["test/it"]);
    checkout.pippin(&["run", "hello", "--install"]).exits(4);
    let path = checkout.store_path();
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let mut bytes = std::fs::read(&path).unwrap();
    let from = 4096;
    assert!(bytes.len() > 3 * from, "{}", bytes.len());
    bytes[from..].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();
    checkout
        .pippin(&["history"])
        .is_a_user_error(&["pippin.db is not a database of Pippin's", "it was not changed"]);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_store_in_an_impossible_place_is_named() {
    let checkout = Checkout::new();
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let url = format!("http://{}/", server.address());
    let store = ["--store", "/proc/none/pippin.db"];
    let pippin =
        |command: &[&str]| super::support::pippin(checkout.path(), &[&store[..], command].concat());
    pippin(&["load", &url, "-n", "10", "--warm-up", "none"]).exits(4).says(&["/proc/none"]);
    // Whoever only reads makes no store.
    pippin(&["history"]).exits(0).says(&["No run is kept in /proc/none/pippin.db"]);
}
