//! Sends a server messages at the edges of HTTP/1.1 and compares its answers with RFC 9110 and RFC
//! 9112. This never changes a verdict: a benchmark should not fail a server for messages that no
//! client sends. The results show what a server leaves out.
//!
//! | module | its job |
//! |---|---|
//! | `probes` | the table: what is sent, and which answers are right |
//! | `exchange` | raw bytes to a server and back |
mod exchange;
mod probes;

use pippin_model::plan::Plan;
use pippin_model::plan::profile::Steps;
use pippin_model::target::conformance::Conformance;
use pippin_model::trial::{Step, TrialSpec};
use pippin_model::workload::Workload;
use std::net::SocketAddr;

use crate::running::RunningTarget;

/// Asks a target once, by the first request of a workload; nothing where that is no GET over plain
/// HTTP/1.1.
#[must_use]
pub fn of(target: &RunningTarget, workload: &Workload) -> Vec<Conformance> {
    let samples = workload.samples(0, 1);
    match samples.first() {
        Some(sample)
            if workload.request.method == "GET"
                && workload.message.is_none()
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
    let first = match (&plan.profile.steps, spec.step) {
        (Steps::One | Steps::Overload { .. }, _) | (_, None) => spec.step.is_none(),
        (Steps::Connections(list), Some(Step::Connections { count })) => {
            list.first() == Some(&count)
        }
        _ => false,
    };
    first && spec.repetition == 0 && !plan.quick
}

/// Sends everything once. `path` must be one that the server answers with 200.
#[must_use]
pub fn probe(address: SocketAddr, path: &str) -> Vec<Conformance> {
    let host = address.to_string();
    probes::all(path, &host)
        .into_iter()
        .map(|probe| {
            let seen = exchange::with(address, &probe.ask);
            Conformance {
                probe: probe.name.into(),
                section: probe.section.into(),
                level: probe.level,
                is_right: (probe.is_right)(&seen),
                found: seen.in_words(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::target::conformance::Level;
    use pippin_reference::Running;
    use pippin_reference::scripted::{self, Answer, Script, spawn};

    #[test]
    fn every_probe_names_its_section_once() {
        let all = probes::all("/", "a");
        assert!(all.len() >= 30, "{}", all.len());
        let names: std::collections::BTreeSet<_> = all.iter().map(|probe| probe.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|probe| probe.section.starts_with("RFC 911")));
    }

    #[test]
    fn a_path_of_any_characters_is_split_in_the_middle() {
        for count in 10..14 {
            let path = format!("/{}", "é".repeat(count));
            assert_eq!(probes::all(&path, "a")[0].ask.pieces.len(), 2, "{path}");
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

    #[test]
    fn a_lack_of_date_is_a_note() {
        let all = probes::all("/", "a");
        let date = all.iter().find(|one| one.name.contains("Date")).unwrap();
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
