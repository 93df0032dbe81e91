//! Requests: bodies, forms, files of requests, imports.
use super::support::{Checkout, Outcome, pippin, until};
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use pippin_testing::{Error, Running};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A server that keeps what it receives.
struct Listening {
    server: Option<Running<Account>>,
    url: String,
    seen: Arc<Mutex<Vec<String>>>,
    folder: tempfile::TempDir,
}

impl Listening {
    fn new(answer: fn() -> Answer) -> Self {
        Self::with(move |_| answer())
    }

    fn with(answer: impl Fn(&[u8]) -> Answer + Send + Sync + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let keeper = Arc::clone(&seen);
        let server = spawn(Script::each(move |request, _| {
            keeper.lock().unwrap().push(String::from_utf8_lossy(request.bytes).into_owned());
            answer(request.bytes)
        }))
        .unwrap();
        let url = format!("http://{}", server.address());
        Self { server: Some(server), url, seen, folder: tempfile::tempdir().unwrap() }
    }

    /// Answers with the body of the request.
    fn echoing() -> Self {
        Self::with(|request| {
            let text = String::from_utf8_lossy(request);
            let (_, body) = text.split_once("\r\n\r\n").unwrap_or_default();
            Answer::ok(body.as_bytes())
        })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn load(&self, arguments: &[&str]) -> Outcome {
        pippin(self.path(), &[&["load", "--no-store", "-c", "1"], arguments].concat())
    }

    /// The requests that the server received.
    fn seen(mut self) -> Vec<String> {
        self.server
            .take()
            .unwrap()
            .stop()
            .map(|_| ())
            .unwrap_or_else(|error: Error| panic!("{error}"));
        self.seen.lock().unwrap().clone()
    }
}

fn hello() -> Answer {
    Answer::ok(b"hello")
}

/// Method and path of each request.
fn lines(seen: &[String]) -> Vec<&str> {
    seen.iter().map(|request| request.split(" HTTP/1.1").next().unwrap()).collect()
}

#[test]
fn a_body_comes_from_a_file_and_makes_a_post() {
    let listening = Listening::new(hello);
    listening.write("b.json", "{\"n\": 1}");
    let url = listening.url.clone();
    listening.load(&[
        &url, "-n", "1", "-b", "@b.json", "-u", "ana:x", "--cookie", "a=1", "--cookie", "b=2",
    ]);
    listening.load(&[&url, "-n", "1", "-X", "PUT", "--json-body", "@b.json"]);
    listening.load(&[&url, "-n", "1", "--data-urlencode", "name=Ana B"]);
    listening.load(&[&url, "-n", "1", "-F", "name=Ana", "-F", "file=@b.json"]);
    let host = url.trim_start_matches("http://").to_string();
    let seen = listening.seen();
    assert_eq!(
        seen[..3],
        [
            format!(
                "POST / HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic YW5hOng=\r\nCookie: a=1; b=2\r\nContent-Length: 8\r\n\r\n{{\"n\": 1}}"
            ),
            format!(
                "PUT / HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{{\"n\": 1}}"
            ),
            format!(
                "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\nname=Ana+B"
            ),
        ]
    );
    assert!(
        seen[3].contains("Content-Type: multipart/form-data; boundary=")
            && seen[3].contains("filename=\"b.json\""),
        "{}",
        seen[3]
    );
}

#[test]
fn json_lines_are_sent_by_their_weights_and_kept_as_a_sample() {
    let listening = Listening::new(hello);
    let mut file: String = (0..11).map(|i| format!("{{\"path\": \"/{i}\"}}\n")).collect();
    file.push_str(
        "{\"path\": \"/often\", \"weight\": 3, \"headers\": {\"X-Y\": \"z\"}, \"json\": [1]}\n",
    );
    listening.write("many.jsonl", &file);
    let store = listening.path().join("store.db").display().to_string();
    let arguments = [
        "--store",
        &store,
        "load",
        &listening.url,
        "-c",
        "1",
        "-n",
        "14",
        "--requests",
        "many.jsonl",
        "-H",
        "X-Y: w",
        "-u",
        "ana:x",
    ];
    pippin(listening.path(), &arguments).says(&["many.jsonl"]);
    let run = pippin(listening.path(), &["--store", &store, "export", "--format", "json"]);
    let json: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error} {run}"));
    let text = json.to_string();
    assert!(text.contains("(requests of many.jsonl)") && !text.contains("YW5h"), "{text}");
    let seen = listening.seen();
    let often: Vec<&String> = seen.iter().filter(|one| one.starts_with("POST /often ")).collect();
    assert_eq!((seen.len(), often.len()), (14, 3));
    assert!(often[0].contains("X-Y: w\r\n") && !often[0].contains("X-Y: z"), "{}", often[0]);
    assert!(often[0].ends_with("\r\n\r\n[1]"), "{}", often[0]);
}

#[test]
fn vegeta_targets_name_the_server_themselves() {
    let listening = Listening::new(hello);
    listening.write("body", "abc");
    listening.write("t.txt", &format!("GET {0}/a\n\nPOST {0}/b\nX-Y: z\n@body\n", listening.url));
    listening.load(&["-n", "2", "--requests", "t.txt"]);
    let url = listening.url.clone();
    listening.write("u.txt", "/c?d=1\n# no\n\n/e\n");
    listening.load(&[&url, "-n", "2", "--urls-from-file", "u.txt"]);
    let seen = listening.seen();
    assert_eq!(lines(&seen), ["GET /a", "POST /b", "GET /c?d=1", "GET /e"]);
    assert!(seen[1].ends_with("X-Y: z\r\nContent-Length: 3\r\n\r\nabc"), "{}", seen[1]);
}

#[test]
fn a_compressed_answer_is_counted_as_it_was_received() {
    // 23 bytes: gzip of three letters.
    const PACKED: &[u8] =
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03KLJ\x06\x00\xc2A$5\x03\x00\x00\x00";
    let listening = Listening::new(|| Answer::ok(PACKED).header("Content-Encoding: gzip"));
    let url = listening.url.clone();
    let outcome = listening.load(&[&url, "-n", "10", "--compressed", "--json", "-", "--quiet"]);
    let json: Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error} {outcome}"));
    assert_eq!(json["bytes"]["body"], 10 * PACKED.len(), "{json}");
    let seen = listening.seen();
    assert!(seen[0].contains("Accept-Encoding: gzip, deflate, br, zstd\r\n"), "{}", seen[0]);
}

#[test]
fn one_wrong_line_refuses_the_file_with_its_place_and_the_fix() {
    let listening = Listening::new(hello);
    let url = listening.url.clone();
    let refused = |name: &str, text: &str, arguments: &[&str], parts: &[&str]| {
        listening.write(name, text);
        let all = [&["-n", "1", "--requests", name], arguments].concat();
        let outcome = listening.load(&all);
        assert_eq!(outcome.code, Some(2), "{outcome}");
        outcome.says(parts);
    };
    let url = [url.as_str()];
    refused(
        "a.jsonl",
        "{\"path\": \"/\"}\n{\"pth\": \"/\"}\n",
        &url,
        &["a.jsonl:2: unknown key `pth`", "did you mean `path`"],
    );
    refused(
        "b.txt",
        "GET /\n\nGET\n",
        &url,
        &["b.txt:3: `GET` is not a request: write METHOD URL"],
    );
    refused("c.jsonl", "{\"path\": \"/a b\"}\n", &url, &["c.jsonl:1: path `/a b` must start"]);
    refused("d.txt", "GET /\n", &[], &["d.txt only has paths: name the server too"]);
    refused("e.txt", "GET http://other/\n", &url, &["e.txt:1: this goes to http://other"]);
    refused("f.txt", "", &url, &["f.txt: it holds no request"]);
    refused(
        "g.txt",
        "GET /\n",
        &[&url, &["-u", "ana:x", "-H", "authorization: y"][..]].concat(),
        &["keep one"],
    );
    let path = format!("{}/x", url[0]);
    refused("h.txt", "GET /\n", &[&path], &["leave it out"]);
    let outcome = listening.load(&[url[0], "--requests", "1000"]);
    outcome.says(&["a number of requests is -n 1000"]);
    assert_eq!(listening.seen(), Vec::<String>::new(), "nothing was sent");
}

#[test]
fn imports_are_files_that_a_load_takes() {
    let listening = Listening::new(hello);
    let url = listening.url.clone();
    listening.write(
        "log",
        "::1 - - [x] \"GET /a?b=1 HTTP/1.1\" 200 1\n::1 - - [x] \"POST /p HTTP/1.1\" 200 1\n",
    );
    listening.write("c.sh", "curl 'https://shop.example/c' \\\n  -d 'x=1'\n");
    listening.write("r.har", r#"{"log":{"entries":[{"request":{"method":"GET","url":"https://a/h","headers":[{"name":"Cookie","value":"s=1"}]}},{"request":{"method":"GET","url":"https://b/i"}}]}}"#);
    let import = |arguments: &[&str]| pippin(listening.path(), &[&["import"], arguments].concat());
    import(&["access-log", "log", "-o", "log.jsonl"])
        .says(&["left out: POST requests, whose bodies no log has (1)", "--requests log.jsonl"]);
    assert_eq!(import(&["har", "r.har"]).code, Some(2));
    import(&["har", "r.har"]).says(&["choose one with --host: a (1), b (1)"]);
    import(&["har", "r.har", "--host", "a", "--out", "har.jsonl"]).says(&["keep the file private"]);
    let curl = import(&["curl", "c.sh"]);
    assert_eq!(
        curl.stdout,
        "{\"method\":\"POST\",\"path\":\"/c\",\"headers\":{\"User-Agent\":\"curl/7.88.1\",\"Accept\":\"*/*\",\"Content-Type\":\"application/x-www-form-urlencoded\"},\"body\":\"x=1\"}\n"
    );
    listening.write("curl.jsonl", &curl.stdout);
    for file in ["log.jsonl", "har.jsonl", "curl.jsonl"] {
        listening.load(&[&url, "-n", "1", "--requests", file]);
    }
    let seen = listening.seen();
    assert_eq!(lines(&seen), ["GET /a?b=1", "GET /h", "POST /c"]);
    assert!(seen[1].contains("Cookie: s=1"), "{}", seen[1]);
}

#[test]
fn an_openapi_file_and_a_collection_are_files_that_a_load_takes() {
    let listening = Listening::new(hello);
    let url = listening.url.clone();
    listening.write(
        "api.yaml",
        "openapi: 3.0.3\npaths:\n  /items/{id}:\n    get:\n      parameters:\n        - { name: id, in: path, example: a b }\n  /search:\n    get: { parameters: [ { name: q, in: query, required: true } ] }\n",
    );
    let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
    let item = r#"{"request": {"method": "POST", "url": "{{base}}/p", "body": {"mode": "raw", "raw": "{{word}}"}}}"#;
    listening.write(
        "shop.json",
        &format!(
            "{{\"info\": {{\"schema\": \"{schema}\"}},\n\"variable\": [{{\"key\": \"word\", \"value\": \"hi\"}}],\n\"item\": [{item}]}}"
        ),
    );
    let import = |arguments: &[&str]| pippin(listening.path(), &[&["import"], arguments].concat());
    import(&["openapi", "api.yaml", "-o", "api.jsonl"])
        .says(&["left out: operations without an example of their parameter `q` (1)"]);
    import(&["postman", "shop.json"]).is_a_user_error(&[
        "shop.json:3: the variable {{base}} has no value",
        "--variable 'base=VALUE'",
    ]);
    let given = ["--variable", "base=https://shop.example", "-o", "shop.jsonl"];
    import(&[&["postman", "shop.json"][..], &given].concat()).says(&["--requests shop.jsonl"]);
    for file in ["api.jsonl", "shop.jsonl"] {
        listening.load(&[&url, "-n", "1", "--requests", file]);
    }
    let seen = listening.seen();
    assert_eq!(lines(&seen), ["GET /items/a%20b", "POST /p"]);
    assert!(seen[1].ends_with("\r\n\r\nhi"), "{}", seen[1]);
}

/// `pippin run` of a project's workload with a PUT and a body that varies: proofs and load send
/// each body whole, and check the answer.
#[test]
fn workloads_send_bodies() {
    let listening = Listening::echoing();
    listening.write(
        "pippin.toml",
        &format!(
            "[target.shop]\nurl = \"{}\"\n[workload.order]\nrequest = {{ method = \"PUT\", path = \"/orders/{{n}}\", headers = {{ Content-Type = \"application/json\" }}, body = \"<{{n}}>\", vary = {{ n = {{ from = 1, to = 3 }} }} }}\nanswer = {{ body = \"<{{n}}>\" }}\n[plan.ci]\nworkload = \"order\"\ntargets = [\"shop\"]\nrepetitions = 1\nprofile = {{ kind = \"closed\", connections = 1, requests = 30 }}\ncpus = {{ share = true }}\nrequire = [\"errors < 1\"]\n",
            listening.url
        ),
    );
    let outcome = pippin(listening.path(), &["run", "ci"]);
    outcome.says(&["own/shop", "gate passed  require errors < 1"]);
    let seen = listening.seen();
    let puts: Vec<&String> = seen.iter().filter(|one| one.starts_with("PUT /orders/")).collect();
    assert!(puts.len() >= 30, "{outcome}");
    for put in puts {
        let n = put.strip_prefix("PUT /orders/").unwrap().split(' ').next().unwrap();
        assert!(
            put.contains("Content-Type: application/json\r\n")
                && put.ends_with(&format!("\r\nContent-Length: 3\r\n\r\n<{n}>")),
            "{put}"
        );
    }
}

/// Stands for what nobody shall find.
const WORD: &str = "xyzzy1234";

/// The files below this folder that have the word.
fn holding_word(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(holding_word(&path));
        } else if std::fs::read(&path)
            .unwrap()
            .windows(WORD.len())
            .any(|part| part == WORD.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

const NOWHERE: [PathBuf; 0] = [];

/// A word that stands in a query, a header, a body, in what is expected and in what the server
/// answers. By default it is printed, where it is an answer, and nowhere kept.
#[test]
fn what_may_be_a_secret_is_printed_and_not_kept() {
    let server = spawn(Script::always(Answer::raw(
        format!(
            "HTTP/1.1 302 Found\r\nLocation: /next?t={WORD}\r\nContent-Length: 9\r\n\r\n{WORD}"
        )
        .as_bytes(),
    )))
    .unwrap();
    let checkout = Checkout::new();
    let url = format!("http://{}/a?token={WORD}&{WORD}", server.address());
    let (header, form) = (format!("X-Whatever: {WORD}"), format!("password={WORD}"));
    let asked = ["load", &url, "-H", &header, "--body", &form, "-c", "1"];
    let load = |more: &[&str]| checkout.pippin(&[&asked, more].concat());
    let wrong = ["--expect-status", "200", "-n", "20"];
    let folder = checkout.store_path().parent().unwrap().to_owned();
    let outcome = load(&wrong);
    assert!(outcome.stdout.contains(WORD), "the first wrong answer is printed: {}", outcome.stdout);
    assert_eq!(holding_word(&folder), NOWHERE);
    let kept = checkout.store().load("latest").unwrap();
    let target = &kept.trials[0].load_spec.as_ref().unwrap().requests[0].target;
    assert!(target.starts_with("/a?token=(not kept: 9 bytes, "), "{target}");
    assert!(kept.header.plan.title.ends_with("/a?token=…&…"), "{}", kept.header.plan.title);
    // Every shape of load, what right answers must have, and every other form of the result.
    let short = ["--warm-up", "none", "-d", "200ms"];
    let shapes: [&[&str]; 6] = [
        &["--expect-body", WORD, "-n", "20"],
        &[
            "--expect-contains",
            WORD,
            "--require",
            "errors < 1%",
            "-n",
            "20",
            "--repeat",
            "2",
            "--junit",
            "gates.xml",
        ],
        &["-R", "100", "--expect-status", "200", "--warm-up", "none", "-d", "200ms"],
        &["--objective", "p99<1s", "--warm-up", "none", "-d", "200ms"],
        &["--html", "page.html", "--summary", "summary.md", "-n", "20"],
        &["--no-keep-alive", "--expect-status", "302", "-n", "20"],
    ];
    for shape in shapes {
        load(shape);
        assert_eq!(holding_word(&folder), NOWHERE, "{shape:?}");
    }
    for (without, shape) in [("-c", ["--sweep", "1,2"]), ("-c", ["--devices", "3"])] {
        let place = asked.iter().position(|word| *word == without).unwrap();
        let more =
            if shape[0] == "--sweep" { &short[..] } else { &["--ramp", "100ms,100ms,100ms"] };
        let outcome = checkout.pippin(&[&asked[..place], &shape, more].concat());
        assert_ne!(outcome.code, Some(2), "{outcome}");
        assert_eq!(holding_word(&folder), NOWHERE, "{shape:?}");
    }
    let page = std::fs::read_to_string(checkout.path().join("page.html")).unwrap();
    assert!(page.contains("load") && !page.contains(WORD), "a page may be published");
    for written in ["summary.md", "gates.xml"] {
        let text = std::fs::read_to_string(checkout.path().join(written)).unwrap();
        assert!(!text.is_empty() && !text.contains(WORD), "{written}: {text}");
    }
    for format in ["markdown", "csv", "json", "prometheus"] {
        let exported = checkout.pippin(&["export", "-f", format]);
        assert!(exported.code == Some(0) && !exported.stdout.contains(WORD), "{exported}");
    }
    let shown = checkout.pippin(&["history"]);
    assert!(shown.code == Some(0) && !shown.stdout.contains(WORD), "{shown}");
    // A second load of the same requests is known to be the same, and another one is not.
    let digest = || checkout.store().load("latest").unwrap().header.requests.unwrap().digest;
    load(&wrong);
    let first = digest();
    load(&wrong);
    assert_eq!(digest(), first);
    load(&[&wrong[..], &["--keep-requests"]].concat());
    assert_eq!(digest(), first);
    assert!(!holding_word(&folder).is_empty(), "everything is kept where that is asked for");
    let kept = checkout.store().load("latest").unwrap();
    assert!(kept.trials[0].load.as_ref().unwrap().has_firsts());
}

/// The word in a project: in its workload, in what varies, in what is right and in wrong answers. The
/// pages that a run writes have no word either.
#[test]
fn what_may_be_a_secret_in_a_project_is_not_kept() {
    let file = |address: &str, answer: &str| {
        format!(
            "[target.shop]\nurl = \"{address}\"\nserves = [\"order\"]\n[workload.order]\nrequest = {{ method = \"PUT\", path = \"/orders/{{n}}?token={WORD}\", headers = {{ X-Whatever = \"{WORD}\" }}, body = \"{{w}} {WORD}\", vary = {{ n = {{ from = 1, to = 3 }}, w = {{ values = [\"a{WORD}\", \"b{WORD}\", \"c{WORD}\"] }} }} }}\nanswer = {{ body = \"{answer} {WORD}\", contains = [\"{WORD}\"] }}\n[plan.ci]\nworkload = \"order\"\ntargets = [\"shop\"]\nrepetitions = 1\nprofile = {{ kind = \"closed\", connections = 1, requests = 30 }}\ncpus = {{ share = true }}\nrequire = [\"errors < 1\"]\n"
        )
    };
    let listening = Listening::echoing();
    let own = listening.path().join(".pippin");
    listening.write("pippin.toml", &file(&listening.url, "{w}"));
    pippin(listening.path(), &["run", "ci"]).says(&["own/shop", "gate passed  require errors < 1"]);
    assert_eq!(holding_word(&own), NOWHERE);
    let latest = || pippin(listening.path(), &["report"]);
    latest().says(&["own/shop"]);
    listening.write("pippin.toml", &file(&listening.url, "{w} other"));
    pippin(listening.path(), &["run", "ci"]).says(&["wrong answers"]);
    assert_eq!(holding_word(&own), NOWHERE);
    latest().says(&["wrong answers"]);
    pippin(listening.path(), &["run", "ci", "--keep-requests"]);
    assert!(!holding_word(&own).is_empty(), "everything is kept where that is asked for");
}

/// The word in steps, in the data of users, in what is expected, and in a comparison of two servers.
#[test]
fn what_may_be_a_secret_in_a_scenario_is_not_kept() {
    let listening = [Listening::echoing(), Listening::echoing()];
    let checkout = Checkout::new();
    checkout.write("users.csv", &format!("name,password\nana,{WORD}\n"));
    checkout.write(
        "shop.toml",
        &format!(
            "[data]\nuser = {{ file = \"users.csv\" }}\nkey = {{ one_of = [\"{WORD}\"] }}\n[[steps]]\npost = \"/in?k={WORD}\"\nheaders = {{ X-Whatever = \"{WORD}\" }}\nform = {{ password = \"{{user.password}}\", key = \"{{key}}\", more = \"{WORD}\" }}\nexpect = {{ contains = \"{WORD}\", regex = \"{WORD}.*\" }}\n[[steps]]\npost = \"/out\"\njson = {{ a = \"{WORD}\" }}\nexpect = {{ contains = \"other {WORD}\", json = {{ \"$.a\" = \"{WORD}\" }} }}\n"
        ),
    );
    let folder = checkout.store_path().parent().unwrap().to_owned();
    let urls = [0, 1].map(|nth| listening[nth].url.as_str());
    let load = ["load", urls[0], "--scenario", "shop.toml", "-c", "1", "-n", "10"];
    let outcome = checkout.pippin(&load);
    assert!(outcome.stdout.contains(WORD), "the first wrong answer is printed: {outcome}");
    assert_eq!(holding_word(&folder), NOWHERE);
    let compare = ["compare", urls[0], urls[1], "--repeat", "2", "--warm-up", "none", "-c", "1"];
    let header = format!("X-Other: {WORD}");
    for more in [
        &["--scenario", "shop.toml", "-n", "10"][..],
        &["--path", "/a?t=xyzzy1234", "-H", &header, "-n", "10"],
        &["--method", "POST", "--body", WORD, "--expect-body", WORD, "-n", "10"],
    ] {
        let outcome = checkout.pippin(&[&compare, more].concat());
        assert_ne!(outcome.code, Some(2), "{outcome}");
        let runs = checkout.path().join("runs");
        let found: Vec<PathBuf> =
            [&folder, &runs].into_iter().flat_map(|it| holding_word(it)).collect();
        assert_eq!(found, NOWHERE, "{more:?}");
    }
    checkout.pippin(&[&load[..], &["--keep-requests"]].concat());
    assert!(!holding_word(&folder).is_empty(), "everything is kept where that is asked for");
}

/// Whoever loads a target that another program loads is told, and so is the other one: the long
/// load, which began first, too.
#[test]
fn two_loads_of_one_target_on_one_machine_name_each_other() {
    let listening = Listening::new(|| Answer::ok(b"hello"));
    let checkout = Checkout::new();
    let url = listening.url.as_str();
    let long = checkout.start(&["load", url, "-v", "-c", "1", "-d", "60s", "--warm-up", "none"]);
    let has_begun = || listening.seen.lock().unwrap().len() > 50;
    assert!(until(has_begun), "the long load has begun");
    let alone = Listening::new(|| Answer::ok(b"hello"));
    let elsewhere = checkout.pippin(&["load", &alone.url, "-c", "1", "-n", "50"]);
    assert!(!elsewhere.stdout.contains("same target"), "{elsewhere}");
    let short = checkout.start(&["load", url, "-v", "-c", "1", "-n", "50"]);
    let (of_long, of_short) = (long.id(), short.id());
    let place = url.strip_prefix("http://").unwrap();
    short.finish().says(&["SUSPECT same target", &format!("process {of_long}:")]);
    long.press_ctrl_c();
    long.finish().says(&["SUSPECT same target", &format!("process {of_short}:")]);
    let store = checkout.store();
    let runs = store.list().unwrap();
    let kept = runs.iter().map(|run| store.load(&run.id).unwrap());
    let mut told: Vec<String> = kept.flat_map(|run| run.trials[0].beside.clone()).collect();
    told.sort();
    let mut both = [of_long, of_short].map(|process| format!("process {process}: {place}"));
    both.sort();
    assert_eq!(told, both);
}

/// Right and wrong answers in turn: a GraphQL server answers errors with 200 too.
#[test]
fn a_wrong_value_in_json_is_a_wrong_answer_with_its_place() {
    let right = r#"{"data": {"user": {"id": 7}}}"#;
    let wrong = r#"{"data": null, "errors": [{"message": "no such user"}]}"#;
    let server = spawn(Script::each(move |request, _| {
        Answer::ok(if request.number % 2 == 0 { right } else { wrong }.as_bytes())
    }))
    .unwrap();
    let (url, folder) = (format!("http://{}", server.address()), tempfile::tempdir().unwrap());
    let lines = r#"{"path": "/", "expect_json": {"/errors": null, "/data/user/id": 7}}"#;
    std::fs::write(folder.path().join("a.jsonl"), lines).unwrap();
    let steps =
        "[[steps]]\nname = \"a\"\nget = \"/\"\nexpect = { json = { \"/data/user/id\" = 7 } }\n";
    std::fs::write(folder.path().join("a.toml"), steps).unwrap();
    let flags = ["--expect-json", "/data/user/id=7", "--expect-json", "/errors=null"];
    for (asked, said) in [
        (&flags[..], "/data/user/id must be `7`, and is not there"),
        (&["--requests", "a.jsonl"], "/data/user/id must be `7`, and is not there"),
        (&["--scenario", "a.toml"], "/data/user/id of the body is not `7`"),
    ] {
        let load = ["load", &url, "--no-store", "-c", "1", "-n", "10", "--json", "out.json"];
        let outcome = pippin(folder.path(), &[&load, asked].concat());
        let json = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["requests"]["good"], 5, "{outcome}");
        assert_eq!(json["errors"]["wrong_body"], 5, "{outcome}");
        assert!(outcome.stdout.contains(said), "{said}: {outcome}");
    }
    for (wrong, fix) in [("id=7", "does not begin with `/`"), ("/id", "has no `=`")] {
        let outcome = pippin(folder.path(), &["load", &url, "--expect-json", wrong]);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(fix), "{outcome}");
    }
}

/// `contains` and `json` of a project file hold in the proofs and under load.
#[test]
fn a_project_says_what_answers_hold() {
    let server = || {
        spawn(Script::each(move |request, _| {
            // The proofs and the look before the load ask less often than this.
            Answer::ok(if request.number < 100 {
                br#"{"ok": true, "total": 1}"#
            } else {
                br#"{"ok": no}"#
            })
        }))
        .unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    for answer in [r#"contains = ["total"]"#, r#"json = { "/ok" = true }"#] {
        let server = server();
        let text = format!(
            "[target.shop]\nurl = \"http://{}\"\n[workload.item]\nrequest = {{ path = \"/\" }}\nanswer = {{ {answer} }}\n[plan.ci]\nworkload = \"item\"\ntargets = [\"shop\"]\nrepetitions = 1\nprofile = {{ kind = \"closed\", connections = 1, requests = 500 }}\ncpus = {{ share = true }}\n",
            server.address()
        );
        std::fs::write(folder.path().join("pippin.toml"), text).unwrap();
        let outcome = pippin(folder.path(), &["run", "ci"]);
        assert!(outcome.stdout.contains("wrong body"), "{answer}: {outcome}");
    }
}

/// Requests come from standard input as from a file, and what is wrong is named by its line there.
#[test]
fn requests_come_from_standard_input() {
    let server = Listening::new(|| Answer::ok(b"ok"));
    let load = |input: &str, flags: &str| {
        let line = format!(
            "printf '{input}' | timeout --signal=KILL 60 {} load {} --no-store -c 1 -n 4 --warm-up none {flags}",
            env!("CARGO_BIN_EXE_pippin"),
            server.url
        );
        let mut bash = std::process::Command::new("bash");
        let output = bash.args(["-c", &line]).current_dir(server.path()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    let said = load(r#"{"path": "/a"}\n{"path": "/b", "body": "x"}\n"#, "--requests -");
    assert!(said.contains("requests of standard input"), "{said}");
    load("/c\n", "--urls-from-file -");
    let said = load(r#"{"path": "/a"}\n{"paht": "/b"}\n"#, "--requests -");
    assert!(said.contains("standard input:2:"), "{said}");
    let said = load("", "--requests -");
    assert!(said.contains("it holds no request"), "{said}");
    let said = load(r"\377", "--requests -");
    assert!(said.contains("read the requests of standard input"), "{said}");
    let seen = server.seen();
    let count = |line: &str| seen.iter().filter(|request| request.starts_with(line)).count();
    assert_eq!([count("GET /a "), count("POST /b "), count("GET /c ")], [2, 2, 4], "{seen:?}");
}
