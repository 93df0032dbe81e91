//! Which request follows an answer that sends the user elsewhere (RFC 9110 section 15.4). Only
//! places of the load's own origin are asked: no other server gets a byte, so none gets a secret
//! (docs/decisions/redirections.md).
use pippin_model::load::LoadSpec;
use pippin_model::scenario::find::Answer;

use super::WholeAnswer;
use super::reference;

/// Header fields that say something of a body, which go with it (RFC 9110 section 15.4).
const ABOUT_BODIES: [&str; 7] = [
    "content-type",
    "content-encoding",
    "content-language",
    "content-location",
    "content-digest",
    "digest",
    "last-modified",
];

/// Whether a header field goes with the body of its request.
pub(crate) fn is_about_body(name: &str) -> bool {
    ABOUT_BODIES.iter().any(|about| name.eq_ignore_ascii_case(about))
}

/// Whether an answer sends the client to another place (RFC 9110 section 15.4).
#[inline]
pub(crate) const fn is_redirection(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The request that follows a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hop {
    /// Path and query.
    pub target: String,
    pub method: String,
    /// Whether the body of the step goes with it.
    pub has_body: bool,
    /// Its place in its chain, counted from 1.
    nth: u32,
}

/// What the users of a load do with redirections.
#[derive(Debug)]
pub(crate) struct Following {
    /// How many are followed after a step.
    most: u32,
    origin: Origin,
    steps: Vec<StepRequest>,
}

/// What is known of the request of a step.
#[derive(Debug)]
struct StepRequest {
    method: String,
    /// Redirections that are right answers by the step's own check: they are not followed.
    right: Vec<u16>,
}

/// Scheme, host and port (RFC 9110 section 4.3.1).
#[derive(Debug, PartialEq, Eq)]
struct Origin {
    is_secured: bool,
    host: String,
    port: String,
}

impl Following {
    /// `None` if the load follows none.
    pub fn from_spec(spec: &LoadSpec) -> Option<Self> {
        let host = &spec.requests.first()?.host;
        let steps = spec.requests.iter().map(|request| StepRequest {
            method: request.method.clone(),
            right: request
                .check
                .status
                .iter()
                .copied()
                .filter(|one| is_redirection(*one))
                .collect(),
        });
        (spec.follow > 0).then(|| Self {
            most: spec.follow,
            origin: Origin::from_authority(spec.tls.is_some(), host),
            steps: steps.collect(),
        })
    }

    /// What follows an answer to `step`, whose last request asked for `target`: `None` if the answer
    /// is the last one. `before`: the redirection that led to it.
    ///
    /// # Errors
    /// Why a redirection cannot be followed.
    pub fn after(
        &self,
        step: u32,
        (before, target): (Option<&Hop>, &str),
        status: u16,
        kept: &WholeAnswer,
    ) -> Option<Result<Hop, String>> {
        let asked = &self.steps[step as usize];
        if !is_redirection(status) || asked.right.contains(&status) {
            return None;
        }
        let answer = Answer::new(&kept.head, &[]);
        // Without a place it is an answer like any other (RFC 9110 section 15.4.2: "ought to").
        let location = answer.headers("location").next().filter(|place| !place.is_empty())?;
        let nth = before.map_or(0, |hop| hop.nth) + 1;
        if nth > self.most {
            return Some(Err(format!("redirected more than {} times", self.most)));
        }
        let place = match self.origin.within(location) {
            Ok(place) => place,
            Err(why) => return Some(Err(why)),
        };
        let method = before.map_or(asked.method.as_str(), |hop| &hop.method);
        let next = method_after(status, method);
        Some(Ok(Hop {
            target: reference::resolve(target, &place),
            method: next.into(),
            has_body: next == method && before.is_none_or(|hop| hop.has_body),
            nth,
        }))
    }
}

/// The method of the request that follows (RFC 9110 sections 15.4.2 to 15.4.9). After 301 and 302, a
/// POST becomes a GET, as in browsers and curl.
fn method_after(status: u16, method: &str) -> &str {
    match (status, method) {
        (303, "HEAD") | (_, "GET") => method,
        (303, _) | (301 | 302, "POST") => "GET",
        _ => method,
    }
}

impl Origin {
    fn from_authority(is_secured: bool, authority: &str) -> Self {
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
            _ => (host, ""),
        };
        let usual = if is_secured { "443" } else { "80" };
        let port = port.trim_start_matches('0');
        Self {
            is_secured,
            host: host.to_ascii_lowercase(),
            port: if port.is_empty() { usual } else { port }.into(),
        }
    }

    /// A reference of an answer as it can be resolved here: without fragment, with escapes for what
    /// no target may hold.
    ///
    /// # Errors
    /// If it leads to another origin; the text names that without path and user.
    fn within(&self, location: &str) -> Result<String, String> {
        let place = location.split('#').next().unwrap_or_default();
        let (scheme, rest) = match place.split_once(':') {
            Some((scheme, rest)) if reference::is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, place),
        };
        let is_secured = match scheme.map(str::to_ascii_lowercase).as_deref() {
            None => self.is_secured,
            Some("http") => false,
            Some("https") => true,
            Some(other) => return Err(format!("redirected to the scheme {other}")),
        };
        if let Some(behind) = rest.strip_prefix("//") {
            let authority = behind.split(['/', '?', '\\']).next().unwrap_or_default();
            let found = Self::from_authority(is_secured, authority);
            if found != *self {
                return Err(format!("redirected to another origin, {}", found.in_words()));
            }
        } else if scheme.is_some() {
            return Err("redirected to a URL without a host".into());
        }
        let escaped = place.bytes().map(|byte| match byte {
            0x21..=0x7e => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        });
        Ok(escaped.collect())
    }

    fn in_words(&self) -> String {
        let scheme = if self.is_secured { "https" } else { "http" };
        format!("{scheme}://{}:{}", self.host.escape_debug(), self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::{Check, Request};
    use proptest::prelude::*;

    fn following(most: u32) -> Following {
        let get = Request::get("/a/b?q", "Shop:8080");
        let post = Request { method: "POST".into(), ..get.clone() };
        let expecting =
            Request { check: Check { status: vec![200, 302], ..Check::default() }, ..get.clone() };
        let spec = LoadSpec {
            follow: most,
            requests: vec![get, post, expecting].into(),
            ..LoadSpec::default()
        };
        Following::from_spec(&spec).unwrap()
    }

    fn answer(location: &str) -> WholeAnswer {
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n").into_bytes();
        WholeAnswer { head, body: Vec::new() }
    }

    fn leads(location: &str) -> Option<Result<String, String>> {
        let after = following(3).after(0, (None, "/a/b?q"), 302, &answer(location));
        after.map(|hop| hop.map(|hop| hop.target))
    }

    #[test]
    fn places_of_the_own_origin_are_asked_whatever_their_form() {
        for (location, target) in [
            ("/x?y#z", "/x?y"),
            ("x", "/a/x"),
            ("?r", "/a/b?r"),
            ("../x", "/x"),
            ("//shop:8080/x", "/x"),
            ("HTTP://SHOP:8080/x", "/x"),
            ("http://shop:08080", "/"),
            ("http://ana:secret@shop:8080/x", "/x"),
            ("/x:y", "/x:y"),
            ("/\u{e4} b", "/%C3%A4%20b"),
        ] {
            assert_eq!(leads(location), Some(Ok(target.into())), "{location}");
        }
        assert_eq!(leads(""), None, "no place is no redirection");
    }

    #[test]
    fn other_origins_are_not_asked_and_named_without_secrets() {
        for (location, part) in [
            ("http://other:8080/x?token=secret", "http://other:8080"),
            ("http://ana:secret@other/x", "http://other:80"),
            ("https://shop:8080/x", "https://shop:8080"),
            ("http://shop/x", "http://shop:80"),
            ("//other/secret", "http://other:80"),
            ("http://shop:8080@other/x", "http://other:80"),
            ("http://other\\@shop:8080/x", "http://other:80"),
            ("mailto:secret@shop", "the scheme mailto"),
            ("http:x", "without a host"),
        ] {
            let Some(Err(why)) = leads(location) else {
                panic!("{location}: {:?}", leads(location))
            };
            assert!(why.contains(part) && !why.contains("secret"), "{location}: {why}");
        }
    }

    /// Rows of RFC 9110 section 15.4: what becomes of a method, and whether its body stays.
    #[test]
    fn methods_and_bodies_become_what_the_standard_says() {
        let rows = [
            ("GET", [301, 302, 303, 307, 308], "GET", true),
            ("HEAD", [301, 302, 303, 307, 308], "HEAD", true),
            ("POST", [301, 302, 303, 301, 302], "GET", false),
            ("POST", [307, 308, 307, 308, 307], "POST", true),
            ("PUT", [303, 303, 303, 303, 303], "GET", false),
            ("PUT", [301, 302, 307, 308, 301], "PUT", true),
            ("DELETE", [301, 302, 307, 308, 301], "DELETE", true),
        ];
        for (method, statuses, next, has_body) in rows {
            for status in statuses {
                let mut following = following(9);
                following.steps[0].method = method.into();
                let hop = following.after(0, (None, "/"), status, &answer("/x")).unwrap().unwrap();
                assert_eq!(
                    (hop.method.as_str(), hop.has_body),
                    (next, has_body),
                    "{method} {status}"
                );
                // A body that was left out does not come back.
                let then = following.after(0, (Some(&hop), "/x"), 307, &answer("/y")).unwrap();
                assert_eq!(then.unwrap().has_body, has_body, "{method} {status}");
            }
        }
    }

    #[test]
    fn a_chain_has_an_end() {
        let following = following(2);
        let mut hop = None;
        for _ in 0..2 {
            hop =
                Some(following.after(0, (hop.as_ref(), "/"), 307, &answer("/")).unwrap().unwrap());
        }
        let end = following.after(0, (hop.as_ref(), "/"), 307, &answer("/")).unwrap();
        assert_eq!(end, Err("redirected more than 2 times".into()));
    }

    #[test]
    fn what_a_step_asks_for_is_an_answer() {
        assert_eq!(following(2).after(2, (None, "/"), 302, &answer("/x")), None);
        assert!(following(2).after(2, (None, "/"), 301, &answer("/x")).is_some());
        assert_eq!(following(2).after(0, (None, "/"), 304, &answer("/x")), None);
    }

    proptest! {
        /// Whatever a server writes, only a place of its own is asked, by a target that can be sent.
        #[test]
        fn no_place_leads_away(location in "[a-zA-Z0-9:/@?#.\\\\ é%-]{0,24}") {
            if let Some(Ok(target)) = leads(location.trim()) {
                prop_assert!(target.starts_with('/'), "{target}");
                prop_assert!(target.bytes().all(|byte| byte.is_ascii_graphic()), "{target}");
                prop_assert!(!target.contains('#'), "{target}");
            }
        }
    }
}
