//! Where a captured URL leads: references of RFC 3986 (section 4.1). All requests go to one server,
//! so only path and query count.

/// Whether a reference is a target as it stands: a path from the root, without dots to follow. Most
/// are.
pub(crate) fn is_plain_path(reference: &str) -> bool {
    reference.starts_with('/') && !reference.starts_with("//") && !reference.contains("/.")
}

/// The path and query to which a reference without fragment leads (section 5.2.2), from the path
/// and query of a request (empty means the root). Only a scheme with `//` behind it is taken for one:
/// no other URL leads to a server of HTTP.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let (base_path, base_query) = split_query(base);
    let rest = without_server(reference);
    let has_server = rest.len() < reference.len();
    let (path, query) = split_query(rest);
    let (path, query) = match path {
        "" if has_server => ("/".into(), query),
        "" if query.is_empty() => (base_path.into(), base_query),
        "" => (base_path.into(), query),
        _ if path.starts_with('/') => (path.into(), query),
        // Section 5.2.3: all but the last segment of the base comes first.
        _ => {
            let directory = base_path.rfind('/').map_or("/", |end| &base_path[..=end]);
            (format!("{directory}{path}"), query)
        }
    };
    without_dots(&path) + query
}

/// Splits off the query, which begins with its `?`.
fn split_query(target: &str) -> (&str, &str) {
    target.split_at(target.find('?').unwrap_or(target.len()))
}

/// What is behind scheme and authority. An authority ends at the first `/` or `?` (section 3.2).
fn without_server(reference: &str) -> &str {
    let behind_scheme = match reference.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        _ => reference,
    };
    match behind_scheme.strip_prefix("//") {
        Some(rest) => &rest[rest.find(['/', '?']).unwrap_or(rest.len())..],
        None => reference,
    }
}

/// Whether a text is written as a scheme is (section 3.1).
pub(crate) fn is_scheme(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A path from the root without the segments `.` and `..` (section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_up = segment == "..";
        if is_up {
            kept.pop();
        }
        if !is_up && segment != "." {
            kept.push(segment);
        } else if segments.peek().is_none() {
            // A directory ends with a slash.
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3986 sections 5.4.1 and 5.4.2, for their base, without fragments and
    /// schemes that name no server.
    #[test]
    fn the_examples_of_the_standard_lead_where_it_says() {
        let cases = [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            ("/g", "/g"),
            ("//g", "/"),
            ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            (";x", "/b/c/;x"),
            ("g;x", "/b/c/g;x"),
            ("", "/b/c/d;p?q"),
            (".", "/b/c/"),
            ("./", "/b/c/"),
            ("..", "/b/"),
            ("../", "/b/"),
            ("../g", "/b/g"),
            ("../..", "/"),
            ("../../", "/"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("../../../../g", "/g"),
            ("/./g", "/g"),
            ("/../g", "/g"),
            ("g.", "/b/c/g."),
            (".g", "/b/c/.g"),
            ("g..", "/b/c/g.."),
            ("..g", "/b/c/..g"),
            ("./../g", "/b/g"),
            ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"),
            ("g/../h", "/b/c/h"),
            ("g;x=1/./y", "/b/c/g;x=1/y"),
            ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"),
            ("g?y/../x", "/b/c/g?y/../x"),
        ];
        for (reference, target) in cases {
            assert_eq!(resolve("/b/c/d;p?q", reference), target, "{reference}");
            assert!(!is_plain_path(reference) || reference == target, "{reference}");
        }
    }

    #[test]
    fn a_server_ends_at_the_first_slash_or_question_mark() {
        let cases = [
            ("http://h?q=/z", "/?q=/z"),
            ("http://h:80/a?x=http://y/", "/a?x=http://y/"),
            ("HTTPS://h", "/"),
            ("//other/x?y", "/x?y"),
            ("http://h//a", "//a"),
            ("a:b/c", "/d/a:b/c"),
            ("a?u=http://h/x", "/d/a?u=http://h/x"),
        ];
        for (reference, target) in cases {
            assert_eq!(resolve("/d/e?f=/g", reference), target, "{reference}");
        }
    }

    #[test]
    fn a_first_request_begins_at_the_root() {
        for (reference, target) in [("a/b", "/a/b"), ("../a", "/a"), ("?q", "/?q"), ("", "/")] {
            assert_eq!(resolve("", reference), target, "{reference}");
        }
    }
}
