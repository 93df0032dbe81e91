//! The cookies of one user (RFC 6265). A user talks to one server only, so `Domain` is ignored.
use cookie::Cookie;
use cookie::time::OffsetDateTime;

/// What a user keeps, in the order in which it is sent (section 5.4): longer paths first, and of the
/// same length those that came first.
#[derive(Debug, Default)]
pub(crate) struct Jar(Vec<StoredCookie>);

#[derive(Debug)]
struct StoredCookie {
    name: String,
    value: String,
    path: String,
    is_secure: bool,
}

impl Jar {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes the value of a `Set-Cookie`, which came with the answer to a request for this path. A
    /// cookie that replaces one has its place (section 5.3, step 11).
    pub fn take(&mut self, line: &str, asked: &str) {
        let Ok(cookie) = Cookie::parse(line) else { return };
        let path = match cookie.path() {
            Some(path) if path.starts_with('/') => path,
            _ => directory(asked),
        };
        let same = |kept: &StoredCookie| kept.name == cookie.name() && kept.path == path;
        let new = StoredCookie {
            name: cookie.name().into(),
            value: cookie.value().into(),
            path: path.into(),
            is_secure: cookie.secure() == Some(true),
        };
        match self.0.iter().position(same) {
            Some(at) if is_expired(&cookie) => drop(self.0.remove(at)),
            Some(at) => self.0[at] = new,
            None if is_expired(&cookie) => {}
            None => {
                let at = self.0.partition_point(|kept| kept.path.len() >= path.len());
                self.0.insert(at, new);
            }
        }
    }

    /// Appends the header for a request for this path, if there are cookies to send. Secure cookies
    /// are sent over TLS only (section 5.4).
    pub fn put_header(&self, asked: &str, is_secured: bool, out: &mut Vec<u8>) {
        let fits = |kept: &&StoredCookie| {
            (is_secured || !kept.is_secure) && matches_path(without_query(asked), &kept.path)
        };
        let mut before: &[u8] = b"Cookie: ";
        for StoredCookie { name, value, .. } in self.0.iter().filter(fits) {
            for part in [before, name.as_bytes(), b"=", value.as_bytes()] {
                out.extend_from_slice(part);
            }
            before = b"; ";
        }
        if before == b"; " {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// Whether a cookie deletes one (section 5.2.2: `Max-Age` goes before `Expires`).
fn is_expired(cookie: &Cookie<'_>) -> bool {
    match (cookie.max_age(), cookie.expires_datetime()) {
        (Some(age), _) => !age.is_positive(),
        (None, Some(at)) => at <= OffsetDateTime::now_utc(),
        (None, None) => false,
    }
}

fn without_query(path: &str) -> &str {
    path.split(['?', '#']).next().unwrap_or(path)
}

/// The path of a cookie that names none (section 5.1.4).
fn directory(asked: &str) -> &str {
    match without_query(asked).rfind('/') {
        None | Some(0) => "/",
        Some(end) => &asked[..end],
    }
}

/// Section 5.1.4.
fn matches_path(asked: &str, path: &str) -> bool {
    asked
        .strip_prefix(path)
        .is_some_and(|rest| rest.is_empty() || path.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(jar: &Jar, path: &str, is_secured: bool) -> String {
        let mut out = Vec::new();
        jar.put_header(path, is_secured, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cookies_come_back_replace_each_other_and_are_deleted() {
        let mut jar = Jar::default();
        assert_eq!(sent(&jar, "/", false), "");
        jar.take("sid=abc; Path=/; HttpOnly; SameSite=Lax", "/login?x=1");
        jar.take("csrf=\"q\"; Max-Age=1000; Path=/", "/login");
        assert_eq!(sent(&jar, "/a", false), "Cookie: sid=abc; csrf=\"q\"\r\n");
        jar.take("sid=def; Path=/", "/");
        assert_eq!(sent(&jar, "/a", false), "Cookie: sid=def; csrf=\"q\"\r\n");
        jar.take("sid=\"\"; expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/", "/");
        jar.take("csrf=; expires=Thu, 01-Jan-1970 00:00:00 GMT; Path=/", "/");
        assert_eq!(sent(&jar, "/a", false), "");
        jar.take("a=1; Expires=Fri, 31 Dec 2100 23:59:59 GMT", "/");
        jar.take("no cookie", "/");
        assert_eq!(sent(&jar, "/a", false), "Cookie: a=1\r\n");
        jar.clear();
        assert_eq!(sent(&jar, "/a", false), "");
    }

    #[test]
    fn longer_paths_go_first_and_a_new_value_has_the_place_of_the_old() {
        let mut jar = Jar::default();
        for line in ["a=1; Path=/", "b=1; Path=/", "a=2; Path=/shop", "c=1; Path=/shop"] {
            jar.take(line, "/");
        }
        assert_eq!(sent(&jar, "/shop", false), "Cookie: a=2; c=1; a=1; b=1\r\n");
        jar.take("a=3; Path=/shop", "/");
        jar.take("a=4; Path=/", "/");
        assert_eq!(sent(&jar, "/shop", false), "Cookie: a=3; c=1; a=4; b=1\r\n");
        jar.take("a=; Path=/shop; Max-Age=0", "/");
        assert_eq!(sent(&jar, "/shop", false), "Cookie: c=1; a=4; b=1\r\n");
    }

    #[test]
    fn a_cookie_goes_to_its_path_and_a_secure_one_over_tls_only() {
        let mut jar = Jar::default();
        jar.take("a=1; Path=/shop", "/");
        jar.take("b=2", "/shop/cart?x=/y");
        jar.take("c=3; Path=/; Secure", "/");
        let cases = [
            ("/", ""),
            ("/shopping", ""),
            ("/shop?x", "Cookie: a=1; b=2\r\n"),
            ("/shop/x", "Cookie: a=1; b=2\r\n"),
        ];
        for (path, header) in cases {
            assert_eq!(sent(&jar, path, false), header, "{path}");
        }
        assert_eq!(sent(&jar, "/", true), "Cookie: c=3\r\n");
    }
}
