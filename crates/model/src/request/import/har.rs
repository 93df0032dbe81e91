//! HAR 1.2 (the HTTP Archive format), which the developer tools of browsers export.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{Imported, WrongLine, kept};
use crate::request::request_file::{FileRequest, split_url};

#[derive(Deserialize)]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    request: Request,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    #[serde(default)]
    value: String,
}

#[derive(Deserialize)]
struct PostData {
    text: Option<String>,
    encoding: Option<String>,
}

/// All requests over http and https.
///
/// # Errors
/// If the text is not a HAR file.
pub fn parse(text: &str) -> Result<Imported, WrongLine> {
    // Some browsers begin the file with a byte order mark.
    let har: Har = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| (error.line(), format!("this is not a HAR file: {error}")))?;
    let mut imported = Imported::default();
    for Entry { request } in har.log.entries {
        let Ok((Some(server), target)) = split_url(&request.url) else {
            imported.leave_out("requests that are not over http or https");
            continue;
        };
        let headers = kept(request.headers.into_iter().map(|pair| (pair.name, pair.value)));
        let Some(body) = body(request.post_data) else {
            imported.leave_out("requests whose body the file does not hold");
            continue;
        };
        imported.requests.push(FileRequest {
            method: request.method,
            server: Some(server),
            target,
            headers,
            body,
            weight: 1,
            status: Vec::new(),
        });
    }
    Ok(imported)
}

/// The body; `None` if there was one but the file does not contain it.
fn body(data: Option<PostData>) -> Option<Vec<u8>> {
    let Some(PostData { text, encoding }) = data else { return Some(Vec::new()) };
    match encoding.as_deref() {
        Some("base64") => STANDARD.decode(text?).ok(),
        _ => text.map(String::into_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_keep_method_path_headers_and_body() {
        let text = r#"{"log": {"version": "1.2", "entries": [
          {"request": {"method": "POST", "url": "https://a/x?y=1#z", "headers": [
            {"name": ":authority", "value": "a"}, {"name": "Host", "value": "a"},
            {"name": "Accept", "value": "*/*"}, {"name": "Content-Length", "value": "3"}],
            "postData": {"mimeType": "text/plain", "text": "abc"}}},
          {"request": {"method": "GET", "url": "wss://a/socket"}},
          {"request": {"method": "POST", "url": "https://a/", "postData": {"params": []}}}
        ]}}"#;
        let imported = parse(text).unwrap();
        let [one] = &imported.requests[..] else { panic!("{imported:?}") };
        assert_eq!((one.method.as_str(), one.target.as_str()), ("POST", "/x?y=1"));
        assert_eq!(one.headers, [("Accept".into(), "*/*".into())]);
        assert_eq!((one.body.as_slice(), imported.left_out.len()), (&b"abc"[..], 2));
    }

    #[test]
    fn what_is_no_har_is_refused_with_its_line() {
        let (line, message) = parse("{\n\"log\": 1}").unwrap_err();
        assert!(line == 2 && message.contains("not a HAR file"), "{line} {message}");
    }
}
