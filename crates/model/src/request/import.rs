//! Requests from files of other programs (docs/requests.md). The server is named when they are
//! sent, so its name is removed here.
//!
//! | module | source |
//! |---|---|
//! | [`har`] | HAR 1.2, which browsers export |
//! | [`access_log`] | access logs of servers and load balancers |
//! | [`curl`] | curl commands, as browsers copy them |
//! | [`openapi`] | OpenAPI 3, as JSON and YAML |
//! | [`postman`] | collections of Postman 2.1 |
pub mod access_log;
pub mod curl;
pub mod har;
pub mod openapi;
pub mod postman;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::collections::BTreeMap;

use crate::request::request_file::{FileRequest, WrongLine};
use crate::request::{is_field_value, is_token_text};

/// The imported requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The requests, in order; after [`Imported::only`], only those of one server.
    pub requests: Vec<FileRequest>,
    /// What was left out: the reasons, with the number of requests.
    pub left_out: BTreeMap<String, u64>,
}

/// Headers that belong to one connection or one server, or that Pippin writes itself.
const NOT_KEPT: [&str; 8] = [
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
    "te",
];

impl Imported {
    /// What was left out, in words: `requests to other hosts (3)`.
    #[must_use]
    pub fn left_out_in_words(&self) -> Vec<String> {
        self.left_out.iter().map(|(why, count)| format!("{why} ({count})")).collect()
    }

    fn leave_out(&mut self, why: &str) {
        *self.left_out.entry(why.into()).or_default() += 1;
    }

    /// Keeps only the requests of one server, and removes its name from them. `None` means the only
    /// server.
    ///
    /// # Errors
    /// If there are several servers and none is named, or none has this name. The message lists
    /// them.
    pub fn only(mut self, host: Option<&str>) -> Result<Self, String> {
        let mut hosts: BTreeMap<String, u64> = BTreeMap::new();
        for server in self.requests.iter().filter_map(|request| request.server.as_ref()) {
            *hosts.entry(server.authority.clone()).or_default() += 1;
        }
        let listed = || {
            let each: Vec<String> =
                hosts.iter().map(|(host, count)| format!("{host} ({count})")).collect();
            each.join(", ")
        };
        let host = match host {
            Some(host) if hosts.contains_key(host) => Some(host.to_string()),
            Some(host) => {
                return Err(format!("no request goes to {host}; they go to: {}", listed()));
            }
            None if hosts.len() > 1 => {
                return Err(format!(
                    "the requests go to several hosts; choose one with --host: {}",
                    listed()
                ));
            }
            None => None,
        };
        if let Some(host) = host {
            let before = self.requests.len();
            self.requests.retain(|request| {
                request.server.as_ref().is_some_and(|server| server.authority == host)
            });
            let left = before - self.requests.len();
            if left > 0 {
                *self.left_out.entry("requests to other hosts".into()).or_default() += left as u64;
            }
        }
        self.requests.iter_mut().for_each(|request| request.server = None);
        Ok(self.sendable())
    }

    /// Without what no load would take: each with its reason. Targets are percent-encoded as
    /// browsers do.
    fn sendable(mut self) -> Self {
        for mut request in std::mem::take(&mut self.requests) {
            request.target = utf8_percent_encode(&request.target, &NOT_VISIBLE).to_string();
            match fault(&request) {
                None => self.requests.push(request),
                Some(why) => self.leave_out(&why),
            }
        }
        self
    }
}

/// What is percent-encoded in a target, besides everything beyond ASCII.
const NOT_VISIBLE: AsciiSet = CONTROLS.add(b' ');

/// Why a request cannot be written as HTTP/1.1 (RFC 9112), as a reason for a list; `None` if it can.
fn fault(request: &FileRequest) -> Option<String> {
    if !is_token_text(&request.method) {
        return Some(format!("requests of the method {:?}", request.method));
    }
    if !(request.target.starts_with('/') || request.target == "*") {
        return Some("requests whose target is no path".into());
    }
    request.headers.iter().find_map(|(name, value)| {
        if !is_token_text(name) {
            return Some(format!("requests with a header of the name {name:?}"));
        }
        (!is_field_value(value)).then(|| format!("requests with control characters in {name}"))
    })
}

/// The headers to keep.
fn kept(headers: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let is_kept = |name: &str| {
        !name.starts_with(':') && !NOT_KEPT.iter().any(|other| name.eq_ignore_ascii_case(other))
    };
    headers.filter(|(name, _)| is_kept(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::request_file::{self, Bodies, Format, json_lines, split_url};
    use crate::text::shell;
    use proptest::prelude::*;

    fn from_urls(urls: &[&str]) -> Imported {
        let requests = urls.iter().map(|url| {
            let (server, target) = split_url(url).unwrap();
            FileRequest { method: "GET".into(), server, target, ..FileRequest::default() }
        });
        Imported { requests: requests.collect(), left_out: BTreeMap::new() }
    }

    #[test]
    fn one_host_is_kept_and_its_name_is_not() {
        let targets = |imported: Imported| {
            imported.requests.into_iter().map(|one| (one.server, one.target)).collect::<Vec<_>>()
        };
        let both = || from_urls(&["http://a/1", "http://b/2"]);
        assert_eq!(targets(both().only(Some("b")).unwrap()), [(None, "/2".into())]);
        assert_eq!(both().only(Some("b")).unwrap().left_out["requests to other hosts"], 1);
        assert!(both().only(None).unwrap_err().contains("--host: a (1), b (1)"));
        assert!(both().only(Some("c")).unwrap_err().contains("no request goes to c"));
        assert_eq!(targets(from_urls(&["http://a/1"]).only(None).unwrap()), [(None, "/1".into())]);
    }

    #[test]
    fn what_no_load_takes_is_left_out_and_paths_are_encoded() {
        let mut imported =
            from_urls(&["http://a/ä b?c=\u{7}", "http://a/2", "http://a/3", "http://a/4"]);
        imported.requests[0].headers = vec![("X".into(), "é".into())];
        imported.requests[1].method = "G T".into();
        for (at, header) in [(2, ("X Y", "z")), (3, ("X", "a\nb"))] {
            imported.requests[at].headers = vec![(header.0.into(), header.1.into())];
        }
        let only = imported.only(None).unwrap();
        let [one] = &only.requests[..] else { panic!("{only:?}") };
        assert_eq!(one.target, "/%C3%A4%20b?c=%07");
        assert_eq!(only.left_out.values().sum::<u64>(), 3, "{:?}", only.left_out);
    }

    proptest! {
        #[test]
        fn no_text_brings_an_importer_down(text in "\\PC{0,80}|([-a-zX$'\"\\\\{}\\[\\]: \n]{0,60})") {
            let _ = har::parse(&text);
            let _ = access_log::parse(&text);
            let _ = curl::parse(&text, &mut |_| Ok(Vec::new()));
            let _ = openapi::parse(&text);
            let _ = postman::parse(&text, &BTreeMap::new());
        }

        /// What an import writes, a load takes: whatever names and values a file holds.
        #[test]
        fn what_is_written_is_read_again(texts in proptest::collection::vec("\\PC{0,8}|[-a-z{}:/?#=&% ]{0,8}", 8)) {
            let [path, name, value, header, held, key, item, kind] = &texts[..] else { unreachable!() };
            let openapi = serde_json::json!({ "openapi": "3.1.0", "servers": [{ "url": "https://a/b" }], "paths": {
                path: { "parameters": [{ "name": name, "in": "path", "example": value }], "post": {
                    "parameters": [
                        { "name": header, "in": "header", "example": held },
                        { "name": key, "in": "query", "example": [item, 1] },
                        { "name": key, "in": "cookie", "example": item }],
                    "requestBody": { "content": { kind: { "example": held } } } } } } });
            let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
            let postman = serde_json::json!({ "info": { "schema": schema },
                "variable": [{ "key": name, "value": value }], "item": [{ "request": { "method": "POST",
                    "url": { "raw": format!("http://a/{path}?{key}"), "variable": [{ "key": key, "value": item }] },
                    "header": [{ "key": header, "value": held }],
                    "body": { "mode": "urlencoded", "urlencoded": [{ "key": key, "value": item }] } } }] });
            let read = [openapi::parse(&openapi.to_string()), postman::parse(&postman.to_string(), &BTreeMap::new())];
            for imported in read.into_iter().flatten() {
                let Ok(only) = imported.only(None) else { continue };
                for request in only.requests {
                    let line = json_lines::write(&request);
                    let mut bodies = Bodies::beside(std::path::Path::new("/nowhere"));
                    let again = request_file::parse(&line, Format::JsonLines, &mut bodies);
                    prop_assert!(again.is_ok(), "{line}: {again:?}");
                    let again = again.unwrap().requests.remove(0);
                    prop_assert_eq!((&again.target, &again.body), (&request.target, &request.body));
                }
            }
        }

        #[test]
        fn quoted_words_come_back_as_a_shell_gives_them(words in proptest::collection::vec("\\PC{1,12}", 1..6)) {
            let quoted: Vec<String> =
                words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
            let read = shell::commands(&quoted.join(" ")).unwrap();
            let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
            prop_assert_eq!(&read[0].words, &words);
        }
    }
}
