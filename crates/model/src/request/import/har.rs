//! HAR 1.2 (the HTTP Archive format), which the developer tools of browsers export.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{Imported, WrongLine, kept};
use crate::request::form;
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
    response: Option<Response>,
    /// Chrome's: `memory` or `disk`.
    #[serde(rename = "_fromCache")]
    from_cache: Option<String>,
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
struct Response {
    #[serde(default)]
    status: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pair {
    #[serde(default)]
    name: String,
    #[serde(default)]
    value: String,
    /// Of a parameter that is a file.
    file_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    #[serde(default)]
    mime_type: String,
    text: Option<String>,
    encoding: Option<String>,
    #[serde(default)]
    params: Vec<Pair>,
}

/// All requests over http and https that were sent. The recorded status is the right one.
///
/// # Errors
/// If the text is not a HAR file.
pub fn parse(text: &str) -> Result<Imported, WrongLine> {
    // Some browsers begin the file with a byte order mark.
    let har: Har = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| (error.line(), format!("this is not a HAR file: {error}")))?;
    let mut imported = Imported::default();
    for entry in har.log.entries {
        match request(entry) {
            Ok(request) => imported.requests.push(request),
            Err(why) => imported.leave_out(why),
        }
    }
    Ok(imported)
}

fn request(entry: Entry) -> Result<FileRequest, &'static str> {
    let Entry { request, response, from_cache } = entry;
    let Ok((Some(server), target)) = split_url(&request.url) else {
        return Err("requests that are not over http or https");
    };
    if from_cache.is_some() {
        return Err("answers from the browser's cache, for which nothing was sent");
    }
    // No answer was recorded: a blocker, an abort, a failed connection.
    let status = response.map(|response| response.status);
    if status == Some(0) {
        return Err("requests that were blocked or got no answer");
    }
    let status = status.and_then(|status| u16::try_from(status).ok());
    let mut headers = kept(request.headers.into_iter().map(|pair| (pair.name, pair.value)));
    let body = match request.post_data {
        None => Vec::new(),
        Some(data) => body(data, &mut headers)?,
    };
    Ok(FileRequest {
        method: request.method,
        server: Some(server),
        target,
        headers,
        body,
        weight: 1,
        status: status.into_iter().filter(|status| (200..600).contains(status)).collect(),
        ..FileRequest::default()
    })
}

/// The body: the text, or the form that the parameters make. A form with parts of its own gets
/// another boundary, in its header too.
fn body(data: PostData, headers: &mut Vec<(String, String)>) -> Result<Vec<u8>, &'static str> {
    const NOT_HELD: &str = "requests whose body the file does not hold";
    let PostData { mime_type, text, encoding, params } = data;
    if let Some(text) = text.filter(|text| !text.is_empty() || params.is_empty()) {
        return match encoding.as_deref() {
            Some("base64") => STANDARD.decode(text).map_err(|_| NOT_HELD),
            _ => Ok(text.into_bytes()),
        };
    }
    if params.is_empty() {
        return Ok(Vec::new());
    }
    if !mime_type.starts_with("multipart/form-data") {
        return Ok(form::pairs(params.iter().map(|it| (&it.name, &it.value))).into_bytes());
    }
    if params.iter().any(|pair| pair.file_name.is_some()) {
        return Err(NOT_HELD);
    }
    let fields = params.into_iter().map(|pair| (pair.name, pair.value));
    let (bytes, media_type) = form::multipart_of_texts(fields).ok_or(NOT_HELD)?;
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    headers.push(("Content-Type".into(), media_type));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entries: &str) -> Imported {
        parse(&format!(r#"{{"log": {{"version": "1.2", "entries": [{entries}]}}}}"#)).unwrap()
    }

    #[test]
    fn requests_keep_method_path_headers_and_body() {
        let imported = read(
            r#"{"request": {"method": "POST", "url": "https://a/x?y=1#z", "headers": [
            {"name": ":authority", "value": "a"}, {"name": "Host", "value": "a"},
            {"name": "Accept", "value": "*/*"}, {"name": "Content-Length", "value": "3"}],
            "postData": {"mimeType": "text/plain", "text": "abc"}}, "response": {"status": 404}},
          {"request": {"method": "GET", "url": "wss://a/socket"}}"#,
        );
        let [one] = &imported.requests[..] else { panic!("{imported:?}") };
        assert_eq!((one.method.as_str(), one.target.as_str()), ("POST", "/x?y=1"));
        assert_eq!(one.headers, [("Accept".into(), "*/*".into())]);
        assert_eq!((one.body.as_slice(), imported.left_out.len()), (&b"abc"[..], 1));
        assert_eq!(one.status, [404], "as it was recorded");
    }

    #[test]
    fn parameters_make_a_form_and_none_make_no_body() {
        let imported = read(
            r#"{"request": {"method": "GET", "url": "https://a/", "postData": {"mimeType": "", "params": []}}},
          {"request": {"method": "POST", "url": "https://a/", "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "ü"}, {"name": "c", "value": "1"}]}}},
          {"request": {"method": "POST", "url": "https://a/", "headers": [{"name": "content-type", "value": "multipart/form-data; boundary=x"}], "postData": {"mimeType": "multipart/form-data; boundary=x", "params": [{"name": "a", "value": "@1"}]}}},
          {"request": {"method": "POST", "url": "https://a/", "postData": {"mimeType": "multipart/form-data", "params": [{"name": "f", "fileName": "a.png"}]}}}"#,
        );
        let [get, form, parts] = &imported.requests[..] else { panic!("{imported:?}") };
        assert_eq!((get.method.as_str(), get.body.len()), ("GET", 0));
        assert_eq!(form.body, b"a%20b=%C3%BC&c=1");
        assert!(String::from_utf8_lossy(&parts.body).contains("name=\"a\"\r\n\r\n@1\r\n"));
        let [(name, value)] = &parts.headers[..] else { panic!("{parts:?}") };
        assert!(
            name == "Content-Type" && value.contains("boundary=------------------------pippin")
        );
        assert_eq!(imported.left_out["requests whose body the file does not hold"], 1);
    }

    #[test]
    fn what_was_not_sent_is_left_out_and_counted() {
        let imported = read(
            r#"{"request": {"method": "GET", "url": "https://a/1"}, "_fromCache": "memory", "response": {"status": 200}},
          {"request": {"method": "GET", "url": "https://a/2"}, "response": {"status": 0}}"#,
        );
        assert!(imported.requests.is_empty());
        let left: Vec<&str> = imported.left_out.keys().map(String::as_str).collect();
        assert!(left[0].contains("cache") && left[1].contains("blocked"), "{left:?}");
    }

    #[test]
    fn what_is_no_har_is_refused_with_its_line() {
        let (line, message) = parse("{\n\"log\": 1}").unwrap_err();
        assert!(line == 2 && message.contains("not a HAR file"), "{line} {message}");
    }
}
