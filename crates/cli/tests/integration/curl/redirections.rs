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
