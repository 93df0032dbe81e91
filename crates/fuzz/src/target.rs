//! The targets. Each takes any bytes and panics if something breaks its guarantees. It returns a
//! number that stands for what was done with the bytes.
use pippin_engine::fuzz;
use pippin_engine::http1::request::check;
use pippin_model::plan::Plan;
use pippin_model::plan::objective::Objective;
use pippin_model::plan::plan_options::PlanOptions;
use pippin_model::request::Request;
use pippin_model::request::import::{Imported, access_log, curl, har, openapi, postman};
use pippin_model::request::request_file::{
    self, Bodies, FileRequest, Format, WrongLine, json_lines,
};
use pippin_model::target::manifest::Manifest;
use pippin_model::target::project::Project;
use pippin_model::text::file::FileError;
use pippin_model::text::units::{Spread, parse_bytes, parse_duration_ns, parse_percent};
use pippin_model::verdict::gate::Gate;
use pippin_model::workload::Workload;
use pippin_testing::hostile::Speaks;
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::corpus::{files, kept, repository, sent};
use crate::fleet;

/// A target.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it tests.
    pub about: &'static str,
    /// Feeds one input.
    pub feed: fn(&[u8]) -> u64,
    /// The inputs to begin with, besides the kept ones.
    seeds: fn() -> io::Result<Vec<Vec<u8>>>,
    /// Words of its format.
    pub words: &'static [&'static [u8]],
}

impl Target {
    /// The inputs to begin with.
    ///
    /// # Errors
    /// If a file of the repository cannot be read.
    pub fn corpus(&self) -> io::Result<Vec<Vec<u8>>> {
        Ok([kept(self.name)?, (self.seeds)()?].concat())
    }
}

/// Every target.
pub const TARGETS: [Target; 13] = [
    Target {
        name: "decoder",
        about: "answers of HTTP/1.1",
        feed: fuzz::decoder,
        seeds: || {
            Ok([sent(Speaks::Http1, false, &[7, 0]), sent(Speaks::Http1, false, &[1, 1])].concat())
        },
        words: &[
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.0 ",
            b"HTTP/1.1 103 \r\n\r\n",
            b"\r\n\r\n",
            b"\r\n",
            b"\n",
            b"Content-Length: ",
            b"Transfer-Encoding: chunked\r\n",
            b"Connection: close\r\n",
            b"0\r\n\r\n",
            b"5\r\nhello\r\n",
            b"ffffffffffffffff",
            b"18446744073709551615",
            b": ",
            b"\0",
        ],
    },
    Target {
        name: "frames",
        about: "frames of HTTP/2",
        feed: fuzz::frames,
        seeds: || Ok(sent(Speaks::Http2, false, &[3])),
        words: &[
            b"\0\0\x01\x01\x04\0\0\0\x01\x88",
            b"\0\0\x05\0\x01\0\0\0\x01hello",
            b"\0\0\0\x04\0\0\0\0\0",
            b"\0\0\x08\x06\0\0\0\0\0\0\0\0\0\0\0\0\0",
            b"\0\0\x04\x03\0\0\0\0\x03\0\0\0\x07",
            b"\0\0\x08\x07\0\0\0\0\0\0\0\0\x01\0\0\0\0",
            b"\0\0\x04\x08\0\0\0\0\x01\x7f\xff\xff\xff",
            b"\0\0\x01\x09\x04\0\0\0\x01\x88",
            b"\0\0\0\x01",
            b"\0\0\0\x03",
            b"\0\0\0\x05",
        ],
    },
    Target {
        name: "hpack",
        about: "header blocks of HTTP/2",
        feed: fuzz::hpack,
        seeds: || Ok(blocks()),
        words: &[
            b"\x88",
            b"\xbe",
            b"\x40\x01a\x01b",
            b"\0\x01a\x01b",
            b"\x7f\xa1\x1e",
            b"\x3f\xe1\x1f",
            b"\x20",
            b"\x82\xff\xff",
            b"\xff\xff\xff\xff\xff\x0f",
            b"\x0f\x0d\x015",
        ],
    },
    Target {
        name: "http3",
        about: "answers of HTTP/3",
        feed: fuzz::answer,
        seeds: || {
            Ok(vec![
                b"\x03\x01\x03\0\0\xd9\0\x05hello".to_vec(),
                b"\x01\x01\x06\0\0\xd9\x54\x015\0\x05hello\x01\x06\0\0\x21a\x01b".to_vec(),
                b"\x07\x01\x03\0\0\xd8\x01\x03\0\0\xff\x01".to_vec(),
            ])
        },
        words: &[
            b"\x01\x03\0\0\xd9",
            b"\x01\x03\0\0\xd8",
            b"\0\x05hello",
            b"\0\x40\x05hello",
            b"\0\0",
            b"\x21\x01x",
            b"\x01\x06\0\0\x21a\x01b",
            b"\x04\0",
            b"\x07\x01\0",
            b"\x80\0\0\x01",
            b"\xc0\0\0\0\0\0\0\0",
        ],
    },
    Target {
        name: "qpack",
        about: "sections of fields of HTTP/3",
        feed: fuzz::section,
        seeds: || {
            Ok(vec![b"\0\0\xd9\x54\x015\x21a\x01b".to_vec(), b"\0\0\x51\x0b/index.html".to_vec()])
        },
        words: &[
            b"\0\0",
            b"\xd9",
            b"\xff\x01",
            b"\x54\x015",
            b"\x21a\x01b",
            b"\x27\0",
            b"\x29\x81",
            b"\x80",
            b"\x10",
            b"\xff\xff\xff\xff\xff\x0f",
        ],
    },
    Target {
        name: "records",
        about: "records of a TLS handshake",
        feed: fuzz::records,
        seeds: || Ok(sent(Speaks::Http1, true, &[5])),
        words: &[
            b"\x16\x03\x03",
            b"\x15\x03\x03\0\x02",
            b"\x14\x03\x03\0\x01\x01",
            b"\x17\x03\x03",
            b"\x02\0\0\x26\x03\x03",
            b"\x0b\0\0\x04",
            b"\x08\0\0\x02\0\0",
            b"\x02\x28",
            b"\x01\0",
        ],
    },
    Target {
        name: "session",
        about: "TLS after its handshake: records that are cut, changed, rekeyed and closed",
        feed: crate::session::session,
        seeds: || Ok(vec![vec![0, 7, 0, 9, 5, 0, 6, 30], vec![1, 200, 1, 255, 7, 40, 5, 0, 2, 3]]),
        words: &[b"\0\xff", b"\x03\0", b"\x04\0", b"\x05\0", b"\x06\x10", b"\x07\x05"],
    },
    Target {
        name: "toml",
        about: "targets, workloads, plans and project files (the first byte says which)",
        feed: toml,
        seeds: tomls,
        words: &[
            b"schema = 1\n",
            b"[profile]\n",
            b"kind = \"closed\"\n",
            b"kind = \"open\"\n",
            b"duration = \"5s\"\n",
            b"connections = ",
            b"rate = ",
            b"[[proof]]\n",
            b"[request.vary]\n",
            b"{ from = 1, to = 4294967295 }",
            b"\"\"\"",
            b"[[",
            b"]]",
            b" = ",
            b"\"\\u001b\"",
            b"-1",
            b"1e309",
            b"nan",
            b"99999999999999999999",
            b"''",
        ],
    },
    Target {
        name: "requests",
        about: "files of requests (the first byte says in which format)",
        feed: requests,
        seeds: || Ok(Vec::new()),
        words: &[
            b"GET http://localhost/ \n",
            b"POST /a\n",
            b"X-Name: value\n",
            b"@body\n",
            b"\n\n",
            b"{\"method\": \"GET\"",
            b"\"url\": \"/\"",
            b"\"headers\": {\"a\": [\"b\"]}",
            b"\"body\": \"aGVsbG8=\"",
            b"\"weight\": 4294967295",
            b"#",
            b"%00",
            b"\\u0000",
            b"[::1]",
            b"://",
        ],
    },
    Target {
        name: "imports",
        about: "HAR files, access logs, curl commands, OpenAPI files and Postman collections (the first byte says which)",
        feed: imports,
        seeds: || Ok(Vec::new()),
        words: &[
            b"{\"log\": {\"entries\": [",
            b"{\"request\": {\"method\": \"GET\", \"url\": \"http://a/\"}}",
            b"]}}",
            b"127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 2326\n",
            b"curl 'http://a/' ",
            b"-H 'A: b' ",
            b"--data-raw $'\\x00' ",
            b"-X ",
            b"--data-urlencode ",
            b"\\\n",
            b"\"",
            b"'",
            b"$'",
            b"openapi: 3.1.0\npaths:\n  /a/{b}:\n    get:\n",
            b"parameters: [{ name: b, in: path, example: 1 }]\n",
            b"$ref: '#/a'",
            b"{\"info\": {\"schema\": \"/v2.1\"}, \"item\": [",
            b"{\"request\": \"{{a}}\"}",
        ],
    },
    Target {
        name: "orders",
        about: "orders of a coordinator to an agent",
        feed: fleet::orders,
        seeds: || Ok(fleet::some_orders()),
        words: fleet::WORDS,
    },
    Target {
        name: "reports",
        about: "reports of an agent to its coordinator",
        feed: fleet::reports,
        seeds: || Ok(fleet::some_reports()),
        words: fleet::WORDS,
    },
    Target {
        name: "values",
        about: "durations, sizes, percentages, spreads, gates and objectives",
        feed: values,
        seeds: || {
            let all = [
                "5s",
                "1h30m",
                "100ms +-5%",
                "64KiB",
                "12.5%",
                "p99 < 50ms, errors < 0.1%",
                "goodput > 10k/s",
                "p99.9 > 1.1x",
            ];
            Ok(all.map(|text| text.as_bytes().to_vec()).into())
        },
        words: &[
            b"p99",
            b" < ",
            b" > ",
            b"ms",
            b"us",
            b"%",
            b"+-",
            b"KiB",
            b"1e309",
            b"-",
            b"99999999999999999999",
            b"nan",
            b"x",
            b", ",
        ],
    },
];

/// Header blocks from the hostile servers' frames, each after its length.
fn blocks() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for mut bytes in sent(Speaks::Http2, false, &[]) {
        while let Some([a, b, c, kind, ..]) = bytes.first_chunk::<9>().copied() {
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            let Some(block) = bytes.get(9..9 + length) else { break };
            if matches!(kind, 1 | 9) && length < 256 {
                found.push([&[length as u8][..], block].concat());
            }
            bytes.drain(..9 + length);
        }
    }
    found
}

pub(crate) fn number(outcome: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    outcome.hash(&mut hasher);
    hasher.finish()
}

/// How many characters of a message tell it apart from others.
const GIST: usize = 32;

/// The beginning of a message without the parts that differ from file to file: digits and quoted
/// text.
pub(crate) fn gist(message: &str) -> String {
    let unquoted = message.split('`').step_by(2);
    unquoted.flat_map(str::chars).filter(|c| !c.is_ascii_digit()).take(GIST).collect()
}

/// The folder for hand-written files, in memory if possible.
static FOLDER: LazyLock<Option<tempfile::TempDir>> = LazyLock::new(|| {
    let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).ok()?;
    fs::create_dir_all(made.path().join("go/net-http")).ok()?;
    Some(made)
});

fn toml(input: &[u8]) -> u64 {
    let ([kind, bytes @ ..], Some(folder)) = (input, FOLDER.as_ref()) else { return 0 };
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let path =
        [at("go/net-http/target.toml"), at("hello.toml"), at("plan.toml"), at("pippin.toml")];
    let which = usize::from(kind % 4);
    let path = &path[which];
    // A failed write says nothing about Pippin.
    if fs::write(path, bytes).is_err() {
        return 0;
    }
    let outcome = match which {
        0 => Manifest::read(&at("go/net-http")).map(|manifest| manifest.ways().len()),
        1 => Workload::read(path).map(|workload| workload.samples(1, 10).len()),
        2 => Plan::read(path, &PlanOptions::default()).map(|plan| plan.targets.len()),
        _ => Project::read(folder.path()).map(|project| project.plan_ids().count()),
    };
    number((which, outcome.map_err(|error| checked(&error, path, bytes))))
}

/// The text of an error. It must name the file (or one that the file names), and a line that
/// exists.
fn checked(error: &FileError, path: &Path, bytes: &[u8]) -> String {
    let text = error.to_string();
    let folder = FOLDER.as_ref().map(|folder| folder.path().display().to_string());
    assert!(folder.is_some_and(|folder| text.starts_with(&folder)), "{text}");
    match error {
        FileError::Content { path: wrong, line: Some(line), message } if wrong == path => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!((1..=lines).contains(line), "line {line} of {lines}: {message}");
            gist(message)
        }
        FileError::Content { message, .. } => gist(message),
        FileError::Read { .. } => "cannot be read".into(),
    }
}

fn tomls() -> io::Result<Vec<Vec<u8>>> {
    let all = repository();
    let mut found = Vec::new();
    let is_toml = |name: &str| name.ends_with(".toml");
    let manifests = files(&all.join("targets/go"), |name| name == "target.toml")?;
    let workloads = files(&all.join("workloads"), is_toml)?;
    let plans = files(&all.join("plans"), is_toml)?;
    for (kind, texts) in (0_u8..).zip([manifests, workloads, plans]) {
        found.extend(texts.into_iter().map(|text| [&[kind][..], &text].concat()));
    }
    Ok(found)
}

fn wrong_line(text: &str, (line, message): &WrongLine) -> String {
    assert!(*line <= text.lines().count() + 1, "line {line}: {message}");
    gist(message)
}

fn requests(input: &[u8]) -> u64 {
    let [kind, bytes @ ..] = input else { return 0 };
    let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
    let formats = [Format::Vegeta, Format::JsonLines, Format::Urls];
    let which = usize::from(kind % 3);
    let mut bodies = Bodies::beside(Path::new("/nowhere/at/all"));
    let outcome = request_file::parse(text, formats[which], &mut bodies).map(|file| {
        assert!(
            file.requests.len() == file.weights.len() && file.requests.len() == file.lines.len()
        );
        assert!(file.weights.iter().all(|weight| *weight > 0));
        (file.requests.len().min(4), file.server.is_some())
    });
    number((which, outcome.map_err(|wrong| wrong_line(text, &wrong))))
}

fn imports(input: &[u8]) -> u64 {
    let [kind, bytes @ ..] = input else { return 0 };
    let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
    let which = usize::from(kind.wrapping_sub(b'0') % 5);
    let parse: fn(&str) -> Result<Imported, WrongLine> = match which {
        0 => har::parse,
        1 => access_log::parse,
        2 => |text| curl::parse(text, &mut |_| Ok(Vec::new())),
        3 => openapi::parse,
        _ => |text| postman::parse(text, &BTreeMap::new()),
    };
    let outcome = parse(text).map(|imported| {
        imported.requests.iter().for_each(assert_is_written);
        if let Ok(only) = imported.clone().only(None) {
            only.requests.iter().for_each(assert_is_sent);
        }
        (imported.requests.len().min(4), imported.left_out.len())
    });
    number((which, outcome.map_err(|wrong| wrong_line(text, &wrong))))
}

/// What an import writes, a load takes.
fn assert_is_sent(asked: &FileRequest) {
    let FileRequest { method, target, headers, body, .. } = asked.clone();
    let request = Request { method, headers, body, ..Request::get(&target, "localhost") };
    assert_eq!(check(&request), Ok(()), "{asked:?}");
}

/// An imported request, written as a line, must mean the same.
fn assert_is_written(asked: &FileRequest) {
    let line = json_lines::write(asked);
    let mut bodies = Bodies::beside(Path::new("/nowhere/at/all"));
    let Ok(file) = request_file::parse(&line, Format::JsonLines, &mut bodies) else {
        panic!("{line} is not read again")
    };
    let [read] = file.requests.as_slice() else { panic!("{line} is {:?}", file.requests) };
    // The fields of a line are an object: names are unordered, values of one name are ordered.
    let sorted = |headers: &[(String, String)]| {
        let mut headers = headers.to_vec();
        headers.sort_by(|(one, _), (other, _)| one.cmp(other));
        headers
    };
    assert_eq!(
        (&read.method, &read.target, sorted(&read.headers), &read.body),
        (&asked.method, &asked.target, sorted(&asked.headers), &asked.body),
        "{line}"
    );
}

fn values(input: &[u8]) -> u64 {
    let Ok(text) = std::str::from_utf8(input) else { return 0 };
    let said = |error: &dyn std::fmt::Display| gist(&error.to_string());
    number([
        parse_duration_ns(text).map(|_| ()).map_err(|error| said(&error)),
        parse_bytes(text).map(|_| ()).map_err(|error| said(&error)),
        parse_percent(text).map(|_| ()).map_err(|error| said(&error)),
        Spread::parse(text).map(|_| ()).map_err(|error| said(&error)),
        Gate::fail_if(text).map(|_| ()).map_err(|error| said(&error)),
        Objective::parse(text).map(|_| ()).map_err(|error| said(&error)),
    ])
}
