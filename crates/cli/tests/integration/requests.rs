//! Requests: bodies, forms, files of requests, imports.
use super::support::{Checkout, Outcome, pippin};
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use pippin_testing::{Error, Running};
use serde_json::Value;
use std::path::Path;
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

/// A word that stands in a query, a header, a body and in what the server answers. By default it is
/// printed, where it is an answer, and nowhere kept.
#[test]
fn what_may_be_a_secret_is_printed_and_not_kept() {
    const WORD: &str = "xyzzy1234";
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
    let load = |more: &[&str]| {
        let arguments = [
            "load",
            &url,
            "-H",
            &header,
            "--body",
            &form,
            "--expect-status",
            "200",
            "-n",
            "20",
            "-c",
            "1",
        ];
        checkout.pippin(&[&arguments, more].concat())
    };
    let holds_word = |folder: &std::path::Path| {
        let files =
            std::fs::read_dir(folder).unwrap().flatten().filter(|file| file.path().is_file());
        let holds = |path: &std::path::Path| {
            std::fs::read(path).unwrap().windows(WORD.len()).any(|part| part == WORD.as_bytes())
        };
        files.map(|file| file.path()).filter(|path| holds(path)).collect::<Vec<_>>()
    };
    let folder = checkout.store_path().parent().unwrap().to_owned();
    let outcome = load(&[]);
    assert!(outcome.stdout.contains(WORD), "the first wrong answer is printed: {}", outcome.stdout);
    assert_eq!(holds_word(&folder), Vec::<std::path::PathBuf>::new());
    let kept = checkout.store().load("latest").unwrap();
    let target = &kept.trials[0].load_spec.as_ref().unwrap().requests[0].target;
    assert!(target.starts_with("/a?token=(not kept: 9 bytes, "), "{target}");
    assert!(kept.header.plan.title.ends_with("/a?token=…&…"), "{}", kept.header.plan.title);
    // A second load of the same requests is known to be the same, and another one is not.
    let digest = || checkout.store().load("latest").unwrap().header.requests.unwrap().digest;
    let first = digest();
    load(&[]);
    assert_eq!(digest(), first);
    load(&["--keep-requests"]);
    assert_eq!(digest(), first);
    assert!(!holds_word(&folder).is_empty(), "everything is kept where that is asked for");
    let kept = checkout.store().load("latest").unwrap();
    assert!(kept.trials[0].load.as_ref().unwrap().has_firsts());
}
