//! The URL of a curl command, read as curl reads it.
use crate::request::request_file::{Server, split_url};
use percent_encoding::percent_decode_str;

/// A URL of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Scheme and authority, without a user.
    pub server: Server,
    /// `USER:PASSWORD` of the URL.
    pub user: Option<Vec<u8>>,
    /// The path, from its `/`.
    pub path: String,
    /// What follows `?`, if there is one.
    pub query: Option<String>,
}

/// How a URL is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Brackets and braces are characters like others (`-g`).
    pub is_literal: bool,
    /// Dot segments stay (`--path-as-is`).
    pub keeps_dots: bool,
}

/// Reads a URL.
///
/// # Errors
/// If curl would refuse it, or send several requests for it.
pub fn read(text: &str, reading: Reading) -> Result<Place, String> {
    if let Some(c) = text.chars().find(|c| c.is_ascii_whitespace() || c.is_ascii_control()) {
        return Err(format!(
            "the URL holds {c:?}, which curl does not send: write %{:02X}",
            c as u32
        ));
    }
    let text = if reading.is_literal { text.to_string() } else { without_globs(text)? };
    let text = text.split('#').next().unwrap_or_default();
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let scheme = scheme.to_ascii_lowercase();
    if !["http", "https"].contains(&scheme.as_str()) {
        return Err(format!("a load speaks HTTP: the scheme `{scheme}` is neither http nor https"));
    }
    let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (user, host) = authority
        .rsplit_once('@')
        .map_or((None, authority), |(user, host)| (Some(percent_decode_str(user).collect()), host));
    let (server, target) = split_url(&format!("{scheme}://{host}{target}"))?;
    let server = server.ok_or("it has no server")?;
    let (path, query) =
        target.split_once('?').map_or((target.as_str(), None), |(path, query)| (path, Some(query)));
    let path = if reading.keeps_dots { path.to_string() } else { without_dots(path) };
    Ok(Place { server, user, path: encoded(&path), query: query.map(Into::into) })
}

/// Without the backslashes that keep brackets and braces.
fn without_globs(url: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = url.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let kept = chars.next_if(|next| "[]{}".contains(*next));
                plain.push(kept.unwrap_or(c));
            }
            // An address of IPv6.
            '[' if plain.ends_with("//") || plain.ends_with('@') || plain.is_empty() => {
                plain.push(c);
                for inner in chars.by_ref() {
                    plain.push(inner);
                    if inner == ']' {
                        break;
                    }
                }
            }
            '[' | ']' | '{' | '}' => {
                return Err(format!(
                    "curl takes `{c}` in a URL for a list of URLs: write one command for each, or add -g"
                ));
            }
            c => plain.push(c),
        }
    }
    Ok(plain)
}

/// Without `.` and `..` (RFC 3986 section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}", kept.join("/"))
}

/// With every byte beyond ASCII percent-encoded, as curl does in paths.
fn encoded(path: &str) -> String {
    let of = |byte: u8| {
        if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02x}") }
    };
    path.bytes().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> String {
        let Place { path, query, .. } = read(url, Reading::default()).unwrap();
        query.map_or(path.clone(), |query| format!("{path}?{query}"))
    }

    /// Each as curl 7.88.1 sends it.
    #[test]
    fn targets_are_those_of_curl() {
        for (url, wanted) in [
            ("h", "/"),
            ("h?x=1", "/?x=1"),
            ("HTTP://h/X", "/X"),
            ("h/?", "/?"),
            ("h/a/../b/./c?x=/../d", "/b/c?x=/../d"),
            ("h/..", "/"),
            ("h/a/.", "/a/"),
            ("h/a/%2e%2e/b", "/a/%2e%2e/b"),
            ("h//a//b/", "//a//b/"),
            ("h/ä", "/%c3%a4"),
            (r"h/\[1\]\{a\}", "/[1]{a}"),
            (r"h/x\y", r"/x\y"),
            ("h/a#f", "/a"),
            ("[::1]:80/a", "/a"),
            ("http://u@[::1]:80/a", "/a"),
            ("h/%zz", "/%zz"),
        ] {
            assert_eq!(target(url), wanted, "{url}");
        }
        let place = read("http://us%40er:p@h/", Reading::default()).unwrap();
        assert_eq!(place.user.unwrap(), b"us@er:p");
        assert_eq!(place.server.authority, "h");
        let literal = Reading { is_literal: true, keeps_dots: true };
        assert_eq!(read("h/[1]/../{a}", literal).unwrap().path, "/[1]/../{a}");
    }

    #[test]
    fn what_curl_refuses_or_multiplies_is_refused() {
        for (url, part) in [
            ("h/[1-3]", "a list of URLs"),
            ("h/{a,b}", "a list of URLs"),
            ("h/a]", "a list of URLs"),
            ("h/a b", "write %20"),
            ("ftp://h/a", "speaks HTTP"),
            ("http:///a", "neither a URL nor a path"),
        ] {
            let why = read(url, Reading::default()).unwrap_err();
            assert!(why.contains(part), "{url}: {why}");
        }
    }
}
