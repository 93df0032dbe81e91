//! Messages that are long, or have many parts.
use pippin_model::target::conformance::Level::{Must, Note, Should};

use super::probes::{
    Probe, is_answered_or_ended, is_in_step_or_ended, is_ok, is_refused, is_refused_or_ended,
    is_refused_or_ok, probe,
};

/// The probes.
pub fn probes() -> Vec<Probe> {
    vec![
        probe(
            "a target of 8,000 bytes",
            "RFC 9112 3",
            Should,
            "GET {path}?{x:7900} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "a target of 64 KiB",
            "RFC 9112 3",
            Must,
            "GET {path}?{x:65536} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused_or_ok,
        ),
        probe(
            "a target of 1 MiB",
            "RFC 9112 3",
            Must,
            "GET {path}?{x:1048576} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused_or_ok,
        ),
        probe(
            "a method of 1 KiB",
            "RFC 9112 3",
            Should,
            "{x:1024} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused,
        ),
        probe(
            "a method of 64 KiB",
            "RFC 9112 3",
            Should,
            "{x:65536} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused,
        ),
        probe("a field of 4 KiB", "RFC 9110 5.4", Note, "{head}X-Long: {x:4096}\r\n\r\n", is_ok),
        probe(
            "a field of 64 KiB",
            "RFC 9110 5.4",
            Must,
            "{head}X-Long: {x:65536}\r\n\r\n",
            is_refused_or_ok,
        ),
        probe(
            "a field of 1 MiB",
            "RFC 9110 5.4",
            Must,
            "{head}X-Long: {x:1048576}\r\n\r\n",
            is_refused_or_ok,
        ),
        probe(
            "a field name of 16 KiB",
            "RFC 9110 5.4",
            Must,
            "{head}{x:16384}: a\r\n\r\n",
            is_refused_or_ok,
        ),
        probe("50 fields", "RFC 9110 5.4", Note, "{head}{fields:50}\r\n", is_ok),
        probe("1,000 fields", "RFC 9110 5.4", Must, "{head}{fields:1000}\r\n", is_refused_or_ok),
        probe("10,000 fields", "RFC 9110 5.4", Must, "{head}{fields:10000}\r\n", is_refused_or_ok),
        probe(
            "100 empty lines before the request",
            "RFC 9112 2.2",
            Note,
            "{lines:100}{get}",
            is_refused_or_ok,
        ),
        probe(
            "1,000 chunks of a byte, then a request",
            "RFC 9112 7.1",
            Must,
            "{post}Transfer-Encoding: chunked\r\n\r\n{chunks:1000}0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a chunk extension of 64 KiB",
            "RFC 9112 7.1.1",
            Should,
            "{post}Transfer-Encoding: chunked\r\n\r\n5;a={x:65536}\r\nhello\r\n0\r\n\r\n",
            is_refused_or_ended,
        )
        .until_the_end(),
        probe(
            "a trailer of 64 KiB",
            "RFC 9112 7.1.2",
            Should,
            "{post}Transfer-Encoding: chunked\r\n\r\n0\r\nX-Long: {x:65536}\r\n\r\n",
            is_answered_or_ended,
        )
        .until_the_end(),
        probe(
            "a length of 1 EiB",
            "RFC 9110 15.5.14",
            Should,
            "{post}Content-Length: 1152921504606846976\r\nExpect: 100-continue\r\n\r\n",
            |seen| !seen.interim.contains(&100) || is_refused(seen),
        )
        .or_interim(),
        probe("20 requests in one segment", "RFC 9112 9.3.2", Must, "{requests:20}", |seen| {
            seen.broken.is_none() && seen.answers.len() == 20
        })
        .answers(20),
    ]
}
