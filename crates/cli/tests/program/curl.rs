//! `pippin import curl` against curl itself: the request that a load sends is the one that curl
//! sends for the command, or the command is refused.
mod commands;
mod redirections;

use super::support::pippin;
use commands::{REFUSED, SAME};
use pippin_model::request::import::curl;
use pippin_model::request::request_file::json_lines;
use pippin_reference::handle::Running;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use pippin_testing::skipped::skip;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// A server that keeps the bytes of each request.
pub(super) struct Recorder {
    pub server: Running<Account>,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Recorder {
    pub fn start() -> Self {
        Self::answering(|_| Answer::ok(b"ok"))
    }

    /// `answer` has the target of the request.
    pub fn answering(answer: impl Fn(&str) -> Answer + Send + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let keeper = Arc::clone(&seen);
        let server = spawn(Script::each(move |request, _| {
            keeper.lock().unwrap().push(request.bytes.to_vec());
            let text = String::from_utf8_lossy(request.bytes);
            answer(text.split(' ').nth(1).unwrap_or_default())
        }));
        Self { server: server.unwrap(), seen }
    }

    /// This text, with the address of the server for `HOST`.
    pub fn placed(&self, text: &str) -> String {
        text.replace("HOST", &self.server.address().to_string())
    }

    pub fn taken(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

/// A request without what says nothing of it: the order of different fields and the space around
/// their values (RFC 9110 sections 5.3 and 5.5), a length of 0 (section 8.6), what is about the
/// connection, the case of escapes (RFC 3986 section 6.2.2.1), the chance in the boundary of a
/// form, and what tells the version of curl.
#[derive(Debug, PartialEq, Eq)]
struct Normal {
    line: String,
    fields: Vec<(String, String)>,
    body: String,
}

fn normal(bytes: &[u8]) -> Normal {
    // Each byte is a character, so that nothing is lost.
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let boundary = head.split_once("boundary=").map(|(_, rest)| rest.lines().next().unwrap());
    let plain = |text: &str| boundary.map_or(text.into(), |one| text.replace(one, "BOUNDARY"));
    let mut lines = head.split("\r\n");
    let line = upper_escapes(lines.next().unwrap());
    let mut fields: Vec<(String, String)> = lines
        .map(|field| field.split_once(':').unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), plain(value.trim())))
        .map(|(name, value)| match (name.as_str(), value.as_str()) {
            ("user-agent", value) if value.starts_with("curl/") => (name, "curl".into()),
            ("accept-encoding", value) if value.starts_with("deflate, gzip") => {
                (name, "all of curl".into())
            }
            _ => (name, value),
        })
        .filter(|(name, value)| {
            !matches!(
                (name.as_str(), value.as_str()),
                ("connection", "keep-alive") | ("content-length", "0") | ("expect", _)
            )
        })
        .collect();
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    Normal { line, fields, body: plain(body) }
}

/// With capitals in percent-encoded bytes.
fn upper_escapes(line: &str) -> String {
    let mut parts = line.split('%');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |all, part| {
        let (digits, rest) = part.split_at(part.len().min(2));
        format!("{all}%{}{rest}", digits.to_ascii_uppercase())
    })
}

/// Writes the files that the commands name.
fn files(folder: &Path) {
    let files: [(&str, &[u8]); 4] = [
        ("f.txt", b"first line\r\nsecond line\n"),
        ("data.json", b"{\n  \"name\": \"Ana\"\n}\n"),
        ("photo.png", b"\x89PNG\r\n\x1a\n\0\xff"),
        ("page.html", b"<p>hi</p>"),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

fn imported(folder: &Path, command: &str) -> Result<String, String> {
    let mut files = |name: &str| std::fs::read(folder.join(name)).map_err(|it| it.to_string());
    let imported = curl::parse(command, &mut files).map_err(|(_, why)| why)?;
    let only = imported.only(None)?;
    Ok(only.requests.iter().map(json_lines::write).collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_load_sends_what_curl_sends() {
    if Command::new("curl").arg("--version").output().is_err() {
        return skip("curl: a load sends what curl sends", "there is no curl");
    }
    let (recorder, folder) = (Recorder::start(), tempfile::tempdir().unwrap());
    files(folder.path());
    let (mut lines, mut wanted, mut wrong) = (String::new(), Vec::new(), Vec::new());
    for command in SAME {
        let command = recorder.placed(command);
        let mut bash = Command::new("bash");
        bash.args(["-c", &command]).current_dir(folder.path());
        let output = bash.stdin(Stdio::null()).output().unwrap();
        let sent = recorder.taken();
        match (&sent[..], imported(folder.path(), &command)) {
            ([one], Ok(line)) => {
                lines += &format!("{line}\n");
                wanted.push((command, normal(one)));
            }
            ([_], Err(why)) => wrong.push(format!("{command}\n  refused: {why}")),
            (sent, _) => {
                wrong.push(format!("{command}\n  curl sent {} requests: {output:?}", sent.len()))
            }
        }
    }
    std::fs::write(folder.path().join("all.jsonl"), lines).unwrap();
    let count = wanted.len().to_string();
    let url = recorder.placed("http://HOST");
    let load = ["load", &url, "--requests", "all.jsonl", "-c", "1", "-n", &count];
    let outcome =
        pippin(folder.path(), &[&load[..], &["--warm-up", "none", "--no-store"]].concat());
    let sent = recorder.taken();
    assert_eq!(sent.len(), wanted.len(), "{outcome}");
    // A load may begin anywhere in its turns.
    let mut sent: Vec<Option<Normal>> = sent.iter().map(|bytes| Some(normal(bytes))).collect();
    for (command, wanted) in wanted {
        let found = sent.iter_mut().find(|one| one.as_ref() == Some(&wanted));
        if let Some(found) = found {
            *found = None;
        } else {
            let alike = sent.iter().flatten().find(|one| one.line == wanted.line);
            wrong.push(format!("{command}\n  curl: {wanted:?}\n  load: {alike:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_would_be_another_request_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    for (command, part) in REFUSED {
        let command = command.replace("HOST", "localhost:8080");
        match imported(folder.path(), &command) {
            Err(why) => assert!(why.contains(part), "{command}: {why}"),
            Ok(line) => panic!("{command} was taken: {line}"),
        }
    }
    assert!(SAME.len() + REFUSED.len() >= 150, "{} and {}", SAME.len(), REFUSED.len());
}
