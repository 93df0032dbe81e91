//! The server on a real socket, with a store that holds a run.
use pippin_model::example::run::hello;
use pippin_model::run::life::TargetLife;
use pippin_report::{digest, view::View};
use pippin_serve::connections::Limits;
use pippin_serve::{ServeError, Server, serve};
use pippin_store::Store;
use pippin_testing::skipped::skip;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const RUN: &str = "20261121-203539-hello";
const TOKEN: &str = "a-token-of-24-characters";

/// Whether the store holds the digest of the run that has ended. The server makes missing ones in the background, so
/// that two readings of a page differ for a moment.
#[derive(Clone, Copy, PartialEq)]
enum Digests {
    Kept,
    Missing,
}

/// A server under test, stopped when it goes out of scope.
struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
    _folder: tempfile::TempDir,
}

impl Running {
    fn start(bind: &str, token: Option<&str>) -> Self {
        Self::with(bind, token, Limits::default(), Digests::Kept)
    }

    fn limited(bind: &str, token: Option<&str>, limits: Limits) -> Self {
        Self::with(bind, token, limits, Digests::Kept)
    }

    fn with(bind: &str, token: Option<&str>, limits: Limits, digests: Digests) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("pippin.db")).unwrap();
        let mut record = hello();
        record.trials.truncate(2);
        store.begin(&record.header).unwrap();
        for (number, trial) in (0..).zip(&record.trials) {
            store.add_trial(RUN, number, trial).unwrap();
        }
        let life = TargetLife {
            start_ns: Some(12_300_000),
            ..TargetLife::new("rust/axum".parse().unwrap())
        };
        store.add_life(RUN, &life).unwrap();
        store.end(RUN, record.state, 1).unwrap();
        // A second run, still under way.
        record.header.id = "20261122-080000-hello".into();
        record.header.started_unix_ns += 1;
        store.begin(&record.header).unwrap();
        store.add_trial(&record.header.id, 0, &record.trials[0]).unwrap();
        if digests == Digests::Kept {
            let digest = digest::from_view(&View::of(&store.load(RUN).unwrap()));
            store.keep_digest(RUN, &digest).unwrap();
        }
        let server = Server::bind(store, bind.parse().unwrap(), token.map(Into::into))
            .unwrap()
            .with_limits(limits);
        let (address, stop) = (server.address(), Arc::new(AtomicBool::new(false)));
        let seen = Arc::clone(&stop);
        Self {
            address,
            stop,
            thread: Some(std::thread::spawn(move || server.run(&seen))),
            _folder: folder,
        }
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.address.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn runs_are_listed_filtered_and_shown() {
    let server = Running::start("127.0.0.1:0", None);
    let list = server.get("/");
    assert!(
        list.starts_with("HTTP/1.1 200")
            && list.contains(&format!("/runs/{RUN}"))
            && list.contains("2 of 2 runs"),
        "{list}"
    );
    assert!(list.to_lowercase().contains("content-security-policy: default-src 'none'"));
    let filtered = server.get("/?q=hello+world&plan=&state=running");
    assert!(filtered.contains("1 of 2 runs") && filtered.contains("20261122-080000-hello"));
    assert!(server.get("/?q=nothing").contains("No run matches."));
    let run = server.get(&format!("/runs/{RUN}"));
    assert!(run.contains("rust/axum") && run.contains("<svg") && run.contains("id=\"results\""));
    assert!(!run.to_lowercase().contains("\r\nrefresh:"), "a finished run does not change");
}

#[test]
fn the_page_of_a_run_under_way_asks_again() {
    let server = Running::start("127.0.0.1:0", None);
    let run = server.get("/runs/20261122-080000-hello");
    assert!(
        run.to_lowercase().contains("\r\nrefresh: 3\r\n") && run.contains("still under way"),
        "{}",
        &run[..400]
    );
}

#[test]
fn every_form_and_chart_is_given_out() {
    let server = Running::start("127.0.0.1:0", None);
    for (form, part) in [
        ("markdown", "## Hello World"),
        ("csv", "goodput_per_s"),
        ("json", "\"schema\": 1"),
        ("hlog", "#[StartTime"),
        ("prometheus", "# TYPE pippin_goodput"),
    ] {
        let answer = server.get(&format!("/runs/{RUN}/export/{form}"));
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(part), "{form}");
    }
    let chart = server.get(&format!("/runs/{RUN}/charts/throughput.svg"));
    assert!(
        chart.contains("image/svg+xml") && chart.contains("<title>Requests per second</title>")
    );
    let picture = server.get(&format!("/runs/{RUN}/charts/throughput.png?dark"));
    assert!(picture.contains("image/png") && picture.contains("PNG\r\n"), "{}", &picture[..400]);
    assert!(server.get(&format!("/runs/{RUN}/charts/none.png")).starts_with("HTTP/1.1 404"));
    assert!(server.get(&format!("/runs/{RUN}/charts/none.svg")).starts_with("HTTP/1.1 404"));
    assert!(server.get(&format!("/runs/{RUN}/export/xml")).contains("there are markdown, csv"));
}

#[test]
fn two_runs_stand_side_by_side_and_a_target_has_its_history() {
    let server = Running::start("127.0.0.1:0", None);
    let compared = server.get(&format!("/compare?run={RUN}&run=20261122-080000-hello"));
    assert!(
        compared.contains("goodput")
            && compared.contains("+0.0 %")
            && compared.contains("rust/axum"),
        "{compared}"
    );
    assert!(
        compared.contains(
            "B (run 20261122-080000-hello) is still under way: its figures come from 1 trial."
        ),
        "{compared}"
    );
    assert!(!compared.contains(&format!("A (run {RUN})")), "A was finished");
    assert!(server.get("/compare").contains("Choose two or more runs"));
    let history = server.get("/history?target=rust/axum");
    assert!(
        history.contains("Plan hello")
            && history.contains(RUN)
            && history.contains("20261122-080000-hello")
    );
    let (_, starts) = history.split_once("Starts, memory and ends").unwrap();
    assert!(starts.contains("data-value=\"12300000\">12.3 ms<"), "{starts}");
    assert!(!server.get("/history?target=go/net-http").contains("Starts, memory and ends"));
    assert!(server.get("/history?target=go/none").contains("No trial of this target"));
    assert!(server.get("/history?target=rust/axum&page=2").contains("Page 1 has the oldest"));
    assert!(server.get("/history?target=rust/axum&page=0").starts_with("HTTP/1.1 400"));
}

#[test]
fn any_number_of_runs_is_compared_with_the_first() {
    let server = Running::start("127.0.0.1:0", None);
    let run = format!("run={RUN}");
    let compared = server.get(&format!("/compare?{run}&run=20261122&{run}"));
    for part in ["All together", "B against A", "C against A", "still under way"] {
        assert!(compared.contains(part), "{part}: {compared}");
    }
    let many = vec![run; 9].join("&");
    assert!(server.get(&format!("/compare?{many}")).starts_with("HTTP/1.1 400"));
}

/// Loads a page until it has this part. The server makes digests in the background, so a page may
/// need a moment.
fn until(server: &Running, path: &str, part: &str) -> String {
    for _ in 0..600 {
        let answer = server.get(path);
        if answer.contains(part) {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{part} never came in {path}: {}", server.get(path));
}

#[test]
fn the_list_tells_what_came_of_each_run() {
    let server = Running::with("127.0.0.1:0", None, Limits::default(), Digests::Missing);
    let list = until(&server, "/", "<polyline");
    for part in
        ["Requests/s", "rust/axum", "bench-1", "name=\"run\" value=\"20261121-203539-hello\""]
    {
        assert!(list.contains(part), "{part}: {list}");
    }
    let leaders = server.get("/leaderboard");
    assert!(leaders.contains("href=\"/leaderboard?plan=hello\""), "{leaders}");
    let board = server.get("/leaderboard?plan=hello");
    for part in ["CPU per request", "rust/axum", &format!("/runs/{RUN}"), "2026-11-21 20:35:39 UTC"]
    {
        assert!(board.contains(part), "{part}: {board}");
    }
    assert!(server.get("/leaderboard?plan=none").starts_with("HTTP/1.1 404"));
    let targets = server.get("/history");
    assert!(targets.contains("/history?target=rust/axum"), "{targets}");
    assert!(
        leaders.contains("rust/axum") && leaders.contains(&format!("/runs/{RUN}")),
        "{leaders}"
    );
}

#[test]
fn runs_are_filtered_by_what_they_were() {
    let server = Running::start("127.0.0.1:0", None);
    for (filter, kept) in [
        ("target=rust/axum", 2),
        ("target=go/none", 0),
        ("host=bench-1", 2),
        ("host=elsewhere", 0),
        ("plan=hello&state=finished", 1),
        ("q=AXUM", 2),
        ("from=2026-11-21&to=2026-11-21", 2),
        ("to=2026-11-20", 0),
        ("page=2", 2),
    ] {
        let list = server.get(&format!("/?{filter}"));
        assert!(list.contains(&format!("{kept} of 2 runs")), "{filter}: {list}");
    }
    for wrong in ["from=soon", "verdict=GOOD", "state=done", "page=0"] {
        assert!(server.get(&format!("/?{wrong}")).starts_with("HTTP/1.1 400"), "{wrong}");
    }
}

#[test]
fn it_only_shows() {
    let server = Running::start("127.0.0.1:0", None);
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let answer = server.ask(&format!("{method} /runs/{RUN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 405"), "{method}: {answer}");
    }
    for path in ["/nothing", "/runs/none", "/runs/..%2f..%2fetc%2fpasswd"] {
        assert!(server.get(path).starts_with("HTTP/1.1 404"), "{path}");
    }
    // Text from an address does not become markup.
    assert!(
        !server.get("/history?target=%3Cscript%3Ealert(1)%3C/script%3E").contains("<script>alert")
    );
}

#[test]
fn a_foreign_name_is_refused_on_loopback() {
    let server = Running::start("127.0.0.1:0", None);
    let answer = server.ask("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403") && !answer.contains(RUN), "{answer}");
}

#[test]
fn beyond_loopback_a_token_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(&folder.path().join("p.db")).unwrap();
    let everywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let stop = AtomicBool::new(true);
    assert!(matches!(serve(open(), everywhere, None, &stop), Err(ServeError::TokenNeeded(_))));
    assert!(matches!(
        serve(open(), everywhere, Some("short".into()), &stop),
        Err(ServeError::TokenTooShort)
    ));

    let server = Running::start("0.0.0.0:0", Some(TOKEN));
    let refused = server.get("/");
    assert!(refused.starts_with("HTTP/1.1 401") && !refused.contains(RUN));
    let with = |header: &str| {
        server
            .ask(&format!("GET / HTTP/1.1\r\nHost: bench\r\n{header}\r\nConnection: close\r\n\r\n"))
    };
    assert!(with(&format!("Authorization: Bearer {TOKEN}")).contains(RUN));
    assert!(with(&format!("Cookie: pippin_token={TOKEN}")).contains(RUN));
    assert!(with("Authorization: Bearer wrong-token-of-24-chars").starts_with("HTTP/1.1 401"));
    let first = server.get(&format!("/?token={TOKEN}"));
    assert!(
        first.contains(RUN)
            && first
                .to_lowercase()
                .contains(&format!("set-cookie: pippin_token={TOKEN}; httponly"))
    );
}

#[test]
fn a_port_in_use_is_named() {
    let server = Running::start("127.0.0.1:0", None);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let error = Server::bind(store, server.address, None).unwrap_err().to_string();
    assert!(error.contains(&server.address.to_string()) && error.contains("--bind"), "{error}");
}

#[test]
fn it_stops_although_a_browser_keeps_its_connection() {
    // An address of this test alone: on 127.0.0.1 another test may get the port once it is free.
    let mut server = Running::start("127.0.9.3:0", None);
    let mut kept = TcpStream::connect(server.address).unwrap();
    kept.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 12];
    kept.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let asked = Instant::now();
    server.stop.store(true, Ordering::Relaxed);
    server.thread.take().unwrap().join().unwrap().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    // A process that another test starts has the listener too, from its fork(2) to its execve(2).
    let is_free = |_| {
        std::thread::sleep(Duration::from_millis(10));
        TcpStream::connect_timeout(&server.address, Duration::from_millis(500)).is_err()
    };
    assert!((0..500).any(is_free), "the port is free again");
}

/// Everything until the server closes. Fails if it does not close within 20 s.
fn until_closed(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        // The server closed while bytes of the request were unread.
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("not closed: {error}"),
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_thousand_slow_connections_hold_up_nobody_and_are_closed() {
    // They may stay as long as they like: only others end them.
    let limits = Limits { connections: 100, head: Duration::from_secs(60), ..Limits::default() };
    let server = Running::limited("127.0.0.1:0", None, limits);
    let half = |_| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
        stream
    };
    let flood: Vec<TcpStream> = (0..1_000).map(half).collect();
    for _ in 0..3 {
        assert!(server.get("/").starts_with("HTTP/1.1 200"), "it answers beside 1,000 of them");
    }
    // Each that made room was closed: all but the last 100.
    let answers: Vec<String> = flood.into_iter().take(890).map(until_closed).collect();
    assert!(answers.iter().all(|answer| !answer.starts_with("HTTP/1.1 200")));
}

#[test]
fn no_more_connections_are_kept_than_the_bound() {
    let limits = Limits { connections: 3, ..Limits::default() };
    let server = Running::limited("127.0.0.1:0", None, limits);
    let ask = || {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (stream, String::from_utf8_lossy(&status).into_owned())
    };
    let kept: Vec<_> = (0..5).map(|_| ask()).collect();
    let statuses: Vec<&str> = kept.iter().map(|(_, status)| &status[9..]).collect();
    assert_eq!(statuses, ["204"; 5]);
    // The oldest without a request made room.
    for (oldest, _) in kept.into_iter().take(2) {
        until_closed(oldest);
    }
}

#[test]
fn idle_and_old_connections_are_closed() {
    for limits in [
        Limits { head: Duration::from_secs(1), ..Limits::default() },
        Limits { life: Duration::from_secs(1), ..Limits::default() },
    ] {
        let server = Running::limited("127.0.0.1:0", None, limits);
        let mut idle = TcpStream::connect(server.address).unwrap();
        idle.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        assert!(until_closed(idle).starts_with("HTTP/1.1 200"));
    }
}

#[test]
fn wrong_tokens_are_limited() {
    let server = Running::start("0.0.0.0:0", Some(TOKEN));
    for _ in 0..20 {
        assert!(server.get("/").starts_with("HTTP/1.1 401"), "no token is no guess");
    }
    let statuses: Vec<String> = (0..12)
        .map(|guess| server.get(&format!("/?token=wrong-token-{guess:08}"))[9..12].into())
        .collect();
    assert_eq!(statuses[..10], ["401"; 10]);
    assert_eq!(statuses[10..], ["429"; 2]);
    let right = server.get(&format!("/?token={TOKEN}"));
    assert!(right.starts_with("HTTP/1.1 429") && !right.contains(RUN), "{right}");
    assert!(right.to_lowercase().contains("\r\nretry-after: 60\r\n"), "{right}");
}

#[test]
fn every_answer_has_the_security_headers() {
    let server = Running::start("0.0.0.0:0", Some(TOKEN));
    let with_token = |path: &str| server.get(&format!("{path}?token={TOKEN}"));
    for answer in [
        server.get("/"),
        with_token("/"),
        with_token("/nothing"),
        with_token("/metrics"),
        with_token(&format!("/runs/{RUN}")),
        with_token(&format!("/runs/{RUN}/export/csv")),
        with_token(&format!("/runs/{RUN}/charts/throughput.svg")),
    ] {
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(head.contains(header), "{header}: {head}");
        }
    }
}

/// Curl is the judge: what it unpacks is what others get plain, and the long pages become short. The
/// pages of one answer hold no time, so they can be compared.
#[test]
fn answers_are_compressed_for_those_who_ask() {
    let server = Running::start("127.0.0.1:0", None);
    let curl = |path: &str, more: &[&str]| {
        let url = format!("http://127.0.0.1:{}{path}", server.address.port());
        let asked = Command::new("curl")
            .args(["-sS", "-w", "\n%{size_download}", &url])
            .args(more)
            .output();
        let text = String::from_utf8(asked.ok()?.stdout).unwrap();
        let (body, size) = text.rsplit_once('\n')?;
        Some((body.to_string(), size.parse::<u64>().unwrap()))
    };
    for path in [
        "/".to_string(),
        format!("/runs/{RUN}"),
        format!("/runs/{RUN}/export/json"),
        "/history".into(),
    ] {
        let Some((plain, long)) = curl(&path, &[]) else {
            return skip("answers_are_compressed_for_those_who_ask", "curl is not installed here");
        };
        let (unpacked, short) = curl(&path, &["--compressed"]).unwrap();
        assert!(plain == unpacked, "{path} differs");
        assert_eq!(long, plain.len() as u64, "{path} came compressed although nobody asked");
        assert!(long < 10_000 || short * 2 < long, "{path}: {short} of {long} bytes");
    }
}
