//! curl commands, as browsers and API documents show them. The request is the one that curl 7.88.1
//! sends: a test of the program compares the two. An option that would make it another one is
//! refused, and what has no effect on it is named.
//!
//! | module | what it does |
//! |---|---|
//! | [`options`] | curl's options, and what each means |
//! | [`url`] | its URL: globs, dot segments, users |
mod options;
mod url;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use self::options::Meaning;
use self::url::{Place, Reading};
use super::{Imported, WrongLine, fault};
use crate::request::form::{self, Files, Written};
use crate::request::request_file::FileRequest;
use crate::text::shell::{self, Command, Fault};
use crate::workload::percent_encode_bytes;

/// What curl says of itself unless it is told otherwise.
const USER_AGENT: &str = "curl/7.88.1";
/// The encodings that Debian's curl accepts with `--compressed`.
const ENCODINGS: &str = "deflate, gzip, br, zstd";

/// All commands of a text: one on each line, or over several lines that end with `\`. Anything that
/// does not begin with `curl` is refused. `files` reads what `@FILE` names.
///
/// # Errors
/// At the first command that cannot be imported, with the line in which it begins.
pub fn parse(text: &str, files: Files<'_>) -> Result<Imported, WrongLine> {
    let mut imported = Imported::default();
    let wrong = |(line, fault): (usize, Fault)| (line, fault.to_string());
    for command in shell::commands(text).map_err(wrong)? {
        let line = command.line;
        if let Some(what) = &command.replaced {
            return Err(wrong((line, Fault::Replaced(what.clone()))));
        }
        let (request, said) = request(&command, files).map_err(|why| (line, why))?;
        imported.requests.push(request);
        said.iter().for_each(|what| imported.leave_out(what));
    }
    if imported.requests.is_empty() {
        return Err((1, "there is no curl command".into()));
    }
    Ok(imported)
}

/// The request of a command, and what of it has no effect here.
fn request(command: &Command, files: Files<'_>) -> Result<(FileRequest, Vec<String>), String> {
    let mut read = Read::new(files);
    for what in &command.left_out {
        read.said.push(format!("what follows `{what}`, which is the shell's"));
    }
    let words: Vec<Word<'_>> = command.words.iter().map(|bytes| Word(bytes)).collect();
    let Some((first, rest)) = words.split_first() else {
        return Err("there is no command".into());
    };
    if first.text()?.rsplit('/').next() != Some("curl") {
        return Err(format!("a command begins with `curl`, and this one with `{}`", first.text()?));
    }
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.0 {
            [b'-', b'-', name @ ..] if !name.is_empty() => {
                let name = Word(name).text()?;
                let meaning = options::long(name).ok_or_else(|| unknown(&format!("--{name}")))?;
                read.option(meaning, &format!("--{name}"), || words.next().copied())?;
            }
            [b'-', names @ ..] if !names.is_empty() => {
                let names = Word(names).lossy();
                short_options(&mut read, &names, word, &mut words)?;
            }
            _ => read.url(word.text()?)?,
        }
    }
    let request = read.finish()?;
    match fault(&request) {
        Some(why) => Err(format!("no load takes {why}")),
        None => Ok((request, read.said)),
    }
}

/// Several short options in one word. The first that has a value takes the rest of the word, or the
/// next word.
fn short_options<'a>(
    read: &mut Read<'_, 'a>,
    names: &str,
    word: &Word<'a>,
    next: &mut std::slice::Iter<'_, Word<'a>>,
) -> Result<(), String> {
    for (at, name) in names.char_indices() {
        let option = format!("-{name}");
        let meaning = options::short(name).ok_or_else(|| unknown(&option))?;
        let rest = word.0.get(1 + at + name.len_utf8()..).filter(|rest| !rest.is_empty());
        read.option(meaning, &option, || rest.map(Word).or_else(|| next.next().copied()))?;
        if meaning.has_value() {
            break;
        }
    }
    Ok(())
}

fn unknown(option: &str) -> String {
    format!(
        "curl's option {option} is not known here: leave it out, or write the request as a JSON line (`pippin help requests`)"
    )
}

/// A word of a command.
#[derive(Debug, Clone, Copy)]
struct Word<'a>(&'a [u8]);

impl<'a> Word<'a> {
    fn text(self) -> Result<&'a str, String> {
        str::from_utf8(self.0)
            .map_err(|_| format!("`{}` is not UTF-8: only bodies can have any bytes", self.lossy()))
    }

    fn lossy(self) -> String {
        String::from_utf8_lossy(self.0).into_owned()
    }
}

/// A header of `-H`.
enum Custom {
    /// `NAME: VALUE` or `NAME;`.
    Sent(String, String),
    /// `NAME:`: what curl would send by itself is not sent.
    Removed(String),
}

/// Where the body comes from. A command has at most one of them.
#[derive(Default)]
enum Content {
    #[default]
    Nothing,
    Data(Vec<u8>),
    Form(Vec<Written>),
    Upload(String),
}

/// A command as far as it was read.
struct Read<'f, 'a> {
    files: Files<'f>,
    url: Option<&'a str>,
    method: Option<String>,
    target: Option<String>,
    custom: Vec<Custom>,
    cookies: Vec<String>,
    authorization: Option<String>,
    range: Option<String>,
    user_agent: String,
    referer: Option<String>,
    content: Content,
    queries: Vec<String>,
    is_compressed: bool,
    is_get: bool,
    is_head: bool,
    is_json: bool,
    is_http2: bool,
    reading: Reading,
    said: Vec<String>,
}

impl<'f, 'a> Read<'f, 'a> {
    fn new(files: Files<'f>) -> Self {
        Self {
            files,
            url: None,
            method: None,
            target: None,
            custom: Vec::new(),
            cookies: Vec::new(),
            authorization: None,
            range: None,
            user_agent: USER_AGENT.into(),
            referer: None,
            content: Content::Nothing,
            queries: Vec::new(),
            is_compressed: false,
            is_get: false,
            is_head: false,
            is_json: false,
            is_http2: false,
            reading: Reading::default(),
            said: Vec::new(),
        }
    }

    fn url(&mut self, url: &'a str) -> Result<(), String> {
        match self.url.replace(url) {
            None => Ok(()),
            Some(_) => {
                Err(format!("it has two URLs, the second is `{url}`: write one for each command"))
            }
        }
    }

    fn option(
        &mut self,
        meaning: Meaning,
        option: &str,
        value: impl FnOnce() -> Option<Word<'a>>,
    ) -> Result<(), String> {
        if !meaning.has_value() {
            return self.flag(meaning, option);
        }
        let value = value().ok_or_else(|| format!("{option} has no value"))?;
        match meaning {
            Meaning::Value => {}
            Meaning::Connection => {
                self.said.push(format!("{option}, which is about the connection"))
            }
            Meaning::Data | Meaning::DataRaw | Meaning::DataBinary => {
                let bytes = self.data(meaning, option, value)?;
                self.add(&bytes, true)?;
            }
            Meaning::Json => {
                self.is_json = true;
                let bytes = self.data(meaning, option, value)?;
                self.add(&bytes, false)?;
            }
            Meaning::DataUrlencode => {
                let encoded = form::urlencoded(value.text()?, self.files)?;
                self.add(encoded.as_bytes(), true)?;
            }
            _ => self.text(meaning, option, value.text()?)?,
        }
        Ok(())
    }

    fn flag(&mut self, meaning: Meaning, option: &str) -> Result<(), String> {
        match meaning {
            Meaning::Get => self.is_get = true,
            Meaning::Head => self.is_head = true,
            Meaning::Compressed => self.is_compressed = true,
            Meaning::Globoff => self.reading.is_literal = true,
            Meaning::PathAsIs => self.reading.keeps_dots = true,
            Meaning::Http2 => self.is_http2 = true,
            Meaning::Location => {
                self.said.push(format!("{option}: curl follows redirections, a load does not"));
            }
            Meaning::Refused(why) => return Err(format!("{option}: {why}")),
            _ => {}
        }
        Ok(())
    }

    /// Options whose value is a text.
    fn text(&mut self, meaning: Meaning, option: &str, value: &'a str) -> Result<(), String> {
        match meaning {
            Meaning::Method => self.method = Some(value.into()),
            Meaning::Header => self.custom.push(custom(value)?),
            Meaning::UserAgent => self.user_agent = value.into(),
            Meaning::Referer => {
                let url = value.split(';').next().unwrap_or_default();
                self.referer = Some(url.into()).filter(|url: &String| !url.is_empty());
            }
            Meaning::Cookie if value.contains('=') => self.cookies.push(value.into()),
            Meaning::Cookie if value.is_empty() => {}
            Meaning::Cookie => {
                return Err(format!(
                    "{option} {value} reads cookies from a file: write them as {option} 'NAME=VALUE'"
                ));
            }
            Meaning::User if value.contains(':') => {
                self.authorization = Some(basic(value.as_bytes()));
            }
            Meaning::User => {
                return Err(format!(
                    "{option} {value} asks for a password: write {value}:PASSWORD"
                ));
            }
            Meaning::Bearer => self.authorization = Some(format!("Bearer {value}")),
            Meaning::Url => self.url(value)?,
            Meaning::UrlQuery => self.queries.push(match value.strip_prefix('+') {
                Some(as_is) => as_is.into(),
                None => form::urlencoded(value, self.files)?,
            }),
            Meaning::Range => self.range = Some(format!("bytes={value}")),
            Meaning::Target => self.target = Some(value.into()),
            Meaning::Form => self.field(Written::Field(value.into()))?,
            Meaning::FormString => self.field(Written::Text(value.into()))?,
            Meaning::Upload => match self.content {
                Content::Nothing => self.content = Content::Upload(value.into()),
                _ => return Err(two_bodies()),
            },
            _ => return Err(unknown(option)),
        }
        Ok(())
    }

    /// The bytes of an option of data. Only a file loses its line ends, with `-d`.
    fn data(&mut self, meaning: Meaning, option: &str, value: Word<'_>) -> Result<Vec<u8>, String> {
        let [b'@', name @ ..] = value.0 else { return Ok(value.0.into()) };
        if meaning == Meaning::DataRaw {
            return Ok(value.0.into());
        }
        let name = Word(name).text()?;
        if name == "-" {
            return Err(format!(
                "{option} @- reads standard input: write the body into the command"
            ));
        }
        let mut bytes = (self.files)(name)?;
        if meaning == Meaning::Data {
            bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
        }
        Ok(bytes)
    }

    fn add(&mut self, bytes: &[u8], with_separator: bool) -> Result<(), String> {
        match &mut self.content {
            Content::Nothing => self.content = Content::Data(bytes.into()),
            Content::Data(before) => {
                before.extend_from_slice(if with_separator { b"&" } else { b"" });
                before.extend_from_slice(bytes);
            }
            _ => return Err(two_bodies()),
        }
        Ok(())
    }

    fn field(&mut self, field: Written) -> Result<(), String> {
        match &mut self.content {
            Content::Nothing => self.content = Content::Form(vec![field]),
            Content::Form(fields) => fields.push(field),
            _ => return Err(two_bodies()),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<FileRequest, String> {
        let mut place = url::read(self.url.ok_or("it has no URL")?, self.reading)?;
        if self.is_http2 && !place.server.is_https {
            return Err("--http2 with http:// asks to change the protocol: leave it out, and load with --h2c".into());
        }
        let (body, media_type) = self.body(&mut place)?;
        let Place { server, user, path, query } = place;
        let target = self.whole_target(path, query)?;
        let default = match (self.is_head, &body) {
            (true, _) => "HEAD",
            (false, Some(_)) => "POST",
            (false, None) => "GET",
        };
        let user = user.map(|user| basic(&user));
        let authorization = self.authorization.take().or(user);
        let length = body.as_ref().map_or(0, Vec::len);
        let headers = self.headers(authorization, media_type, &server.authority, length)?;
        Ok(FileRequest {
            method: self.method.take().unwrap_or_else(|| default.into()),
            server: Some(server),
            target,
            headers,
            body: body.unwrap_or_default(),
            weight: 1,
            status: Vec::new(),
            ..FileRequest::default()
        })
    }

    /// The body, with its media type. `-G` puts the data into the URL's query instead; `-T` adds the
    /// name of its file to a path that ends with `/`.
    fn body(&mut self, place: &mut Place) -> Result<(Option<Vec<u8>>, Option<String>), String> {
        Ok(match std::mem::take(&mut self.content) {
            Content::Data(bytes) if self.is_get => {
                let text = String::from_utf8(bytes)
                    .map_err(|_| "-G puts bytes that are not UTF-8 into the URL")?;
                self.queries.insert(0, text);
                (None, None)
            }
            Content::Data(_) | Content::Form(_) | Content::Upload(_) if self.is_head => {
                return Err("-I asks for no body, and the command has one: leave one out".into());
            }
            Content::Nothing => (None, None),
            Content::Data(bytes) => (Some(bytes), Some("application/x-www-form-urlencoded".into())),
            Content::Form(_) | Content::Upload(_) if self.is_get => return Err(two_bodies()),
            Content::Form(fields) => {
                let (bytes, media_type) = form::multipart(&fields, self.files)?;
                (Some(bytes), Some(self.with_boundary(media_type)))
            }
            Content::Upload(name) if ["-", "."].contains(&name.as_str()) => {
                return Err(format!("-T {name} reads standard input: name a file"));
            }
            Content::Upload(name) => {
                if place.path.ends_with('/') {
                    let base = name.rsplit('/').next().unwrap_or_default();
                    place.path.push_str(&percent_encode_bytes(base.as_bytes()));
                }
                self.method.get_or_insert_with(|| "PUT".into());
                (Some((self.files)(&name)?), None)
            }
        })
    }

    /// The target of the request: path and query, unless the command names another one.
    fn whole_target(&mut self, path: String, query: Option<String>) -> Result<String, String> {
        let queries: Vec<String> =
            query.into_iter().chain(std::mem::take(&mut self.queries)).collect();
        let target = match self.target.take() {
            Some(target) => target,
            None if queries.is_empty() => path,
            None => format!("{path}?{}", joined(&queries)),
        };
        match target.chars().find(|c| !c.is_ascii_graphic()) {
            None => Ok(target),
            Some(c) => Err(format!(
                "the URL holds {c:?}, which is no part of one (RFC 3986): write it percent-encoded, or use --data-urlencode"
            )),
        }
    }

    /// The media type of a form. One of `-H` gets the boundary, and is replaced by it.
    fn with_boundary(&mut self, media_type: String) -> String {
        let is_type = |custom: &Custom| match custom {
            Custom::Sent(name, value) if name.eq_ignore_ascii_case("content-type") => {
                Some(value.clone())
            }
            _ => None,
        };
        let Some(own) = self.custom.iter().find_map(is_type) else { return media_type };
        self.custom.retain(|custom| is_type(custom).is_none());
        let boundary = media_type.split_once("; ").map_or("", |(_, boundary)| boundary);
        format!("{own}; {boundary}")
    }

    /// The headers in curl's order. `-H` replaces and removes what curl would send by itself.
    fn headers(
        &mut self,
        authorization: Option<String>,
        media_type: Option<String>,
        authority: &str,
        length: usize,
    ) -> Result<Vec<(String, String)>, String> {
        let is_named = |custom: &[Custom], name: &str| {
            custom
                .iter()
                .any(|(Custom::Sent(own, _) | Custom::Removed(own))| own.eq_ignore_ascii_case(name))
        };
        let json = |other: Option<String>| {
            if self.is_json { Some("application/json".to_string()) } else { other }
        };
        let cookies = (!self.cookies.is_empty()).then(|| self.cookies.join(";"));
        let before = [
            ("Authorization", authorization),
            ("Range", self.range.take()),
            ("User-Agent", Some(self.user_agent.clone()).filter(|text| !text.is_empty())),
            ("Accept", json(Some("*/*".into()))),
            ("Accept-Encoding", self.is_compressed.then(|| ENCODINGS.into())),
            ("Referer", self.referer.take()),
            ("Cookie", cookies),
        ];
        let after = ("Content-Type", json(media_type));
        let own = |custom: &[Custom], (name, value): (&str, Option<String>)| {
            let value = value.filter(|_| !is_named(custom, name))?;
            Some((name.to_string(), value))
        };
        let mut headers: Vec<(String, String)> =
            before.into_iter().filter_map(|one| own(&self.custom, one)).collect();
        let after = own(&self.custom, after);
        for custom in std::mem::take(&mut self.custom) {
            let Custom::Sent(name, value) = custom else { continue };
            if self.is_kept(&name, &value, authority, length)? {
                headers.push((name, value));
            }
        }
        headers.extend(after);
        Ok(headers)
    }

    /// Whether a header of `-H` is written into the request. What belongs to the connection is
    /// Pippin's.
    fn is_kept(
        &mut self,
        name: &str,
        value: &str,
        authority: &str,
        length: usize,
    ) -> Result<bool, String> {
        let is = |other: &str| value.eq_ignore_ascii_case(other);
        match name.to_ascii_lowercase().as_str() {
            "host" => Ok(!is(authority)),
            "connection" if is("keep-alive") => Ok(false),
            "connection" if is("close") => {
                Err("-H 'Connection: close': leave it out, and load with --no-keep-alive".into())
            }
            "connection" | "upgrade" => Err(format!(
                "-H '{name}: {value}' changes the protocol: load a WebSocket by its ws:// URL"
            )),
            "content-length" if value == length.to_string() => Ok(false),
            "content-length" | "transfer-encoding" => {
                Err(format!("-H '{name}: {value}': how a body is sent is Pippin's; leave it out"))
            }
            "keep-alive" | "proxy-connection" | "expect" => {
                self.said.push(format!("the header {name}, which is about the connection"));
                Ok(false)
            }
            _ => Ok(true),
        }
    }
}

/// A header as `-H` has it.
fn custom(text: &str) -> Result<Custom, String> {
    if text.starts_with('@') {
        return Err(format!("-H {text} reads headers from a file: write them into the command"));
    }
    if let Some((name, value)) = text.split_once(':') {
        let value = value.trim_matches([' ', '\t']);
        return Ok(match value {
            "" => Custom::Removed(name.into()),
            _ => Custom::Sent(name.into(), value.into()),
        });
    }
    match text.strip_suffix(';') {
        Some(name) => Ok(Custom::Sent(name.into(), String::new())),
        None => Err(format!("-H `{text}` is not NAME: VALUE, and curl does not send it")),
    }
}

/// Credentials (RFC 7617).
fn basic(user: &[u8]) -> String {
    format!("Basic {}", STANDARD.encode(user))
}

/// The parts of a query, with `&` between those that are not empty.
fn joined(parts: &[String]) -> String {
    let (first, rest) = parts.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
    rest.iter().fold(first.to_string(), |mut all, part| {
        if !all.is_empty() && !part.is_empty() {
            all.push('&');
        }
        all + part
    })
}

fn two_bodies() -> String {
    "it has two kinds of body (-d, -F, -T, -G): curl sends one; keep one".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> Result<Vec<u8>, String> {
        if name == "f" { Ok(b"a\r\nb\n".to_vec()) } else { Err(format!("there is no file {name}")) }
    }

    fn imported(text: &str) -> Imported {
        parse(text, &mut file).unwrap()
    }

    fn one(text: &str) -> FileRequest {
        imported(text).requests.remove(0)
    }

    fn header(asked: &FileRequest, name: &str) -> Option<String> {
        asked.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }

    #[test]
    fn a_command_as_a_browser_copies_it() {
        let asked = one(
            "curl 'https://shop.example/api/cart?x=1' \\\n  -X 'PUT' -H 'Accept: text/html' \\\n  -H 'Host: shop.example' \\\n  --data-raw $'{\"name\":\"O\\'Neil\\u0021\"}' --compressed",
        );
        assert_eq!((asked.method.as_str(), asked.target.as_str()), ("PUT", "/api/cart?x=1"));
        assert_eq!(asked.body, br#"{"name":"O'Neil!"}"#);
        let names: Vec<&str> = asked.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["User-Agent", "Accept-Encoding", "Accept", "Content-Type"]);
    }

    #[test]
    fn what_has_no_effect_is_named() {
        let left = |text| imported(text).left_out.into_keys().collect::<Vec<_>>().join("; ");
        assert!(left("curl -fsSL a").contains("-L: curl follows redirections, a load does not"));
        assert!(left("curl a | jq .").contains("what follows `|`"));
        assert!(left("curl --cacert x a").contains("--cacert, which is about the connection"));
        assert!(left("curl -H 'Keep-Alive: 5' a").contains("the header Keep-Alive"));
        assert_eq!(left("curl -sS -o /dev/null --no-progress-meter -4 -g a"), "");
    }

    #[test]
    fn only_a_file_loses_its_line_ends() {
        assert_eq!(one("curl a -d $'x\\ny'").body, b"x\ny");
        assert_eq!(one("curl a -d @f").body, b"ab");
        assert_eq!(one("curl a --data-binary @f").body, b"a\r\nb\n");
        assert_eq!(one("curl a --data-raw @f").body, b"@f");
        assert_eq!(one(r"curl a -d $'\xe9'").body, [0xe9]);
        let put = one("curl -T f a/up/");
        assert_eq!((put.method.as_str(), put.target.as_str()), ("PUT", "/up/f"));
    }

    #[test]
    fn one_header_replaces_and_removes_another() {
        let asked =
            one("curl a -A x -u u:p --compressed -H 'user-agent: y' -H Authorization: -H 'x;'");
        assert_eq!(header(&asked, "user-agent").unwrap(), "y");
        assert_eq!((header(&asked, "User-Agent"), header(&asked, "Authorization")), (None, None));
        assert_eq!(header(&asked, "x").unwrap(), "");
        assert_eq!(header(&one("curl a -b a=1 -b b=2"), "Cookie").unwrap(), "a=1;b=2");
        let json = one("curl a --json '{}' -H 'Accept: x'");
        assert_eq!(header(&json, "Content-Type").unwrap(), "application/json");
        assert_eq!(header(&json, "Accept").unwrap(), "x");
    }

    #[test]
    fn what_cannot_be_taken_over_is_refused_with_its_line() {
        for (text, line, part) in [
            ("curl a\n\nwget b", 3, "begins with `curl`"),
            ("curl -T none a", 1, "there is no file none"),
            ("curl -d @- a", 1, "standard input"),
            ("curl --request=POST a", 1, "--request=POST is not known"),
            ("curl a b", 1, "two URLs"),
            ("curl", 1, "no URL"),
            ("# x\ncurl 'a", 2, "not closed"),
            ("curl -H", 1, "has no value"),
            ("curl -H x a", 1, "is not NAME: VALUE"),
            ("curl -b jar a", 1, "cookies from a file"),
            ("curl -u ana a", 1, "asks for a password"),
            ("curl -x proxy a", 1, "leave it out"),
            ("curl --digest -u a:b a", 1, "has no digest"),
            ("curl --ntlm -u a:b a", 1, "several requests"),
            ("curl -H 'Connection: close' a", 1, "--no-keep-alive"),
            ("curl -H 'Content-Length: 9' -d x a", 1, "is Pippin's"),
            ("curl -I -d x a", 1, "-I asks for no body"),
            ("curl -F a=b -d x a", 1, "two kinds of body"),
            ("curl --http2 a", 1, "--h2c"),
            ("curl -G --data-raw 'q=a b' a", 1, "percent-encoded"),
            (r"curl -H $'X: \xe9' a", 1, "not UTF-8"),
        ] {
            let (at, message) = parse(text, &mut file).unwrap_err();
            assert!(at == line && message.contains(part), "{text}: {at} {message}");
        }
    }
}
