//! The servers that people run, with `pippin load`: whoever does the work is named and counted. A
//! program that is missing here is said to be skipped; packages of languages are installed by the
//! test, into the folder of its build.
use super::support::{Outcome, pippin, skip, succeeds, until, virtual_environment};
use pippin_testing::patience::in_time;
use pippin_testing::shapes;
use serde_json::Value;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pippin_testing::patient_tests!(
    nginx_before_gunicorn,
    nginx_before_php_fpm,
    one_of_two_applications_under_pm2,
);

/// Processes of a test; dropping them ends them and what they started.
#[derive(Default)]
struct Servers(Vec<Child>);

impl Servers {
    /// Starts a program, in a group of its own, and waits until it listens on the port.
    #[track_caller]
    fn start(&mut self, folder: &Path, port: u16, words: &[&str]) {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(folder).process_group(0);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.0.push(quiet.spawn().unwrap());
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        until(|| TcpStream::connect(address).is_ok());
    }

    /// Starts a program of Node that listens on the port of its argument. Returns the port.
    #[track_caller]
    fn start_node(&mut self, folder: &Path, node: &Path, program: &str) -> u16 {
        std::fs::write(folder.join("app.js"), program).unwrap();
        let port = free_port();
        self.start(folder, port, &[node.to_str().unwrap(), "app.js", &port.to_string()]);
        port
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // SAFETY: the group is our child's, which has not been waited for.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
            let _ = child.wait();
        }
    }
}

/// Where a program is; without it, the test is skipped.
fn found(test: &str, program: &str) -> Option<PathBuf> {
    let found = found_quietly(program);
    if found.is_none() {
        skip(test, &format!("{program} is not installed here"));
    }
    found
}

fn found_quietly(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

const FLAGS: [&str; 10] =
    ["-c", "8", "-d", "2s", "--warm-up", "200ms", "--no-store", "--quiet", "--json", "-"];

#[track_caller]
fn load(folder: &Path, port: u16, more: &[&str]) -> (Outcome, Value) {
    let url = format!("http://127.0.0.1:{port}/");
    let outcome = pippin(folder, &[&["load", &url], &FLAGS[..], more].concat());
    let json = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome}"));
    (outcome, json)
}

/// The names of the tiers, and the processors that each kept busy.
fn tiers(json: &Value) -> Vec<(String, f64)> {
    let of =
        |tier: &Value| (tier["name"].as_str().unwrap().into(), tier["cores"].as_f64().unwrap());
    json["server"]["tiers"].as_array().map(|all| all.iter().map(of).collect()).unwrap_or_default()
}

/// The first tier passes on what the second one works for.
#[track_caller]
fn passes_on((outcome, json): &(Outcome, Value), first: &str, second: &str) {
    let [(front, front_cores), (behind, behind_cores)] = &tiers(json)[..] else {
        panic!("{outcome}");
    };
    assert_eq!((front.as_str(), behind.as_str()), (first, second), "{outcome}");
    assert!(behind_cores > front_cores, "{outcome}");
    let all = json["server"]["cores"].as_f64().unwrap();
    assert!((all - front_cores - behind_cores).abs() < 0.01, "{outcome}");
    assert!(json["requests"]["good"].as_u64().unwrap() > 0, "{outcome}");
}

fn nginx_before(folder: &Path, port: u16, upstream: &str) -> PathBuf {
    let path = folder.join("nginx.conf");
    let text = format!(
        "daemon off; worker_processes 1; pid {0}/pid; error_log {0}/error.log;\n\
         events {{}}\n\
         http {{ access_log off; client_body_temp_path {0}; proxy_temp_path {0};\n\
         fastcgi_temp_path {0}; uwsgi_temp_path {0}; scgi_temp_path {0};\n\
         upstream app {{ server {upstream}; keepalive 16; }}\n\
         server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://app;\n\
         proxy_http_version 1.1; proxy_set_header Connection ''; }} }} }}\n",
        folder.display()
    );
    std::fs::write(&path, text).unwrap();
    path
}

/// Each request takes some work, so that the application does more than the proxy.
const NODE: &str = "const work = () => { let s = 0; for (let i = 0; i < 2e5; i++) s += i % 7; return s; };
require('http').createServer((q, r) => r.end('ok ' + work())).listen(+process.argv[2], '127.0.0.1');";

const NODE_CLUSTER: &str = "const c = require('cluster');
if (c.isPrimary) { c.fork(); c.fork(); } else require('http')
  .createServer((q, r) => r.end('ok')).listen(+process.argv[2], '127.0.0.1');";

const JAVA: &str = r#"import com.sun.net.httpserver.*;
import java.net.*;
public class Hello {
  public static void main(String[] a) throws Exception {
    var s = HttpServer.create(new InetSocketAddress("localhost", Integer.parseInt(a[0])), 100);
    s.createContext("/", e -> { byte[] b = "ok".getBytes(); e.sendResponseHeaders(200, b.length);
      e.getResponseBody().write(b); e.close(); });
    s.start();
  }
}
"#;

#[test]
fn nginx_before_node() {
    let test = "servers: nginx before node";
    let (Some(nginx), Some(node)) = (found(test, "nginx"), found(test, "node")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut servers, front) = (Servers::default(), free_port());
    let app = servers.start_node(folder.path(), &node, NODE);
    let conf = nginx_before(folder.path(), front, &format!("127.0.0.1:{app}"));
    let words = [nginx.to_str().unwrap(), "-c", conf.to_str().unwrap()];
    servers.start(folder.path(), front, &words);
    let result = load(folder.path(), front, &["--require", "cpu.node < 1s"]);
    passes_on(&result, "nginx", "node");
    // Its CPU time is known to gates; whether the result can decide one depends on the machine.
    result.0.keeps_quiet_about(&["gate FAILED"]);
}

#[test]
fn haproxy_before_node() {
    let test = "servers: haproxy before node";
    let (Some(haproxy), Some(node)) = (found(test, "haproxy"), found(test, "node")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut servers, front) = (Servers::default(), free_port());
    let app = servers.start_node(folder.path(), &node, NODE);
    let text = format!(
        "defaults\n mode http\n timeout connect 5s\n timeout client 30s\n timeout server 30s\n\
         frontend f\n bind 127.0.0.1:{front}\n default_backend b\n\
         backend b\n server s 127.0.0.1:{app}\n"
    );
    std::fs::write(folder.path().join("haproxy.cfg"), text).unwrap();
    servers.start(folder.path(), front, &[haproxy.to_str().unwrap(), "-f", "haproxy.cfg"]);
    passes_on(&load(folder.path(), front, &[]), "haproxy", "node");
}

#[test]
fn a_node_cluster_is_one_server_with_its_workers() {
    let Some(node) = found("servers: node cluster", "node") else { return };
    let (folder, mut servers) = (tempfile::tempdir().unwrap(), Servers::default());
    let port = servers.start_node(folder.path(), &node, NODE_CLUSTER);
    let (outcome, json) = load(folder.path(), port, &[]);
    assert_eq!(json["server"]["processes"].as_array().unwrap().len(), 1, "{outcome}");
    assert!(tiers(&json).is_empty(), "{outcome}");
    assert!(json["server"]["cores"].as_f64().unwrap() > 0.0, "{outcome}");
}

/// Each of the two servers has two workers, and was given no processors.
#[test]
fn two_node_clusters_are_compared_by_their_urls() {
    let Some(node) = found("servers: two node clusters", "node") else { return };
    let (folder, mut servers) = (tempfile::tempdir().unwrap(), Servers::default());
    let start = |servers: &mut Servers| servers.start_node(folder.path(), &node, NODE_CLUSTER);
    let urls =
        [start(&mut servers), start(&mut servers)].map(|port| format!("http://127.0.0.1:{port}/"));
    let more = ["--repeat", "3", "--store", "runs.sqlite"];
    let flags = [&["-c", "8", "-d", "1s", "--warm-up", "200ms"][..], &more].concat();
    let outcome = pippin(folder.path(), &[&["compare", &urls[0], &urls[1]], &flags[..]].concat());
    // A busy machine may spoil the result, and nothing else may.
    assert!(matches!(outcome.code, Some(0 | 3 | 5)), "{outcome}");
    outcome.keeps_quiet_about(&["cpu_beyond", "cpu beyond", "was given"]);
}

/// A daemon of pm2, which ends with this.
struct Pm2<'a> {
    node: PathBuf,
    program: PathBuf,
    folder: &'a Path,
}

impl Pm2<'_> {
    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(&self.node);
        command.arg(&self.program).args(words).current_dir(self.folder);
        command.env("PM2_HOME", self.folder.join("pm2"));
        command.stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap()
    }
}

impl Drop for Pm2<'_> {
    fn drop(&mut self) {
        self.run(&["kill"]);
    }
}

/// Two applications under one pm2, each with a worker of its own; the second one works all the time.
fn one_of_two_applications_under_pm2() {
    let test = "servers: pm2";
    let Some(node) = found(test, "node") else { return };
    let Some(pm2) = package_of_node(test, "pm2@6.0.8", "pm2/bin/pm2") else { return };
    let (folder, ports) = (tempfile::tempdir().unwrap(), [free_port(), free_port()]);
    let busy = format!("{NODE}\nsetInterval(() => {{ for (let i = 0; i < 5; i++) work(); }}, 1);");
    for (name, text, port) in [("one", NODE, ports[0]), ("two", busy.as_str(), ports[1])] {
        let text = text.replace("+process.argv[2]", &port.to_string());
        std::fs::write(folder.path().join(format!("{name}.js")), text).unwrap();
    }
    let pm2 = Pm2 { node, program: pm2, folder: folder.path() };
    for name in ["one.js", "two.js"] {
        assert!(pm2.run(&["start", name, "-i", "1"]).status.success());
    }
    for port in ports {
        until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
    }
    let (outcome, json) = load(folder.path(), ports[0], &[]);
    let other = String::from_utf8(pm2.run(&["pid", "two"]).stdout).unwrap();
    drop(pm2);
    let left_out = json["caveats"].as_array().unwrap().iter().find(|it| it["id"] == "left_out");
    // On a busy machine there is time for fewer looks, and few looks prove nothing.
    in_time(left_out.is_some(), || outcome.to_string());
    let seen = left_out.unwrap()["evidence"].as_str().unwrap();
    assert!(seen.ends_with(&format!("(process {})", other.trim())), "{seen}, not {other}");
}

/// Java listens on `::ffff:127.0.0.1`.
#[test]
fn a_jvm_on_localhost() {
    let Some(java) = found("servers: a JVM", "java") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Hello.java"), JAVA).unwrap();
    let (port, mut servers) = (free_port(), Servers::default());
    let words = [java.to_str().unwrap(), "-Xmx64m", "Hello.java", &port.to_string()];
    servers.start(folder.path(), port, &words);
    let (outcome, json) = load(folder.path(), port, &[]);
    assert!(json["server"]["cores"].as_f64().unwrap() > 0.0, "{outcome}");
    outcome.keeps_quiet_about(&["nothing on this machine listens"]);
}

/// A server of gRPC that answers `/t.T/Echo`, and ends `/t.T/Code5` with the status 5; its client
/// prints the names of the statuses that it got.
const GRPC: &str = "import sys, grpc
from concurrent import futures
codes = {c.value[0]: c for c in grpc.StatusCode}
class Handler(grpc.GenericRpcHandler):
    def service(self, call):
        name = call.method.rsplit('/', 1)[1]
        def code(message, context):
            context.abort(codes[int(name[4:])], 'as asked')
        if name == 'Echo' or name.startswith('Code'):
            return grpc.unary_unary_rpc_method_handler(code if name != 'Echo' else lambda m, c: m)
if sys.argv[2] == 'serve':
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Handler(),))
    server.add_insecure_port('127.0.0.1:' + sys.argv[1])
    server.start()
    server.wait_for_termination()
channel = grpc.insecure_channel('127.0.0.1:' + sys.argv[1])
for path in sys.argv[2:]:
    try:
        channel.unary_unary(path)(b'hello')
        print('ok')
    except grpc.RpcError as error:
        print('grpc_' + error.code().name.lower())
";

/// Calls of every status, and of a method that is not there: Pippin counts them as the client of gRPC
/// names them.
#[test]
fn statuses_of_grpc_are_those_that_its_own_client_sees() {
    const TEST: &str = "statuses_of_grpc_are_those_that_its_own_client_sees";
    let Some(bin) = virtual_environment(TEST, "grpcio") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("app.py"), GRPC).unwrap();
    let python = bin.join("python").display().to_string();
    let (mut servers, port) = (Servers::default(), free_port());
    servers.start(folder.path(), port, &[&python, "app.py", &port.to_string(), "serve"]);
    let methods: Vec<String> =
        (1..=16).map(|n| format!("Code{n}")).chain(["Echo".into(), "None".into()]).collect();
    let paths: Vec<String> = methods.iter().map(|method| format!("/t.T/{method}")).collect();
    let client = Command::new(&python)
        .args(["app.py", &port.to_string()])
        .args(&paths)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let names = String::from_utf8(client.stdout).unwrap();
    assert_eq!(names.lines().count(), paths.len(), "{}", String::from_utf8_lossy(&client.stderr));

    let line = |path: &String| {
        format!(
            r#"{{"path": "{path}", "headers": {{"content-type": "application/grpc", "te": "trailers"}}, "body_base64": "AAAAAAVoZWxsbw=="}}"#
        )
    };
    let lines: Vec<String> = paths.iter().map(line).collect();
    std::fs::write(folder.path().join("calls.jsonl"), lines.join("\n")).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let load = |asked: &[&str]| {
        let flags = ["--no-store", "-c", "1", "--json", "out.json"];
        let outcome = pippin(folder.path(), &[&["load"], asked, &flags].concat());
        let json = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
        (outcome, serde_json::from_str::<Value>(&json).unwrap())
    };
    let count = (paths.len() * 2).to_string();
    let (outcome, json) = load(&[&url, "--h2c", "--requests", "calls.jsonl", "-n", &count]);
    let mut expected = std::collections::BTreeMap::<&str, u64>::new();
    for name in names.lines() {
        *expected.entry(name).or_default() += 2;
    }
    assert_eq!(json["requests"]["good"].as_u64(), expected.remove("ok"), "{outcome}");
    for (name, count) in expected {
        assert_eq!(json["errors"][name].as_u64(), Some(count), "{name}: {outcome}");
    }
    assert!(outcome.stdout.contains("grpc-status 8: as asked"), "{outcome}");

    std::fs::write(folder.path().join("message.bin"), "hello").unwrap();
    let call = |method: &str, more: &[&str]| {
        let url = format!("{url}/t.T/{method}");
        load(&[&[&url, "--grpc", "-b", "@message.bin", "-n", "40"], more].concat())
    };
    let (outcome, json) = call("Echo", &["--expect-contains", "hello", "--streams", "4"]);
    assert_eq!(json["requests"]["good"], 40, "{outcome}");
    let (outcome, json) = call("None", &[]);
    assert_eq!(
        (&json["requests"]["good"], &json["errors"]["grpc_unimplemented"]),
        (&0.into(), &40.into()),
        "{outcome}"
    );
}

const NPM: [&str; 5] = ["npm", "install", "--no-audit", "--no-fund", "--prefix"];

/// Installs a package of Node into the folder of the build, once. Returns this file of it.
fn package_of_node(test: &str, package: &str, file: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("servers-node");
    let program = folder.join("node_modules").join(file);
    let install = || {
        std::fs::create_dir_all(&folder).is_ok()
            && succeeds(&[&NPM[..], &[&folder.display().to_string(), package]].concat())
    };
    if program.is_file() || install() {
        return Some(program);
    }
    skip(test, &format!("{package} cannot be installed here"));
    None
}

/// Says in a file that it was asked to stop.
const TOLD: &str = "const server = require('http').createServer((q, r) => r.end('ok'));
server.listen(+process.env.PORT, process.env.HOST || '127.0.0.1');
process.on('SIGTERM', () => { require('fs').writeFileSync('told', 'SIGTERM'); process.exit(0); });";

/// npm ends at SIGTERM and does not pass it on: Pippin does.
#[test]
fn what_npm_starts_is_asked_to_stop_too() {
    const TEST: &str = "what_npm_starts_is_asked_to_stop_too";
    if [found(TEST, "npm"), found(TEST, "node")].contains(&None) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("server.js", TOLD);
    write("package.json", r#"{ "name": "shop", "scripts": { "start": "MODE=a node server.js" } }"#);
    write(
        "pippin.toml",
        "[target.shop]\ncommand = \"npm start\"\n[workload.home]\nrequest = { path = \"/\" }\n[plan.ci]\nworkload = \"home\"\ntargets = [\"shop\"]\nrepetitions = 1\nprofile = { kind = \"closed\", connections = 1, requests = 20 }\ncpus = { share = true }\n",
    );
    let outcome = pippin(folder.path(), &["run", "ci"]);
    let told = std::fs::read_to_string(folder.path().join("told"));
    assert!(told.is_ok_and(|told| told == "SIGTERM"), "{outcome}");
    outcome.keeps_quiet_about(&["left", "was killed"]);
}

const PHP: &str = "<?php $n = 0; for ($i = 0; $i < 20000; $i++) { $n += $i % 7; } echo 'ok';";

/// nginx opens a connection for each request here too (as for gunicorn below).
fn nginx_before_php_fpm() {
    let test = "servers: nginx before php-fpm";
    let fpm = ["php-fpm8.2", "php-fpm"].iter().find_map(|name| found_quietly(name));
    let Some(fpm) = fpm else { return skip(test, "php-fpm is not installed here") };
    let Some(nginx) = found(test, "nginx") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (front, app) = (free_port(), free_port());
    let at = folder.path().display();
    let fpm_conf = format!(
        "[global]\ndaemonize = no\nerror_log = {at}/fpm.log\n[www]\nuser = nobody\ngroup = nogroup\n\
         listen = 127.0.0.1:{app}\npm = static\npm.max_children = 2\n"
    );
    let nginx_conf = format!(
        "daemon off; worker_processes 1; pid {at}/pid; error_log {at}/error.log;\nevents {{}}\n\
         http {{ access_log off; client_body_temp_path {at}; proxy_temp_path {at};\n\
         fastcgi_temp_path {at}; uwsgi_temp_path {at}; scgi_temp_path {at};\n\
         server {{ listen 127.0.0.1:{front}; location / {{ fastcgi_pass 127.0.0.1:{app};\n\
         fastcgi_param SCRIPT_FILENAME {at}/index.php; fastcgi_param REQUEST_METHOD $request_method;\n\
         }} }} }}\n"
    );
    std::fs::write(folder.path().join("index.php"), PHP).unwrap();
    std::fs::write(folder.path().join("fpm.conf"), fpm_conf).unwrap();
    std::fs::write(folder.path().join("nginx.conf"), nginx_conf).unwrap();
    // The pool's user reads the script.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), readable).unwrap();
    let mut servers = Servers::default();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (fpm_conf, nginx_conf) = (path("fpm.conf"), path("nginx.conf"));
    servers.start(folder.path(), app, &[fpm.to_str().unwrap(), "-n", "-y", &fpm_conf]);
    servers.start(folder.path(), front, &[nginx.to_str().unwrap(), "-c", &nginx_conf]);
    let result = load(folder.path(), front, &[]);
    let names: Vec<String> = tiers(&result.1).into_iter().map(|(name, _)| name).collect();
    if names.len() < 2 {
        // Connections too short to be seen: then it is said who got them.
        let said = result.0.to_string();
        for words in ["php-fpm", "short connections", "--target-pid"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        return;
    }
    assert!(names[1].starts_with("php-fpm"), "{names:?} {}", result.0);
    passes_on(&result, "nginx", &names[1]);
}

const WSGI: &str = "def app(environ, start):
    n = sum(i % 7 for i in range(3000))
    start('200 OK', [('Content-Type', 'text/plain'), ('Content-Length', '2')])
    return [b'ok']
";

/// gunicorn closes each connection after its answer. Connections so short are seen only by a look at
/// the right moment, which a busy machine may miss.
fn nginx_before_gunicorn() {
    let test = "servers: nginx before gunicorn";
    let Some(nginx) = found(test, "nginx") else { return };
    let Some(bin) = virtual_environment(test, "gunicorn==23.0.0") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("app.py"), WSGI).unwrap();
    let (app, front) = (free_port(), free_port());
    let mut servers = Servers::default();
    let (gunicorn, bind) = (bin.join("gunicorn"), format!("127.0.0.1:{app}"));
    let words = [gunicorn.to_str().unwrap(), "-w", "2", "-b", &bind, "app:app"];
    servers.start(folder.path(), app, &words);
    let conf = nginx_before(folder.path(), front, &bind);
    let words = [nginx.to_str().unwrap(), "-c", conf.to_str().unwrap()];
    servers.start(folder.path(), front, &words);
    let result = load(folder.path(), front, &[]);
    in_time(tiers(&result.1).len() == 2, || result.0.to_string());
    passes_on(&result, "nginx", "gunicorn");
}

/// As with systemd, the first process holds the listening socket that it passed on.
#[test]
fn a_service_manager_that_is_process_one() {
    let folder = tempfile::tempdir().unwrap();
    let own = env!("CARGO_BIN_EXE_pippin");
    let words = [&[own, "load", "http://127.0.0.1:PORT/"], &FLAGS[..]].concat();
    let output = shapes::command("activator", &words).current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    if text.trim() == "cannot" {
        return skip("servers: a service manager", "no process namespace may be made here");
    }
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output:?}"));
    let [service] = &json["server"]["processes"].as_array().unwrap()[..] else { panic!("{text}") };
    assert_ne!(service["pid"], 1, "{text}");
    assert!(json["server"]["cores"].as_f64().unwrap() > 0.0, "{text}");
}

/// A script that starts workers and then Pippin holds the listening socket above Pippin.
#[test]
fn a_script_that_starts_workers_and_then_pippin() {
    let folder = tempfile::tempdir().unwrap();
    let url = "http://127.0.0.1:PORT/";
    let own = env!("CARGO_BIN_EXE_pippin");
    let words = [&[own, "load", url], &FLAGS[..]].concat();
    let output = shapes::command("holder", &words).current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output:?}"));
    assert!(json["server"]["cores"].as_f64().unwrap() > 0.0, "{text}");
    assert_eq!(json["server"]["processes"].as_array().unwrap().len(), 1, "{text}");
}
