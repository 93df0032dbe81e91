//! Sends a server messages at the edges of HTTP/1.1 and compares its answers with RFC 9110 and RFC
//! 9112. This never changes a verdict: a benchmark should not fail a server for messages that no
//! client sends. The results show what a server leaves out.
//!
//! | module | its job |
//! |---|---|
//! | `compliance`, `smuggling`, `malformed`, `limits` | the table, by kind: what is sent, and which answers are right |
//! | `probes` | what a probe is |
//! | `exchange` | raw bytes to a server and back |
mod compliance;
mod exchange;
mod limits;
mod malformed;
mod probes;
mod smuggling;

use pippin_model::plan::Plan;
use pippin_model::target::conformance::{Conformance, Kind};
use pippin_model::trial::TrialSpec;
use pippin_model::workload::Workload;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::running::RunningTarget;
use probes::Probe;

/// Asks a target once, by the first request of a workload; nothing where that is no GET over plain
/// HTTP/1.1.
#[must_use]
pub fn probe_target(target: &RunningTarget, workload: &Workload) -> Vec<Conformance> {
    let samples = workload.samples(0, 1);
    match samples.first() {
        Some(sample)
            if workload.request.method == "GET"
                && workload.message.is_none()
                // Probes change the query, which the first step of a walk may need as it is.
                && workload.walk.is_none()
                // A stream ends long after a probe gives up.
                && workload.answer.events.is_none()
                && target.way().is_plain() =>
        {
            probe(target.address(), &sample.path)
        }
        _ => Vec::new(),
    }
}

/// Whether this trial asks. Only the first of its target does, in the full form of a plan, because
/// it takes some seconds.
#[must_use]
pub fn is_asked(plan: &Plan, spec: &TrialSpec) -> bool {
    let first = plan.profile.steps.known().first().copied() == spec.step;
    first && spec.repetition == 0 && !plan.quick
}

/// So many probes are under way at the same time: a server that does not answer some of them keeps
/// each waiting for its whole time.
const AT_ONCE: usize = 8;

/// All probes, each with its kind.
fn all(path: &str, host: &str) -> Vec<(Kind, Probe)> {
    let of = |kind, probes: Vec<Probe>| probes.into_iter().map(move |probe| (kind, probe));
    of(Kind::Compliance, compliance::probes())
        .chain(of(Kind::Smuggling, smuggling::probes()))
        .chain(of(Kind::Malformed, malformed::probes()))
        .chain(of(Kind::Limits, limits::probes()))
        .map(|(kind, probe)| (kind, probe.to(path, host)))
        .collect()
}

/// Sends everything once. `path` must be one that the server answers with 200.
#[must_use]
pub fn probe(address: SocketAddr, path: &str) -> Vec<Conformance> {
    let all = all(path, &address.to_string());
    let next = AtomicUsize::new(0);
    let ask = || {
        let mut found = Vec::new();
        while let Some((nth, (kind, probe))) = {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            all.get(nth).map(|probe| (nth, probe))
        } {
            found.push((nth, asked(address, *kind, probe)));
        }
        found
    };
    let mut found: Vec<(usize, Conformance)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .flat_map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    found.sort_by_key(|(nth, _)| *nth);
    found.into_iter().map(|(_, conformance)| conformance).collect()
}

fn asked(address: SocketAddr, kind: Kind, probe: &Probe) -> Conformance {
    let seen = exchange::with(address, &probe.ask);
    Conformance {
        probe: probe.name.into(),
        kind,
        section: probe.section.into(),
        level: probe.level,
        is_right: (probe.is_right)(&seen),
        found: seen.in_words(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::target::conformance::Level;
    use pippin_testing::Running;
    use pippin_testing::scripted::{self, Answer, Script, spawn};
    use std::io::{Read as _, Write as _};

    #[test]
    fn every_probe_names_its_section_once() {
        let all = all("/", "a");
        assert!(all.len() >= 150, "{}", all.len());
        let names: std::collections::BTreeSet<_> =
            all.iter().map(|(_, probe)| probe.name).collect();
        assert_eq!(names.len(), all.len());
        let sections = ["RFC 9110 ", "RFC 9112 ", "RFC 3986 "];
        for (_, probe) in &all {
            assert!(
                sections.iter().any(|begin| probe.section.starts_with(begin)),
                "{}",
                probe.name
            );
            let sent = probe.ask.pieces.concat();
            let has_rest = ["{path}", "{host}", "{x:", "{head}", "{fields", "{digits}"]
                .iter()
                .any(|rest| sent.windows(rest.len()).any(|part| part == rest.as_bytes()));
            assert!(!has_rest, "{}: {}", probe.name, String::from_utf8_lossy(&sent));
        }
    }

    #[test]
    fn a_path_of_any_characters_is_split_in_the_middle() {
        for count in 10..14 {
            let path = format!("/{}", "é".repeat(count));
            assert_eq!(all(&path, "a")[0].1.ask.pieces.len(), 2, "{path}");
        }
    }

    /// The probes that this server answers wrongly.
    fn broken(server: &Running<scripted::Account>) -> Vec<String> {
        let all = probe(server.address(), "/");
        all.into_iter().filter(|one| !one.is_right).map(|one| one.probe).collect()
    }

    #[test]
    fn a_server_that_takes_everything_breaks_what_must_be_refused() {
        // It looks only for the end of the head, and answers every message with 200 and no Date.
        let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
        let broken = broken(&server);
        for name in ["no Host field", "two Host fields", "a space before the colon", "HEAD"] {
            assert!(broken.contains(&name.to_string()), "{name}: {broken:?}");
        }
        for name in [
            "a request in two segments",
            "two requests in one segment",
            "field names in lower case",
        ] {
            assert!(!broken.contains(&name.to_string()), "{name}: {broken:?}");
        }
    }

    /// What is seen of a server that says this to whatever it reads first, and then ends the connection
    /// or waits for the client to do so.
    fn says(answer: &str, closes: bool, ask: &exchange::Ask) -> exchange::Reaction {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer);
                stream.write_all(answer.as_bytes()).unwrap();
                while !closes && stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
            });
            exchange::with(address, ask)
        })
    }

    /// Whether the path takes a POST says nothing of the form of a message. What the server does next
    /// does.
    #[test]
    fn who_takes_no_post_has_not_refused_a_malformed_one() {
        let all = all("/", "a");
        let find = |name: &str| &all.iter().find(|(_, one)| one.name == name).unwrap().1;
        let probe = find("a chunk size that is no number");
        for status in [404, 405] {
            let head = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n");
            let bad = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
            for (answer, closes, is_right) in [
                (format!("{head}\r\n"), false, false),
                (format!("{head}\r\n{head}\r\n"), false, false),
                (format!("{head}\r\n{bad}"), false, true),
                (format!("{head}\r\n"), true, true),
            ] {
                let seen = says(&answer, closes, &probe.ask);
                assert_eq!((probe.is_right)(&seen), is_right, "{answer}: {}", seen.in_words());
            }
        }
        // A target that is not there may be refused by 404.
        assert!(!find("GET *").ask.pieces[0].starts_with(b"POST"));
    }

    #[test]
    fn a_lack_of_date_is_a_note() {
        let all = all("/", "a");
        let (_, date) = all.iter().find(|(_, one)| one.name.contains("Date")).unwrap();
        assert_eq!(date.level, Level::Note);
        for (fields, is_right) in [("", false), ("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", true)] {
            let answer = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n");
            let server = spawn(Script::always(Answer::raw(answer.as_bytes()))).unwrap();
            let seen = exchange::with(server.address(), &date.ask);
            assert_eq!((date.is_right)(&seen), is_right, "{fields:?}: {}", seen.in_words());
        }
    }

    #[test]
    fn a_server_that_says_nothing_answers_nothing_rightly() {
        let server = spawn(Script::always(Answer::close())).unwrap();
        let found = probe(server.address(), "/");
        let right: Vec<&str> =
            found.iter().filter(|one| one.is_right).map(|one| one.probe.as_str()).collect();
        assert!(!right.contains(&"a request in two segments"), "{right:?}");
        assert!(right.contains(&"a request line that is none"), "{right:?}");
    }
}
