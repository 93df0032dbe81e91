//! vegeta's HTTP format: `METHOD URL`, then header lines, then `@FILE` for a body. A blank line, or
//! the next `METHOD URL`, ends a request. Lines that begin with `#` are comments.
use super::{Bodies, FileRequest, WrongLine, split_url};

/// Passes each request to `add`, with the line in which it begins.
///
/// # Errors
/// At the first wrong line.
pub fn parse(
    text: &str,
    bodies: &mut Bodies,
    add: &mut dyn FnMut(usize, FileRequest) -> Result<(), WrongLine>,
) -> Result<(), WrongLine> {
    let mut open: Option<(usize, FileRequest)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        let wrong = |why| (number, why);
        if line.is_empty() {
            if let Some((at, asked)) = open.take() {
                add(at, asked)?;
            }
        } else if let Some((_, asked)) = open.as_mut().filter(|_| !begins_a_request(line)) {
            rest(asked, line, bodies).map_err(wrong)?;
        } else {
            if let Some((at, asked)) = open.take() {
                add(at, asked)?;
            }
            open = Some((number, first(line).map_err(wrong)?));
        }
    }
    open.map_or(Ok(()), |(at, asked)| add(at, asked))
}

/// Whether a line begins with a word in capitals and a space, which no header line does.
fn begins_a_request(line: &str) -> bool {
    line.split_once(char::is_whitespace).is_some_and(|(method, _)| {
        !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase())
    })
}

fn first(line: &str) -> Result<FileRequest, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [method, url] = words[..] else {
        return Err(format!(
            "`{line}` is not a request: write METHOD URL, as GET http://localhost/"
        ));
    };
    let (server, target) = split_url(url)?;
    Ok(FileRequest { method: method.into(), server, target, weight: 1, ..FileRequest::default() })
}

fn rest(asked: &mut FileRequest, line: &str, bodies: &mut Bodies) -> Result<(), String> {
    if let Some(file) = line.strip_prefix('@') {
        asked.body = bodies.get(file.trim())?;
        return Ok(());
    }
    let (name, value) = line.split_once(':').ok_or_else(|| {
        format!("`{line}` is neither a header (NAME: VALUE) nor a body (@FILE); a blank line ends a request")
    })?;
    asked.headers.push((name.trim().into(), value.trim().into()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Format, RequestFile, parse};
    use super::*;
    use std::path::Path;

    fn read(text: &str, folder: &Path) -> Result<RequestFile, WrongLine> {
        parse(text, Format::Vegeta, &mut Bodies::beside(&folder.join("x")))
    }

    #[test]
    fn requests_have_headers_and_bodies_and_may_follow_each_other_at_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.json"), "{}").unwrap();
        let text =
            "# two\nGET http://a/x\nGET http://a/y\nX-Y: z: 1\n# more\n\n\nPOST /p\n@b.json\n";
        let file = read(text, folder.path()).unwrap();
        let seen: Vec<_> = file
            .requests
            .iter()
            .map(|request| (request.method.as_str(), request.target.as_str(), request.body.len()))
            .collect();
        assert_eq!(seen, [("GET", "/x", 0), ("GET", "/y", 0), ("POST", "/p", 2)]);
        assert_eq!(file.requests[1].headers, [("X-Y".into(), "z: 1".into())]);
        assert_eq!(file.lines, [2, 3, 8]);
    }

    #[test]
    fn a_wrong_line_is_named_with_the_fix() {
        for (text, line, part) in [
            ("GET http://a/\n\nGET\n", 3, "write METHOD URL"),
            ("GET a\n", 1, "neither a URL nor a path"),
            ("GET /\nX-Y\n", 2, "NAME: VALUE"),
            ("POST /\n@none\n", 2, "its path begins at this file's folder"),
        ] {
            let (at, message) = read(text, Path::new("/no")).unwrap_err();
            assert!(at == line && message.contains(part), "{text}: {at} {message}");
        }
    }
}
