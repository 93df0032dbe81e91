//! Files of requests (docs/requests.md). If one line is wrong, the whole file is refused, because
//! the rest would be a different load.
//!
//! | module | format |
//! |---|---|
//! | [`vegeta`] | vegeta's HTTP format |
//! | [`json_lines`] | one JSON object on each line |
//! | [`urls`] | one URL or path on each line |
pub mod json_lines;
pub mod urls;
pub mod vegeta;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::load::{BodyCheck, Check, Request};
use crate::request::json_value::JsonValue;
use crate::text::bounded;
use crate::text::file::{FileError, without_mark};

/// The content of a file of requests.
#[derive(Debug, Default, PartialEq)]
pub struct RequestFile {
    /// The requests in the file's order. Their host is empty: see [`RequestFile::server`].
    pub requests: Vec<Request>,
    /// The relative frequency of each.
    pub weights: Vec<u32>,
    /// The line in which each begins.
    pub lines: Vec<u32>,
    /// The server of all absolute URLs in the file, and the line of the first of them; `None` if
    /// there are only paths.
    pub server: Option<(Server, usize)>,
    /// The length of all requests so far, without line ends and what the flags add.
    bytes: u64,
}

/// The most that all requests of a file may have together, in bytes: the engine keeps their places
/// as 32-bit numbers.
const MOST_BYTES: u64 = u32::MAX as u64;

/// Scheme and authority of a URL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Server {
    /// Whether the scheme is https.
    pub is_https: bool,
    /// The host and, if it was written, the port.
    pub authority: String,
}

impl std::fmt::Display for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.is_https { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority)
    }
}

/// One request of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileRequest {
    /// The method.
    pub method: String,
    /// The server, if the URL is absolute.
    pub server: Option<Server>,
    /// Path and query.
    pub target: String,
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The relative frequency; at least 1.
    pub weight: u32,
    /// The right statuses; if empty, 200 to 399.
    pub status: Vec<u16>,
    /// Texts that a right body has.
    pub contains: Vec<String>,
    /// Values that a right body of JSON has.
    pub json: Vec<JsonValue>,
}

/// The formats of files of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// vegeta's HTTP format.
    Vegeta,
    /// One JSON object on each line.
    JsonLines,
    /// One URL or path on each line.
    Urls,
}

impl Format {
    /// The format of a file of requests: JSON lines if its name has that ending or it begins with
    /// `{`, otherwise vegeta's.
    #[must_use]
    pub fn detect(path: &Path, text: &str) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ["jsonl", "ndjson", "json"].contains(&ending)
            || without_mark(text).trim_start().starts_with('{')
        {
            Self::JsonLines
        } else {
            Self::Vegeta
        }
    }
}

/// A problem in a line: its number from 1, and the problem with its fix.
pub type WrongLine = (usize, String);

/// Reads a file of requests. If no format is given, its name and content decide.
///
/// # Errors
/// If the file cannot be read or has no request, or at the first wrong line.
pub fn read(path: &Path, format: Option<Format>) -> Result<RequestFile, FileError> {
    let unreadable = |source| FileError::Read { path: path.into(), source };
    let length = fs::metadata(path).map_err(unreadable)?.len();
    fits(length).map_err(|why| content(path, (0, why)))?;
    let text = bounded::text(path, MOST_BYTES).map_err(unreadable)?;
    of_text(path, &text, format)
}

/// Reads requests that are in no file, as [`read`]. `name` says where they are from, and stands in
/// front of what is wrong with a line; files of bodies begin at its folder.
///
/// # Errors
/// If there is no request, or at the first wrong line.
pub fn of_text(name: &Path, text: &str, format: Option<Format>) -> Result<RequestFile, FileError> {
    let format = format.unwrap_or_else(|| Format::detect(name, text));
    parse(text, format, &mut Bodies::beside(name)).map_err(|wrong| content(name, wrong))
}

fn content(path: &Path, (line, message): WrongLine) -> FileError {
    FileError::Content { path: path.into(), line: (line > 0).then_some(line), message }
}

/// Refuses what is too long before it fills the memory.
fn fits(bytes: u64) -> Result<(), String> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    Err(format!(
        "that makes {bytes} bytes, and all requests together must be below 4 GiB: take fewer requests or shorter bodies"
    ))
}

/// Parses the text of a file of requests, with or without a byte-order mark.
///
/// # Errors
/// At the first wrong line; line 0 means the whole text.
pub fn parse(text: &str, format: Format, bodies: &mut Bodies) -> Result<RequestFile, WrongLine> {
    let text = without_mark(text);
    let mut file = RequestFile::default();
    let mut add =
        |line: usize, asked: FileRequest| file.add(line, asked).map_err(|why| (line, why));
    match format {
        Format::Vegeta => vegeta::parse(text, bodies, &mut add)?,
        Format::JsonLines => json_lines::parse(text, bodies, &mut add)?,
        Format::Urls => urls::parse(text, &mut add)?,
    }
    if file.requests.is_empty() {
        return Err((0, "it holds no request; `pippin help requests` shows the formats".into()));
    }
    Ok(file)
}

impl RequestFile {
    fn add(&mut self, line: usize, asked: FileRequest) -> Result<(), String> {
        let FileRequest { method, server, target, headers, body, weight, status, contains, json } =
            asked;
        match (&self.server, server) {
            (None, Some(server)) => self.server = Some((server, line)),
            (Some((first, at)), Some(server)) if *first != server => {
                return Err(format!(
                    "this goes to {server}, and line {at} to {first}: a load has one server, so load each separately"
                ));
            }
            _ => {}
        }
        let of_headers: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        self.bytes += (method.len() + target.len() + of_headers + body.len()) as u64;
        fits(self.bytes)?;
        let check =
            Check { status, body: BodyCheck::containing(contains), json, ..Check::default() };
        let host = String::new();
        let whole =
            Request { method, target, host, headers, body, check, drawn: None, upload: None };
        self.requests.push(whole);
        self.weights.push(weight);
        self.lines.push(line as u32);
        Ok(())
    }
}

/// Bodies in separate files. Each file is read once.
pub struct Bodies {
    folder: PathBuf,
    read: HashMap<PathBuf, Vec<u8>>,
}

impl Bodies {
    /// Relative paths start at the folder of this file.
    #[must_use]
    pub fn beside(file: &Path) -> Self {
        Self {
            folder: file.parent().map(Path::to_path_buf).unwrap_or_default(),
            read: HashMap::new(),
        }
    }

    fn get(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(name);
        if let Some(body) = self.read.get(&path) {
            return Ok(body.clone());
        }
        let unreadable = |error| {
            format!("the body {}: {error}; its path begins at this file's folder", path.display())
        };
        fits(fs::metadata(&path).map_err(unreadable)?.len())
            .map_err(|why| format!("the body {}: {why}", path.display()))?;
        let body = bounded::read(&path, MOST_BYTES).map_err(unreadable)?;
        self.read.insert(path, body.clone());
        Ok(body)
    }
}

/// Splits a URL or a path. A fragment is never sent.
///
/// # Errors
/// If it is neither.
pub fn split_url(text: &str) -> Result<(Option<Server>, String), String> {
    let text = text.split('#').next().unwrap_or_default();
    let wrong = || format!("`{text}` is neither a URL nor a path: write http://HOST/PATH or /PATH");
    let (is_https, rest) = match text.split_once("://") {
        // `*` asks for the server as a whole (RFC 9112 section 3.2.4).
        _ if text.starts_with('/') || text == "*" => return Ok((None, text.into())),
        Some(("http", rest)) => (false, rest),
        Some(("https", rest)) => (true, rest),
        _ => return Err(wrong()),
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if authority.is_empty() {
        return Err(wrong());
    }
    if authority.contains('@') {
        return Err("a user in the URL is not sent: leave it out and use -u USER:PASSWORD".into());
    }
    let target = if path.starts_with('/') { path.into() } else { format!("/{path}") };
    Ok((Some(Server { is_https, authority: authority.into() }), target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrong(text: &str, format: Format) -> WrongLine {
        parse(text, format, &mut Bodies::beside(Path::new("x"))).unwrap_err()
    }

    #[test]
    fn the_format_is_told_from_name_or_content() {
        let of = |name: &str, text| Format::detect(Path::new(name), text);
        assert_eq!(of("a.jsonl", ""), Format::JsonLines);
        assert_eq!(of("a.txt", "\n {\"path\":\"/\"}"), Format::JsonLines);
        assert_eq!(of("a.txt", "GET /\n"), Format::Vegeta);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        let first = "\u{feff}{\"path\": \"/\"}\n";
        assert_eq!(Format::detect(Path::new("a.txt"), first), Format::JsonLines);
        let texts = [
            (Format::JsonLines, first),
            (Format::Vegeta, "\u{feff}GET /\n"),
            (Format::Urls, "\u{feff}/\n"),
            (Format::Urls, "\u{feff}# one\n/\n"),
        ];
        for (format, text) in texts {
            let file = parse(text, format, &mut Bodies::beside(Path::new("x"))).unwrap();
            assert_eq!((file.requests.len(), file.requests[0].target.as_str()), (1, "/"), "{text}");
        }
    }

    #[test]
    fn one_load_has_one_server() {
        let (line, message) = wrong("http://a/\nhttps://a/", Format::Urls);
        assert_eq!(line, 2);
        assert!(message.contains("goes to https://a, and line 1 to http://a"), "{message}");
        assert_eq!(wrong("# nothing\n", Format::Urls).0, 0);
    }

    #[test]
    fn a_url_is_taken_apart() {
        let server =
            |is_https, authority: &str| Some(Server { is_https, authority: authority.into() });
        assert_eq!(split_url("/a?b#c"), Ok((None, "/a?b".into())));
        assert_eq!(split_url("http://a:1/b"), Ok((server(false, "a:1"), "/b".into())));
        assert_eq!(split_url("https://a?x=/y"), Ok((server(true, "a"), "/?x=/y".into())));
        for wrong in ["a", "ftp://a/", "http://", "http:///x", "http://me@a/"] {
            assert!(split_url(wrong).is_err(), "{wrong}");
        }
    }

    /// The files have holes instead of content, so that the test needs no room.
    #[test]
    fn what_is_above_four_gibibytes_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let long = std::fs::File::create(folder.path().join("long")).unwrap();
        long.set_len(MOST_BYTES + 1).unwrap();
        let targets = folder.path().join("targets");
        std::fs::write(&targets, "GET /\nPOST /a\n@long\n").unwrap();
        let said = read(&targets, None).unwrap_err().to_string();
        assert!(
            said.contains("targets:2: the body ") || said.contains("targets:3: the body "),
            "{said}"
        );
        assert!(said.contains("below 4 GiB: take fewer requests or shorter bodies"), "{said}");
        let said = read(&folder.path().join("long"), None).unwrap_err().to_string();
        assert!(said.contains("4294967296 bytes"), "{said}");
    }

    #[test]
    fn the_line_is_named_at_which_all_requests_become_too_long() {
        let asked = |body: &[u8]| FileRequest { body: body.into(), ..FileRequest::default() };
        let mut file = RequestFile { bytes: MOST_BYTES - 3, ..RequestFile::default() };
        file.add(1, asked(b"abc")).unwrap();
        let said = file.add(2, asked(b"d")).unwrap_err();
        assert!(said.contains("4294967296 bytes"), "{said}");
        let twice = "{\"path\":\"/\",\"body\":\"ab\"}\n".repeat(2);
        let file = parse(&twice, Format::JsonLines, &mut Bodies::beside(Path::new("x"))).unwrap();
        assert_eq!(file.bytes, 2 * "POST/ab".len() as u64);
    }

    /// A random request that every format can express.
    fn asked() -> impl Strategy<Value = (String, String, Vec<(String, String)>)> {
        let header = ("[A-Za-z][A-Za-z0-9-]{0,8}", "[!-~]([ -~]{0,12}[!-~])?");
        ("[A-Z]{3,7}", "/[!-\"$-~]{0,20}", proptest::collection::vec(header, 0..4))
    }

    proptest! {
        #[test]
        fn no_text_brings_a_parser_down(text in "\\PC{0,80}|([GET/#@{}\":a \n]{0,60})") {
            for format in [Format::Vegeta, Format::JsonLines, Format::Urls] {
                let lines = text.lines().count().max(1);
                if let Err((line, message)) = parse(&text, format, &mut Bodies::beside(Path::new("/no/x"))) {
                    prop_assert!(line <= lines && !message.is_empty());
                }
            }
        }

        #[test]
        fn vegeta_requests_come_back_as_they_were_written(all in proptest::collection::vec(asked(), 1..6)) {
            let text: String = all.iter().map(|(method, target, headers)| {
                let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
                format!("{method} http://h{target}\n{}\n", lines.collect::<String>())
            }).collect();
            let file = parse(&text, Format::Vegeta, &mut Bodies::beside(Path::new("x"))).unwrap();
            let found: Vec<_> = file.requests.into_iter()
                .map(|request| (request.method, request.target, request.headers)).collect();
            prop_assert_eq!(found, all);
        }

        #[test]
        fn json_lines_come_back_as_they_were_written(
            all in proptest::collection::vec((asked(), any::<Vec<u8>>(), 1..9_u32), 1..6),
        ) {
            let all: Vec<FileRequest> = all.into_iter().map(|((method, target, headers), body, weight)| {
                let headers = headers.into_iter()
                    .collect::<std::collections::BTreeMap<_, _>>().into_iter().collect();
                FileRequest { method, target, headers, body, weight, ..FileRequest::default() }
            }).collect();
            let text: String = all.iter().map(|asked| json_lines::write(asked) + "\n").collect();
            let file = parse(&text, Format::JsonLines, &mut Bodies::beside(Path::new("x"))).unwrap();
            prop_assert_eq!(file.weights, all.iter().map(|asked| asked.weight).collect::<Vec<_>>());
            for (request, asked) in file.requests.iter().zip(&all) {
                prop_assert_eq!(
                    (&request.method, &request.target, &request.headers, &request.body),
                    (&asked.method, &asked.target, &asked.headers, &asked.body)
                );
            }
        }
    }
}
