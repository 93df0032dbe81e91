//! What a server must understand, and how it must answer.
use pippin_model::target::conformance::Level::{Must, Note, Should};

use super::probes::{
    HALVES, Probe, are_three, ends_answered, is_answered, is_answered_or_ended, is_bad_request,
    is_in_step, is_in_step_or_ended, is_ok, is_refused, is_refused_or_ok, probe,
};

/// The probes.
pub fn probes() -> Vec<Probe> {
    vec![
        probe("a request in two segments", "RFC 9112 2.1", Must, HALVES, is_ok),
        probe("two requests in one segment", "RFC 9112 9.3.2", Must, "{get}{get}", is_in_step)
            .answers(2),
        probe(
            "three requests in one segment",
            "RFC 9112 9.3.2",
            Must,
            "{get}{get}{get}",
            are_three,
        )
        .answers(3),
        probe("an empty line before the request", "RFC 9112 2.2", Should, "\r\n{get}", is_ok),
        probe("two empty lines before the request", "RFC 9112 2.2", Note, "\r\n\r\n{get}", is_ok),
        probe(
            "a chunked body, then a request",
            "RFC 9112 7.1",
            Must,
            "{post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "several chunks, then a request",
            "RFC 9112 7.1",
            Must,
            "{post}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a chunk size in capitals",
            "RFC 9112 7.1",
            Must,
            "{post}Transfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a chunk size in small letters",
            "RFC 9112 7.1",
            Must,
            "{post}Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a chunk size with leading zeroes",
            "RFC 9112 7.1",
            Note,
            "{post}Transfer-Encoding: chunked\r\n\r\n005\r\nhello\r\n000\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a chunk extension",
            "RFC 9112 7.1.1",
            Must,
            "{post}Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a quoted chunk extension",
            "RFC 9112 7.1.1",
            Must,
            "{post}Transfer-Encoding: chunked\r\n\r\n5;a=\"b;c\"\r\nhello\r\n0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a trailer field",
            "RFC 9112 7.1.2",
            Must,
            "{post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "the coding in capitals",
            "RFC 9112 7",
            Must,
            "{post}Transfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a body with a length, then a request",
            "RFC 9112 6.2",
            Must,
            "{post}Content-Length: 5\r\n\r\nhello{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "a body of length 0, then a request",
            "RFC 9112 6.2",
            Must,
            "{post}Content-Length: 0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "spaces and tabs around a length",
            "RFC 9110 5.5",
            Must,
            "{post}Content-Length: \t 5 \t\r\n\r\nhello{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "GET with a body, then a request",
            "RFC 9110 9.3.1",
            Must,
            "{head}Content-Length: 5\r\n\r\nhello{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "GET with a chunked body, then a request",
            "RFC 9110 9.3.1",
            Must,
            "{head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n{get}",
            is_in_step_or_ended,
        )
        .answers(2)
        .until_the_end(),
        probe(
            "Expect: 100-continue",
            "RFC 9110 10.1.1",
            Must,
            "{post}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n",
            |seen| seen.interim.contains(&100) || is_answered(seen),
        )
        .or_interim(),
        probe(
            "Expect: something else",
            "RFC 9110 10.1.1",
            Note,
            "{head}Expect: a-snail\r\n\r\n",
            is_answered,
        ),
        probe(
            "Connection: close",
            "RFC 9112 9.6",
            Must,
            "{head}Connection: close\r\n\r\n",
            ends_answered,
        )
        .until_the_end(),
        probe(
            "Connection: CLOSE",
            "RFC 9110 7.6.1",
            Must,
            "{head}Connection: CLOSE\r\n\r\n",
            ends_answered,
        )
        .until_the_end(),
        probe(
            "Connection: close in a list",
            "RFC 9110 7.6.1",
            Must,
            "{head}Connection: x-snail, close\r\n\r\n",
            ends_answered,
        )
        .until_the_end(),
        probe(
            "Connection: keep-alive",
            "RFC 9112 9.3",
            Should,
            "{head}Connection: keep-alive\r\n\r\n{get}",
            is_in_step,
        )
        .answers(2),
        probe("HTTP/1.0", "RFC 9112 9.3", Must, "GET {path} HTTP/1.0\r\n\r\n", |seen| {
            ends_answered(seen) && seen.answers[0].header("transfer-encoding").is_none()
        })
        .until_the_end(),
        probe(
            "HTTP/1.0 with a Host field",
            "RFC 9112 9.3",
            Must,
            "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n",
            ends_answered,
        )
        .until_the_end(),
        probe(
            "HTTP/1.0 that asks for keep-alive",
            "RFC 9112 9.3",
            Note,
            "GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            is_ok,
        ),
        probe(
            "HTTP/1.2",
            "RFC 9110 2.5",
            Should,
            "GET {path} HTTP/1.2\r\nHost: {host}\r\n\r\n",
            is_refused_or_ok,
        ),
        probe(
            "HTTP/9.9",
            "RFC 9110 15.6.6",
            Should,
            "GET {path} HTTP/9.9\r\nHost: {host}\r\n\r\n",
            is_refused,
        ),
        probe("no Host field", "RFC 9112 3.2", Must, "GET {path} HTTP/1.1\r\n\r\n", is_bad_request),
        probe("two Host fields", "RFC 9112 3.2", Must, "{head}Host: other\r\n\r\n", is_bad_request),
        probe(
            "two Host fields alike",
            "RFC 9112 3.2",
            Must,
            "{head}Host: {host}\r\n\r\n",
            is_bad_request,
        ),
        probe(
            "a Host field that is no name",
            "RFC 9112 3.2",
            Must,
            "GET {path} HTTP/1.1\r\nHost: a b\r\n\r\n",
            is_bad_request,
        ),
        probe(
            "a Host field with a path",
            "RFC 9112 3.2",
            Must,
            "GET {path} HTTP/1.1\r\nHost: {host}/x\r\n\r\n",
            is_bad_request,
        ),
        probe(
            "a Host field with a user",
            "RFC 9112 3.2",
            Must,
            "GET {path} HTTP/1.1\r\nHost: me@{host}\r\n\r\n",
            is_bad_request,
        ),
        probe(
            "a Host field of two names",
            "RFC 9112 3.2",
            Must,
            "GET {path} HTTP/1.1\r\nHost: a, b\r\n\r\n",
            is_bad_request,
        ),
        probe(
            "a Host field with a port that is no number",
            "RFC 9112 3.2",
            Must,
            "GET {path} HTTP/1.1\r\nHost: a:port\r\n\r\n",
            is_bad_request,
        ),
        probe(
            "an empty Host field",
            "RFC 9112 3.2",
            Note,
            "GET {path} HTTP/1.1\r\nHost:\r\n\r\n",
            is_refused_or_ok,
        ),
        probe(
            "the absolute form",
            "RFC 9112 3.2.2",
            Must,
            "GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "the absolute form with its scheme in capitals",
            "RFC 9112 3.2.2",
            Note,
            "GET HTTP://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "the absolute form and another Host",
            "RFC 9112 3.2.2",
            Must,
            "GET http://{host}{path} HTTP/1.1\r\nHost: other\r\n\r\n",
            is_refused_or_ok,
        ),
        probe(
            "OPTIONS *",
            "RFC 9112 3.2.4",
            Note,
            "OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_answered,
        ),
        probe(
            "GET *",
            "RFC 9112 3.2.4",
            Should,
            "GET * HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused,
        ),
        probe(
            "GET of an authority",
            "RFC 9112 3.2.3",
            Must,
            "GET {host} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused,
        ),
        probe(
            "CONNECT",
            "RFC 9110 9.3.6",
            Note,
            "CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused,
        ),
        probe(
            "field names in lower case",
            "RFC 9110 5.1",
            Must,
            "GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "field names in capitals",
            "RFC 9110 5.1",
            Must,
            "GET {path} HTTP/1.1\r\nHOST: {host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "no space behind the colon",
            "RFC 9112 5",
            Must,
            "GET {path} HTTP/1.1\r\nHost:{host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "spaces and tabs around a value",
            "RFC 9112 5.1",
            Must,
            "GET {path} HTTP/1.1\r\nHost: \t {host} \t\r\n\r\n",
            is_ok,
        ),
        probe("a field without a value", "RFC 9110 5.5", Must, "{head}X-Empty:\r\n\r\n", is_ok),
        probe(
            "a field that comes twice",
            "RFC 9110 5.3",
            Must,
            "{head}X-Two: a\r\nX-Two: b\r\n\r\n",
            is_ok,
        ),
        probe(
            "a field name of all signs that are allowed",
            "RFC 9110 5.6.2",
            Must,
            "{head}!#$%&'*+-.^_`|~9z: a\r\n\r\n",
            is_ok,
        ),
        probe(
            "bytes beyond ASCII in a value",
            "RFC 9110 5.5",
            Note,
            "{head}X-Name: é\r\n\r\n",
            is_refused_or_ok,
        ),
        probe("a Date field in the answer", "RFC 9110 6.6.1", Note, "{get}", |seen| {
            seen.answers.first().is_some_and(|answer| answer.header("date").is_some())
        }),
        probe(
            "a length or chunks in the answer, not both",
            "RFC 9112 6.2",
            Must,
            "{get}",
            |seen| {
                is_ok(seen)
                    && !(seen.answers[0].header("content-length").is_some()
                        && seen.answers[0].header("transfer-encoding").is_some())
            },
        ),
        probe("a media type in the answer", "RFC 9110 8.3", Should, "{get}", |seen| {
            seen.answers.first().is_some_and(|answer| answer.header("content-type").is_some())
        }),
        probe(
            "HEAD",
            "RFC 9110 9.3.2",
            Must,
            "HEAD {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_ok,
        )
        .for_head()
        .until_the_end(),
        probe(
            "a method that nobody knows",
            "RFC 9110 9.1",
            Should,
            "SNAIL {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused,
        ),
        probe(
            "a method in lower case",
            "RFC 9110 9.1",
            Should,
            "get {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_refused,
        ),
        probe(
            "405 names the methods that are allowed",
            "RFC 9110 15.5.6",
            Must,
            "{post}Content-Length: 0\r\n\r\n",
            |seen| {
                is_answered(seen)
                    && (seen.status() != Some(405) || seen.answers[0].header("allow").is_some())
            },
        ),
        probe(
            "OPTIONS",
            "RFC 9110 9.3.7",
            Note,
            "OPTIONS {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_answered,
        ),
        probe(
            "TRACE",
            "RFC 9110 9.3.8",
            Note,
            "TRACE {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_answered_or_ended,
        ),
        probe(
            "a percent-encoded letter in the query",
            "RFC 9110 4.2.3",
            Note,
            "GET {path}?%61=%62 HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "a query of all signs that are allowed",
            "RFC 3986 3.4",
            Note,
            "GET {path}?a=/?:@!$&'()*+,;=-._~ HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "an empty query",
            "RFC 3986 3.4",
            Note,
            "GET {path}? HTTP/1.1\r\nHost: {host}\r\n\r\n",
            is_ok,
        ),
        probe(
            "Accept of a type that is not there",
            "RFC 9110 12.5.1",
            Note,
            "{head}Accept: application/x-snail\r\n\r\n",
            is_answered,
        ),
        probe(
            "a range that is none",
            "RFC 9110 14.2",
            Must,
            "{head}Range: snails=1\r\n\r\n",
            is_ok,
        ),
        probe(
            "a date that is none",
            "RFC 9110 13.1.3",
            Must,
            "{head}If-Modified-Since: yesterday\r\n\r\n",
            is_ok,
        ),
        probe(
            "Upgrade to something unknown",
            "RFC 9110 7.8",
            Must,
            "{head}Connection: Upgrade\r\nUpgrade: snail/1\r\n\r\n",
            is_ok,
        ),
        probe(
            "TE: trailers",
            "RFC 9110 10.1.4",
            Must,
            "{head}TE: trailers\r\nConnection: TE\r\n\r\n",
            is_ok,
        ),
        probe(
            "a body without a media type",
            "RFC 9110 8.3",
            Note,
            "{post}Content-Length: 5\r\n\r\nhello",
            is_answered,
        ),
    ]
}
