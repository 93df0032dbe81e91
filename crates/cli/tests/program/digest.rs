//! `pippin load --digest`. The judges are a server on Python's standard library, which checks each
//! response, the count of each nonce and its age; curl, which checks that server; and Apache.
use super::curl::Recorder;
use super::support::{Outcome, pippin, until};
use pippin_testing::proxy::{Proxy, ProxyBehaviour};
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::skipped::skip;
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The name and the password of the tests.
const WHO: &str = "ana:s@cret: 1";

/// The server of the tests; dropping it ends it.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// With this algorithm and quality of protection, `-` for none; a nonce is stale after so many
    /// uses, 0 for never.
    fn start(algorithm: &str, qop: &str, uses: u32) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/digest/server.py");
        let (name, password) = WHO.split_once(':').unwrap();
        let mut child = Command::new("python3")
            .arg(file)
            .args([name, password, "shop", algorithm, qop, &uses.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port: u16 = line.trim().parse().unwrap();
        Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)) }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it has seen.
    fn counts(&self) -> Value {
        let output = Command::new("python3")
            .args([
                "-c",
                "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())",
            ])
            .arg(self.url("/counts"))
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn load(folder: &Path, arguments: &[&str]) -> Outcome {
    let usual = ["load", "-u", WHO, "--digest", "--quiet", "--json", "-"];
    pippin(folder, &[&usual, arguments].concat())
}

/// A load of 200 requests over 4 connections, of which the server accepts each, and one before it.
#[track_caller]
fn accepts_all(server: &Server, folder: &Path, arguments: &[&str]) -> (Outcome, Value) {
    let before = server.counts();
    let outcome = load(folder, &[arguments, &["-n", "200", "-c", "4"]].concat());
    outcome.all_good(200);
    let after = server.counts();
    let grown = |key: &str| after[key].as_u64().unwrap() - before[key].as_u64().unwrap();
    assert_eq!(grown("refused"), 0, "{after}\n{outcome}");
    assert_eq!(grown("stale"), 0, "{after}");
    // A look before the load sends one more, if it changes nothing.
    assert!((200..=201).contains(&grown("accepted")), "{before} {after}");
    (outcome, after)
}

/// What curl gets with the same credentials; `None` where there is no curl.
fn curl(arguments: &[&str]) -> Option<String> {
    let mut curl = Command::new("curl");
    curl.args(["-sS", "--noproxy", "*", "--digest", "-u", WHO]).args(arguments);
    let output = curl.stdin(Stdio::null()).output().ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Each user has a nonce of its own, whose requests are counted without a gap.
#[test]
fn each_algorithm_is_accepted_as_from_curl() {
    let folder = tempfile::tempdir().unwrap();
    for (algorithm, qop) in [
        ("-", "-"),
        ("-", "auth"),
        ("MD5", "auth,auth-int"),
        ("MD5-sess", "auth"),
        ("SHA-256", "-"),
        ("SHA-256", "auth-int, auth"),
        ("SHA-256-sess", "auth"),
    ] {
        let server = Server::start(algorithm, qop, 0);
        match curl(&[&server.url("/a?b=c")]) {
            Some(page) => assert_eq!(page, "secret page", "{algorithm} {qop}"),
            None => skip("curl: the server of digests accepts it", "there is no curl"),
        }
        let (_, seen) = accepts_all(&server, folder.path(), &[&server.url("/a?b=c")]);
        // The users, the look and curl.
        assert_eq!(seen["nonces"], 6, "{algorithm} {qop}: {seen}");
    }
}

/// What else a load may have: bodies, files, steps, redirections, pipelining, connections that end,
/// names, TLS, a proxy that reads the requests.
#[test]
fn whatever_is_sent_has_a_digest() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start("MD5", "auth", 0));
    let lines = "{\"path\": \"/a\", \"headers\": {\"Authorization\": \"Bearer x\"}}\n\
                 {\"method\": \"PUT\", \"path\": \"/b\", \"body\": \"data\"}\n";
    fs::write(folder.path().join("r.jsonl"), lines).unwrap();
    let steps = "[data]\nword = { one_of = [\"a b\", \"c\"] }\n\
                 [[steps]]\nget = \"/s/{word}\"\n[[steps]]\npost = \"/p\"\nform = { w = \"{word}\" }\n";
    fs::write(folder.path().join("s.toml"), steps).unwrap();
    let config =
        Authority::new().server(&Certified { alpn: vec!["http/1.1"], ..Certified::default() });
    let front = Front::spawn(server.address, config, FrontBehaviour::default()).unwrap();
    let over_tls = format!("https://{}/", front.address());
    let proxy = Proxy::start(ProxyBehaviour::Opens).unwrap();
    let through = format!("http://p:q@{}", proxy.address);
    let (page, whole) = (server.url("/a"), server.url(""));
    let loads: [&[&str]; 10] = [
        &[&page, "-b", "text"],
        &[&page, "-m", "HEAD"],
        &[&page, "--pipeline", "4"],
        &[&page, "--no-keep-alive"],
        &[&page, "--request-id", "--slowest", "3"],
        &[&page, "--io", "epoll", "-t", "2"],
        &[&whole, "--requests", "r.jsonl"],
        &[&whole, "--scenario", "s.toml"],
        &[&over_tls, "--insecure"],
        &[&page, "-x", &through],
    ];
    for arguments in loads {
        accepts_all(&server, folder.path(), arguments);
    }
    assert!(server.counts()["bodies"].as_u64().unwrap() >= 380);
    let heads = proxy.taken();
    assert!(heads.iter().all(|head| head.contains("Proxy-Authorization: Basic ")), "{heads:?}");
    // A chain is two requests, each with the digest of its own path.
    let old = server.url("/old");
    accepts_all(&server, folder.path(), &[&old, "--follow", "2"]);
}

/// A nonce is good for 10 requests. The one after is refused with a new nonce, and counts as what it
/// is; the one after that is accepted.
#[test]
fn a_stale_nonce_costs_one_request_and_is_renewed() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start("SHA-256", "auth", 10));
    let outcome = load(folder.path(), &[&server.url("/"), "-n", "500", "-c", "3"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let seen = server.counts();
    let (good, wrong) = (&json["requests"]["good"], &json["errors"]["wrong_status"]);
    assert_eq!(seen["refused"], 0, "{seen}");
    assert_eq!(seen["accepted"].as_u64(), good.as_u64().map(|good| good + 1), "{seen}\n{outcome}");
    assert_eq!(&seen["stale"], wrong, "{outcome}");
    assert_eq!(good.as_u64().unwrap() + wrong.as_u64().unwrap(), 500);
    // Each user had 10 good ones before each stale one.
    assert!((500 / 11 - 3..=500 / 11).contains(&wrong.as_u64().unwrap()), "{outcome}");
    assert!(outcome.has("the nonce was too old for the realm"), "{outcome}");
}

/// Before a load where a request changes nothing; and where it may, by the first error of the load,
/// which ends.
#[test]
fn a_wrong_password_is_said_with_its_realm() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start("MD5", "auth", 0));
    let wrong = |arguments: &[&str]| {
        let usual = ["load", "-u", "ana:other", "--digest", "-n", "40", "-c", "2"];
        pippin(folder.path(), &[&usual, arguments].concat())
    };
    let url = server.url("/a");
    wrong(&[&url]).is_a_user_error(&[
        "--digest: the server refuses this name and password for its realm \"shop\"",
        "`GET /a`: status 401",
    ]);
    assert_eq!(server.counts()["accepted"], 0);
    let outcome = wrong(&[&url, "-b", "text"]);
    outcome.says(&["refuses name and password", "\"shop\"", "401"]);
    let seen = server.counts();
    // One of the looks, and each of the load once.
    assert_eq!((&seen["refused"], &seen["accepted"]), (&41.into(), &0.into()), "{seen}");
    outcome.keeps_quiet_about(&["ana:other"]);
}

#[test]
fn what_cannot_have_a_digest_is_refused_with_the_reason() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start("MD5", "auth", 0));
    let url = server.url("/a");
    let refused = |arguments: &[&str], texts: &[&str]| {
        load(folder.path(), arguments).is_a_user_error(texts);
    };
    refused(
        &[&server.url("/open")],
        &["does not ask who sends the request (`GET /open`: status 200)"],
    );
    refused(
        &["https://localhost:1/", "--http2"],
        &["--digest: a nonce counts requests in their order"],
    );
    refused(&[&url, "--h2c"], &["--digest", "--h2c"]);
    refused(&["ws://localhost:1/"], &["--digest: the messages of a WebSocket have no headers"]);
    refused(&[&url, "--agents", "2"], &["--digest: name and password stay in this process"]);
    refused(&[&url, "-H", "Authorization: x"], &["-u and -H `Authorization: ...` both set"]);
    let usual = ["load", "--digest", "-n", "20", &url];
    pippin(folder.path(), &usual).is_a_user_error(&["--user"]);
    pippin(folder.path(), &["compare", &url, &url, "-u", "a:b", "--digest", "-n", "20"])
        .is_a_user_error(&["--digest"]);
    let asks = |challenge: &'static str, part: &str| {
        let field = format!("WWW-Authenticate: {challenge}");
        let answer = Answer::new(401, b"no").header(&field);
        let server = spawn(Script::always(answer)).unwrap();
        let url = format!("http://{}/", server.address());
        refused(&[&url], &["--digest: the server asks for", part]);
    };
    asks("Basic realm=\"a\"", "Basic and not for a digest");
    asks("Digest realm=\"a\", nonce=\"n\", userhash=true", "userhash");
    asks("Digest realm=\"a\", nonce=\"n\", qop=\"auth-int\"", "auth-int");
    asks("Digest realm=\"a\", nonce=\"n\", algorithm=SHA-512-256", "SHA-512-256");
    asks("Digest realm=\"a\", nonce=\"n\", algorithm=MD5-sess", "without qop");
}

/// Neither a server that a redirection names, nor any file, gets them.
#[test]
fn credentials_reach_no_other_server_and_no_file() {
    let (folder, other) = (tempfile::tempdir().unwrap(), Recorder::start());
    let elsewhere = format!("Location: {}", other.placed("http://HOST/stolen"));
    let server = spawn(Script::each(move |request, _| {
        let text = String::from_utf8_lossy(request.bytes);
        if text.contains("Authorization: Digest ") {
            Answer::new(302, b"").header(&elsewhere)
        } else {
            Answer::new(401, b"")
                .header("WWW-Authenticate: Digest realm=\"shop\", nonce=\"n\", qop=\"auth\"")
        }
    }))
    .unwrap();
    let url = format!("http://{}/a", server.address());
    let outcome = load(folder.path(), &[&url, "--follow", "3", "-n", "20", "-c", "2"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["errors"]["redirect"], 20, "{outcome}");
    assert!(other.taken().is_empty());
    // H(A1) of the standard is as good as the password.
    let output = Command::new("python3")
        .args(["-c", "import hashlib; print(hashlib.md5(b'ana:shop:s@cret: 1').hexdigest())"])
        .output()
        .unwrap();
    let hash = String::from_utf8(output.stdout).unwrap().trim().to_string();
    assert_eq!(hash.len(), 32);
    let secrets = ["s@cret", &hash, "YW5hOnNAY3JldDogMQ"];
    for secret in secrets {
        assert!(!outcome.has(secret), "{outcome}");
    }
    super::proxies::assert_no_file_has(folder.path(), &secrets);
}

/// Apache with mod_auth_digest, which asks anew where it does not like a nonce.
#[test]
fn apache_accepts_each_request() {
    const TEST: &str = "apache2: mod_auth_digest accepts each request";
    let folder = tempfile::tempdir().unwrap();
    let Some((_apache, address)) = apache(folder.path()) else {
        return skip(TEST, "there is no apache2 with mod_auth_digest");
    };
    let url = format!("http://{address}/index.html");
    if let Some(page) = curl(&[&url]) {
        assert_eq!(page, "secret page");
    }
    let log = folder.path().join("access.log");
    let with = |status: &str| {
        let text = fs::read_to_string(&log).unwrap();
        text.lines().filter(|line| line.trim() == status).count()
    };
    let before = with("200");
    load(folder.path(), &[&url, "-n", "400", "-c", "4"]).all_good(400);
    // Apache writes a line after the answer.
    assert!(until(|| with("200") >= before + 401), "{}", with("200"));
    assert_eq!(with("200"), before + 401, "the load and one look");
    assert!(with("400") == 0);
}

struct Apache(Child);

impl Drop for Apache {
    fn drop(&mut self) {
        // SAFETY: the process is our child, which has not been waited for. It ends its own children.
        unsafe { libc::kill(self.0.id() as i32, libc::SIGTERM) };
        let _ = self.0.wait();
    }
}

/// Apache in this folder; `None` where it is not installed.
fn apache(folder: &Path) -> Option<(Apache, SocketAddr)> {
    use std::os::unix::fs::PermissionsExt as _;
    let modules = Path::new("/usr/lib/apache2/modules");
    if !modules.join("mod_auth_digest.so").is_file() {
        return None;
    }
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // Its own user reads it.
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let root = folder.join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("index.html"), "secret page").unwrap();
    let hash = Command::new("python3")
        .args(["-c", "import hashlib, sys; print(hashlib.md5(sys.argv[1].encode()).hexdigest())"])
        .arg(WHO.replacen(':', ":shop:", 1))
        .output()
        .unwrap();
    let hash = String::from_utf8(hash.stdout).unwrap();
    fs::write(folder.join("users"), format!("ana:shop:{hash}")).unwrap();
    let load =
        |name: &str| format!("LoadModule {name}_module {}/mod_{name}.so\n", modules.display());
    let names =
        ["mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest"];
    let loads: String = names.iter().map(|name| load(name)).collect();
    let is_root = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0;
    let user = if is_root { "User nobody\nGroup nogroup\n" } else { "" };
    let place = folder.display();
    let settings = format!(
        "{loads}{user}ServerName localhost\nListen {address}\nServerRoot {place}\nPidFile {place}/pid\n\
         DefaultRuntimeDir {place}\nErrorLog {place}/error.log\nLogFormat \"%>s\" status\n\
         CustomLog {place}/access.log status\nDocumentRoot {place}/root\nMaxKeepAliveRequests 0\n\
         <Directory {place}/root>\nAuthType Digest\nAuthName shop\nAuthDigestProvider file\n\
         AuthUserFile {place}/users\nRequire valid-user\n</Directory>\n"
    );
    fs::write(folder.join("apache.conf"), settings).unwrap();
    let mut command = Command::new("/usr/sbin/apache2");
    command.arg("-f").arg(folder.join("apache.conf")).arg("-DFOREGROUND");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let apache = Apache(command.spawn().ok()?);
    let is_up = until(|| TcpStream::connect(address).is_ok());
    assert!(is_up, "{}", fs::read_to_string(folder.join("error.log")).unwrap_or_default());
    Some((apache, address))
}
