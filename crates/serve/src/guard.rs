//! Decides who may read. A server that other machines can reach needs a token. On loopback, the
//! guard checks the host name of the request. Otherwise a foreign page that points its own name at
//! 127.0.0.1 (DNS rebinding) could read every run.
use axum::http::{HeaderMap, Uri, header};

/// The name of the cookie that holds the token.
const COOKIE: &str = "pippin_token";

/// The rule of one server.
#[derive(Debug, Clone)]
pub struct Guard {
    token: Option<String>,
    is_loopback: bool,
}

/// The decision on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Answer it.
    Allow,
    /// Answer it, and let the browser keep the token in this cookie, so that the token leaves the
    /// address bar.
    AllowAndKeep(String),
    /// Refuse it: it has no token.
    Unauthorised,
    /// Refuse it: it has a wrong token.
    WrongToken,
    /// Refuse it: its host name is not this machine's.
    ForeignName,
}

impl Guard {
    /// The rule for a server with this token, if it has one. `is_loopback`: only this machine can
    /// reach it.
    #[must_use]
    pub const fn new(token: Option<String>, is_loopback: bool) -> Self {
        Self { token, is_loopback }
    }

    /// Whether readers must give a token.
    #[must_use]
    pub const fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Decides on a request.
    #[must_use]
    pub fn decide(&self, uri: &Uri, headers: &HeaderMap) -> Decision {
        if self.is_loopback && !asked_as_this_machine(headers) {
            return Decision::ForeignName;
        }
        let Some(token) = &self.token else { return Decision::Allow };
        let is_right = |given: &str| equal(given, token);
        let (bearer, cookie, query) = (bearer(headers), cookie(headers), in_query(uri));
        if bearer.is_some_and(is_right) || cookie.is_some_and(is_right) {
            return Decision::Allow;
        }
        if query.is_some_and(is_right) {
            return Decision::AllowAndKeep(format!(
                "{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
            ));
        }
        if bearer.or(cookie).or(query).is_some() {
            return Decision::WrongToken;
        }
        Decision::Unauthorised
    }
}

fn asked_as_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get(header::COOKIE)?.to_str().ok()?;
    all.split(';').find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// The token as it is in the address: `?token=...`. A token with `+` or `%` must be sent as a
/// header.
fn in_query(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Compares in constant time, so that the time does not tell how much of the guess was right.
fn equal(given: &str, token: &str) -> bool {
    let differs = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn decide(guard: &Guard, uri: &str, pairs: &[(header::HeaderName, &str)]) -> Decision {
        guard.decide(&uri.parse().unwrap(), &headers(pairs))
    }

    #[test]
    fn loopback_is_asked_under_its_own_names_only() {
        let guard = Guard::new(None, true);
        for host in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST", "127.8.8.8"] {
            assert_eq!(decide(&guard, "/", &[(header::HOST, host)]), Decision::Allow, "{host}");
        }
        for host in ["evil.example:8080", "localhost.evil.example", "192.168.1.5"] {
            assert_eq!(
                decide(&guard, "/", &[(header::HOST, host)]),
                Decision::ForeignName,
                "{host}"
            );
        }
        assert_eq!(decide(&guard, "/", &[]), Decision::ForeignName);
    }

    #[test]
    fn a_token_opens_by_header_cookie_or_address() {
        let guard = Guard::new(Some("correct-horse-battery".into()), false);
        let host = (header::HOST, "bench.example");
        assert_eq!(decide(&guard, "/", std::slice::from_ref(&host)), Decision::Unauthorised);
        assert_eq!(
            decide(
                &guard,
                "/",
                &[host.clone(), (header::AUTHORIZATION, "Bearer correct-horse-battery")]
            ),
            Decision::Allow
        );
        assert_eq!(
            decide(
                &guard,
                "/",
                &[host.clone(), (header::COOKIE, "a=b; pippin_token=correct-horse-battery")]
            ),
            Decision::Allow
        );
        assert!(
            matches!(decide(&guard, "/?token=correct-horse-battery", std::slice::from_ref(&host)), Decision::AllowAndKeep(cookie) if cookie.contains("HttpOnly"))
        );
        for wrong in
            ["Bearer correct-horse-batterx", "Bearer correct", "Bearer ", "correct-horse-battery"]
        {
            assert_eq!(
                decide(&guard, "/", &[host.clone(), (header::AUTHORIZATION, wrong)]),
                if wrong.starts_with("Bearer ") {
                    Decision::WrongToken
                } else {
                    Decision::Unauthorised
                },
                "{wrong}"
            );
        }
        for wrong in ["/?token=wrong", "/?token="] {
            assert_eq!(decide(&guard, wrong, std::slice::from_ref(&host)), Decision::WrongToken);
        }
        assert_eq!(
            decide(&guard, "/", &[host.clone(), (header::COOKIE, "pippin_token=wrong")]),
            Decision::WrongToken
        );
    }
}
