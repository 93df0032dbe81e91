//! Access logs in the Common and the Combined Log Format, as Apache, nginx and others write them:
//! `HOST IDENT USER [TIME] "METHOD TARGET VERSION" STATUS BYTES ...`.
use super::{Imported, WrongLine};
use crate::request::request_file::FileRequest;

/// All requests without a body. A log has no bodies, so a POST cannot be sent again.
///
/// # Errors
/// If no line has a request.
pub fn parse(text: &str) -> Result<Imported, WrongLine> {
    let mut imported = Imported::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match request_line(line) {
            Some((method @ ("GET" | "HEAD" | "OPTIONS"), target)) => {
                imported.requests.push(FileRequest {
                    method: method.into(),
                    target: target.into(),
                    weight: 1,
                    ..FileRequest::default()
                });
            }
            Some((method, _)) => {
                imported.leave_out(&format!("{method} requests, whose bodies no log has"));
            }
            None => imported.leave_out("lines without a request"),
        }
    }
    if imported.requests.is_empty() {
        let message = "no line holds a request like \"GET /path HTTP/1.1\" that can be sent again";
        return Err((1, message.into()));
    }
    Ok(imported)
}

/// Method and target of the first quoted part that is a request line.
fn request_line(line: &str) -> Option<(&str, &str)> {
    line.split('"').skip(1).step_by(2).find_map(|quoted| {
        let mut words = quoted.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_request = words.next().is_none()
            && version.starts_with("HTTP/")
            && target.starts_with('/')
            && target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
            && !method.is_empty()
            && method.bytes().all(|byte| byte.is_ascii_uppercase());
        is_request.then_some((method, target))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_without_a_body_are_taken_and_the_others_are_told() {
        let text = concat!(
            "1.2.3.4 - - [22/Nov/2026:10:00:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 12 \"-\" \"curl/8\"\n",
            "::1 - ana [22/Nov/2026:10:00:00 +0000] \"HEAD /b HTTP/2.0\" 304 -\n",
            "\n",
            "1.2.3.4 - - [x] \"POST /form HTTP/1.1\" 200 0\n",
            "1.2.3.4 - - [x] \"\\x16\\x03\" 400 0\n",
        );
        let imported = parse(text).unwrap();
        let seen: Vec<_> = imported
            .requests
            .iter()
            .map(|one| (one.method.as_str(), one.target.as_str()))
            .collect();
        assert_eq!(seen, [("GET", "/a?b=1"), ("HEAD", "/b")]);
        assert_eq!(imported.left_out.values().copied().collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn a_file_without_requests_is_refused() {
        assert!(parse("hello\nworld\n").is_err());
    }
}
