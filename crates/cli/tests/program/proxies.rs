//! `pippin load --proxy`: what a proxy is asked, what the server gets, and what is said of both. The
//! judges are curl and tinyproxy.
use super::curl::Recorder;
use super::support::{Outcome, Started, command, pippin, until};
use pippin_testing::frames;
use pippin_testing::messages;
use pippin_testing::proxy::{Proxy, ProxyBehaviour};
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::skipped::skip;
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use serde_json::Value;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn load(folder: &Path, arguments: &[&str]) -> Outcome {
    pippin(
        folder,
        &[&["load", "-n", "20", "-c", "2", "--quiet", "--json", "-"], arguments].concat(),
    )
}

/// A front of TLS before this server, for any name.
fn secured(server: SocketAddr, alpn: &'static str) -> Front {
    let config = Authority::new().server(&Certified { alpn: vec![alpn], ..Certified::default() });
    Front::spawn(server, config, FrontBehaviour::default()).unwrap()
}

/// The head that curl sends to the proxy, without what curl alone says of itself.
fn of_curl(proxy: &Proxy, url: &str) -> Option<String> {
    let through = format!("http://ana:s%40cret@{}", proxy.address);
    let mut curl = Command::new("curl");
    curl.args(["-sSk", "--noproxy", "", "-x", &through, "-H", "User-Agent:", "-H", "Accept:", url]);
    let output = curl.stdin(Stdio::null()).output().ok()?;
    assert!(output.status.success(), "{output:?}");
    let heads = proxy.taken();
    let [head] = &heads[..] else { panic!("{heads:?}") };
    let own =
        |line: &&str| !line.starts_with("User-Agent:") && !line.starts_with("Proxy-Connection:");
    let mut lines: Vec<&str> = head.lines().filter(own).collect();
    lines.sort_unstable();
    Some(lines.join("\n"))
}

fn sorted(head: &str) -> String {
    let mut lines: Vec<&str> = head.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// What the proxy is asked is what curl asks it. The server gets no credentials, in the clear and
/// through a tunnel; and no record has them.
#[test]
fn a_proxy_is_asked_as_curl_asks_it_and_only_it_gets_the_credentials() {
    let (folder, recorder) = (tempfile::tempdir().unwrap(), Recorder::start());
    let proxy = Proxy::start(ProxyBehaviour::Opens).unwrap();
    let front = secured(recorder.server.address(), "http/1.1");
    let through = format!("http://ana:s%40cret@{}", proxy.address);
    let plain = format!("http://{}/a?b=c", recorder.server.address());
    let over_tls = format!("https://{}/a?b=c", front.address());
    for (url, alike) in [(plain, 20), (over_tls, 2)] {
        let wanted = of_curl(&proxy, &url);
        recorder.taken();
        let flags: &[&str] = if url.starts_with("https") { &["--insecure"] } else { &[] };
        let outcome = load(folder.path(), &[&[&url, "--proxy", &through], flags].concat());
        let json = outcome.all_good(20);
        assert_eq!(json["proxy"]["authority"], proxy.address.to_string());
        let heads = proxy.taken();
        assert!(heads.len() >= alike, "{heads:?}");
        match wanted {
            Some(wanted) => {
                assert!(heads.iter().all(|head| sorted(head) == wanted), "{heads:?}\n{wanted}")
            }
            None => skip("curl: a proxy is asked as curl asks it", "there is no curl"),
        }
        assert!(
            heads.iter().all(|head| head.contains("Proxy-Authorization: Basic YW5hOnNAY3JldA=="))
        );
        for request in recorder.taken() {
            let request = String::from_utf8(request).unwrap();
            assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{request}");
            assert!(!request.to_lowercase().contains("proxy"), "{request}");
        }
        assert!(!outcome.stdout.contains("cret") && !outcome.stderr.contains("cret"), "{outcome}");
    }
    assert_no_file_has(folder.path(), &["s@cret", "s%40cret", "YW5hOnNAY3JldA"]);
}

/// Whatever Pippin has left in a folder, its store too.
pub(super) fn assert_no_file_has(folder: &Path, secrets: &[&str]) {
    let mut folders = vec![folder.to_path_buf()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map_while(Result::ok) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            let found = secrets.iter().find(|secret| text.contains(**secret));
            assert_eq!(found, None, "{}", entry.path().display());
            files += 1;
        }
    }
    assert!(files > 0, "the load was kept");
}

/// One message before a load, where the proxy opens no tunnel; and the reasons of what is refused.
#[test]
fn what_goes_through_no_proxy_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refuses = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
    let proxy = Proxy::start(ProxyBehaviour::SaysAndCloses(refuses)).unwrap();
    let through = format!("http://{}", proxy.address);
    let refused = |arguments: &[&str], texts: &[&str]| {
        load(folder.path(), arguments).is_a_user_error(texts);
    };
    refused(
        &["https://localhost:1/", "--proxy", &through],
        &[
            &format!("the proxy at {} opened no tunnel to localhost:1", proxy.address),
            "status 407: `HTTP/1.1 407 Proxy Authentication Required` (--proxy)",
        ],
    );
    let url = "http://localhost/";
    refused(&[url, "--proxy", "http://127.0.0.1:1"], &["--proxy: nobody answers at 127.0.0.1:1"]);
    refused(
        &[url, "--proxy", "https://a:secret@h:1"],
        &["--proxy: a proxy is reached without TLS"],
    );
    refused(&["http://example.org/", "--proxy", &through], &["--allow-host example.org"]);
    refused(&[url, "--proxy", "http://192.0.2.1:80"], &["--proxy: `192.0.2.1`", "--allow-host"]);
    for (flag, value) in [
        ("--unix-socket", "s"),
        ("--connect-to", "::a:"),
        ("--proxy-protocol", "v1"),
        ("--agents", "2"),
    ] {
        refused(&[url, "-x", &through, flag, value], &["--proxy", flag]);
    }
    refused(&[url, "-x", &through, "-H", "Host: a"], &["the proxy takes the host from the URL"]);
    refused(
        &[url, "-x", &through, "-H", "Proxy-Authorization: Basic x"],
        &["give name and password with the proxy"],
    );
}

/// What is rendered for each sending has the absolute form too: the steps of users who follow
/// redirections, with their cookies, and requests with a name.
#[test]
fn a_proxy_reads_what_is_made_for_each_sending() {
    let (folder, proxy) =
        (tempfile::tempdir().unwrap(), Proxy::start(ProxyBehaviour::Opens).unwrap());
    let recorder = Recorder::answering(|target| match target {
        "/old" => Answer::new(302, b"").header("Location: /new?a").header("Set-Cookie: id=7"),
        _ => Answer::ok(b"ok"),
    });
    let (url, through) = (recorder.placed("http://HOST"), format!("http://{}", proxy.address));
    let steps = "cookies = true\nfollow = 1\n[[steps]]\nget = \"/old\"\n";
    std::fs::write(folder.path().join("s.toml"), steps).unwrap();
    load(folder.path(), &[&url, "--scenario", "s.toml", "-x", &through]).all_good(20);
    let heads = proxy.taken();
    let count = |line: String| heads.iter().filter(|head| head.starts_with(&line)).count();
    let old = count(format!("GET {url}/old HTTP/1.1\r\n"));
    let new = count(format!("GET {url}/new?a HTTP/1.1\r\n"));
    // Each of the two users may be within a walk when the last request is sent.
    assert!(old + new == 20 && (10..=11).contains(&old), "{heads:?}");
    let with_cookie = heads.iter().filter(|head| head.contains("Cookie: id=7\r\n")).count();
    assert_eq!(with_cookie, new, "{heads:?}");
    load(folder.path(), &[&url, "--request-id", "--slowest", "3", "-x", &through]).all_good(20);
    let heads = proxy.taken();
    let line = format!("GET {url}/ HTTP/1.1\r\n");
    let named = |head: &String| head.starts_with(&line) && head.contains("X-Request-Id: ");
    assert!(
        heads.len() >= 20 && heads.iter().filter(|head| named(head)).count() >= 20,
        "{heads:?}"
    );
}

/// Variables of the environment, which curl reads, are not read here.
#[test]
fn the_environment_sets_no_proxy() {
    let (folder, recorder) = (tempfile::tempdir().unwrap(), Recorder::start());
    let url = recorder.placed("http://HOST/");
    let mut command = command(folder.path(), &["load", &url, "-n", "20", "--json", "-"]);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:1");
    }
    let json = Started::spawn(&mut command).finish().all_good(20);
    assert!(json.get("proxy").is_none(), "{json}");
    let seen = recorder.taken();
    assert!(seen.len() >= 20 && seen.iter().all(|request| request.starts_with(b"GET / HTTP/1.1")));
}

/// A proxy by other hands.
struct Tinyproxy {
    child: Child,
    address: SocketAddr,
}

impl Drop for Tinyproxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tinyproxy {
    /// `None` where it is not installed.
    fn start(folder: &Path) -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let settings = format!(
            "Port {}\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\nAllow 127.0.0.1\nBasicAuth ana secret\n",
            address.port()
        );
        let file = folder.join("tinyproxy.conf");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new("tinyproxy");
        command.arg("-d").arg("-c").arg(file).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.stdin(Stdio::null()).spawn().ok()?;
        let proxy = Self { child, address };
        assert!(until(|| TcpStream::connect(address).is_ok()), "tinyproxy does not listen");
        Some(proxy)
    }
}

/// Each protocol, in the clear and over TLS. Without the password it opens no tunnel, and answers 407
/// to requests that it reads.
#[test]
fn each_protocol_goes_through_tinyproxy() {
    let (folder, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some(proxy) = Tinyproxy::start(folder.path()) else {
        return skip("tinyproxy: each protocol goes through it", "there is no tinyproxy");
    };
    let hello = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let http2 = frames::Server::new(frames::Connection::serve).unwrap();
    let echo = messages::Server::echo().unwrap();
    let [over_tls, http2_over_tls, echo_over_tls] =
        [(hello.address(), "http/1.1"), (http2.address, "h2"), (echo.address, "http/1.1")]
            .map(|(address, alpn)| secured(address, alpn));
    let through = format!("http://ana:secret@{}", proxy.address);
    for (scheme, address, flags) in [
        // tinyproxy ends each connection after an answer that it reads.
        ("http", hello.address(), &["--no-keep-alive"][..]),
        ("https", over_tls.address(), &["--insecure"]),
        ("http", http2.address, &["--h2c"]),
        ("https", http2_over_tls.address(), &["--http2", "--insecure"]),
        ("ws", echo.address, &[]),
        ("wss", echo_over_tls.address(), &["--insecure"]),
    ] {
        let url = format!("{scheme}://{address}/");
        let asked = [&[&url, "-x", &through][..], flags].concat();
        let json = load(store.path(), &asked).all_good(20);
        let has_tunnel = scheme != "http" || flags == ["--h2c"];
        let tunnels = json["connections"]["opened"].as_u64().filter(|_| has_tunnel);
        assert_eq!(json["tunnel"]["count"].as_u64(), tunnels, "{url}");
    }
    let without = format!("http://{}", proxy.address);
    let url = format!("http://{}/", hello.address());
    let outcome = load(store.path(), &[&url, "-x", &without, "--no-keep-alive"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["errors"]["wrong_status"], 20, "{outcome}");
    let url = format!("https://{}/", over_tls.address());
    load(store.path(), &[&url, "-x", &without, "--insecure"])
        .is_a_user_error(&["opened no tunnel", "refused CONNECT with status 407"]);
}

/// In a project, `proxy` stands beside `url`.
#[test]
fn a_target_of_a_project_may_be_behind_a_proxy() {
    let (folder, recorder) = (tempfile::tempdir().unwrap(), Recorder::start());
    let proxy = Proxy::start(ProxyBehaviour::Opens).unwrap();
    let url = recorder.placed("http://HOST");
    let through = format!("http://ana:s%40cret@{}", proxy.address);
    let project = format!(
        "[target.shop]\nurl = \"{url}\"\nproxy = \"{through}\"\n[workload.home]\nrequest = {{ path = \"/a\" }}\n\
         [plan.ci]\nworkload = \"home\"\ntargets = [\"shop\"]\nrepetitions = 1\nconnections = 2\nduration = \"300ms\"\n\
         [plan.ci.cpus]\nshare = true\n"
    );
    let file = folder.path().join("pippin.toml");
    std::fs::write(&file, &project).unwrap();
    let outcome = pippin(folder.path(), &["run", "ci"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let asked = format!("GET {url}/a HTTP/1.1\r\n");
    let heads = proxy.taken();
    let other = heads.iter().find(|head| !head.starts_with(&asked));
    assert!(heads.len() > 1 && other.is_none(), "{other:?}");
    let seen = recorder.taken();
    assert!(
        seen.len() > 1 && seen.iter().all(|request| request.starts_with(b"GET /a HTTP/1.1\r\n"))
    );
    let outcome = pippin(folder.path(), &["run", "ci", "--agents", "2"]);
    if !outcome.has("nats-server") {
        outcome.is_a_user_error(&["`proxy` of own/shop", "run it without --agents"]);
    }
    std::fs::write(&file, project.replace("http://ana", "socks5://ana")).unwrap();
    pippin(folder.path(), &["run", "ci"]).is_a_user_error(&["`proxy` of the target shop", "SOCKS"]);
    std::fs::remove_file(file).unwrap();
    assert_no_file_has(folder.path(), &["s@cret", "s%40cret", "YW5hOnNAY3JldA"]);
}
