//! curl commands, as browsers and API documents show them. An unknown option that changes the
//! request is refused, because the request would be a different one.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Imported, WrongLine, kept};
use crate::request::request_file::{FileRequest, split_url};
use crate::workload::percent_encode;

/// Options without a value that do not change the request, or that Pippin does not need.
const IGNORED: [&str; 16] = [
    "-s",
    "--silent",
    "-S",
    "--show-error",
    "-v",
    "--verbose",
    "-i",
    "--include",
    "-k",
    "--insecure",
    "-f",
    "--fail",
    "-#",
    "--progress-bar",
    "--http1.1",
    "-N",
];
/// Options with a value that have no effect on the request.
const IGNORED_WITH_VALUE: [&str; 8] =
    ["-o", "--output", "-w", "--write-out", "-m", "--max-time", "--connect-timeout", "--retry"];

/// All commands of a text: one on each line, or over several lines that end with `\`. Anything that
/// does not begin with `curl` is refused.
///
/// # Errors
/// At the first command that cannot be imported, with the line in which it begins.
pub fn parse(text: &str) -> Result<Imported, WrongLine> {
    let mut imported = Imported::default();
    for (line, words) in words(text)? {
        imported.requests.push(command(&words).map_err(|why| (line, why))?);
    }
    if imported.requests.is_empty() {
        return Err((1, "there is no curl command".into()));
    }
    Ok(imported)
}

fn command(words: &[String]) -> Result<FileRequest, String> {
    let Some(("curl", rest)) = words.split_first().map(|(first, rest)| (first.as_str(), rest))
    else {
        return Err("a command begins with `curl`".into());
    };
    let mut read = Read::default();
    let mut words = rest.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if IGNORED.contains(&word) {
            continue;
        }
        let Some((option, value)) = option(word) else {
            if read.url.replace(word).is_some() {
                return Err(format!(
                    "it has two URLs, the second is `{word}`: write one for each command"
                ));
            }
            continue;
        };
        if matches!(option, "-G" | "--get" | "-I" | "--head" | "--compressed" | "-L" | "--location")
        {
            read.flag(option)?;
            continue;
        }
        let value = match value {
            Some(value) => value,
            None => words.next().ok_or_else(|| format!("{option} has no value"))?,
        };
        if !IGNORED_WITH_VALUE.contains(&option) {
            read.option(option, value)?;
        }
    }
    read.finish()
}

/// The name of an option and, if they are written together, its value: `-XPOST`, `--request=POST`.
fn option(word: &str) -> Option<(&str, Option<&str>)> {
    if !word.starts_with('-') || word.len() < 2 {
        return None;
    }
    if word.starts_with("--") {
        return Some(
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value))),
        );
    }
    let end = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
    Some((&word[..end], (end < word.len()).then(|| &word[end..])))
}

/// A command as far as it was read.
#[derive(Default)]
struct Read<'a> {
    url: Option<&'a str>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    data: Vec<String>,
    /// Whether the data goes into the query.
    is_get: bool,
    is_head: bool,
    is_json: bool,
}

impl<'a> Read<'a> {
    fn flag(&mut self, option: &str) -> Result<(), String> {
        match option {
            "-G" | "--get" => self.is_get = true,
            "-I" | "--head" => self.is_head = true,
            "--compressed" => {
                self.headers.push(("Accept-Encoding".into(), "gzip, deflate, br, zstd".into()));
            }
            _ => {
                return Err(format!(
                    "{option} follows redirections, which a load does not: leave it out"
                ));
            }
        }
        Ok(())
    }

    fn option(&mut self, option: &str, value: &'a str) -> Result<(), String> {
        let from_file = |value: &str| {
            Err(format!(
                "{option} {value} reads a file: write the request as a JSON line with `body_file`"
            ))
        };
        match option {
            "-X" | "--request" => self.method = Some(value.into()),
            "-H" | "--header" => {
                let (name, value) = value
                    .split_once(':')
                    .ok_or_else(|| format!("{option} `{value}` is not NAME: VALUE"))?;
                self.headers.push((name.trim().into(), value.trim().into()));
            }
            "-A" | "--user-agent" => self.headers.push(("User-Agent".into(), value.into())),
            "-e" | "--referer" => self.headers.push(("Referer".into(), value.into())),
            "-b" | "--cookie" if value.contains('=') => {
                self.headers.push(("Cookie".into(), value.into()));
            }
            "-b" | "--cookie" => return from_file(value),
            "-u" | "--user" => {
                let credentials = format!("Basic {}", STANDARD.encode(value));
                self.headers.push(("Authorization".into(), credentials));
            }
            "--url" => self.url = Some(value),
            "--data-raw" => self.data.push(value.into()),
            "-d" | "--data" | "--data-ascii" | "--data-binary" | "--json"
                if value.starts_with('@') =>
            {
                return from_file(value);
            }
            "-d" | "--data" | "--data-ascii" => {
                self.data.push(value.replace(['\r', '\n'], ""));
            }
            "--data-binary" => self.data.push(value.into()),
            "--json" => {
                self.is_json = true;
                self.data.push(value.into());
            }
            "--data-urlencode" => self.data.push(match value.split_once('=') {
                Some(("", content)) => percent_encode(content),
                Some((name, content)) => format!("{name}={}", percent_encode(content)),
                None if value.contains('@') => return from_file(value),
                None => percent_encode(value),
            }),
            _ => {
                return Err(format!(
                    "curl's option {option} is not known here: leave it out, or write the request as a JSON line"
                ));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<FileRequest, String> {
        let url = self.url.ok_or("it has no URL")?;
        let with_scheme =
            if url.contains("://") { url.to_string() } else { format!("http://{url}") };
        let (server, mut target) = split_url(&with_scheme)?;
        let mut body = self.data.join(if self.is_json { "" } else { "&" });
        let has_body = !self.data.is_empty() && !self.is_get;
        if self.is_get && !body.is_empty() {
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str(&std::mem::take(&mut body));
        }
        let mut headers = self.headers;
        if has_body && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            let kind =
                if self.is_json { "application/json" } else { "application/x-www-form-urlencoded" };
            headers.push(("Content-Type".into(), kind.into()));
        }
        let default = match (self.is_head, has_body) {
            (true, _) => "HEAD",
            (false, true) => "POST",
            (false, false) => "GET",
        };
        Ok(FileRequest {
            method: self.method.unwrap_or_else(|| default.into()),
            server,
            target,
            headers: kept(headers.into_iter()),
            body: body.into_bytes(),
            weight: 1,
            status: Vec::new(),
        })
    }
}

/// The words of each command of a text, and the line in which it begins. Quoting works as in POSIX
/// shells, plus `$'...'` as in bash, which browsers use. Lines that begin with `#` are comments.
///
/// # Errors
/// If a quote is not closed.
pub fn words(text: &str) -> Result<Vec<(usize, Vec<String>)>, WrongLine> {
    let mut commands = Vec::new();
    let mut present: Vec<String> = Vec::new();
    let (mut line, mut began) = (1, 1);
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if present.is_empty() && word.is_none() {
            began = line;
        }
        match c {
            '\n' | ';' => {
                present.extend(word.take());
                if !present.is_empty() {
                    commands.push((began, std::mem::take(&mut present)));
                }
            }
            '#' if word.is_none() && present.is_empty() => {
                while chars.peek().is_some_and(|next| *next != '\n') {
                    chars.next();
                }
            }
            ' ' | '\t' | '\r' => present.extend(word.take()),
            '\\' => match chars.next() {
                Some('\n') => line += 1,
                Some('\r') if chars.peek() == Some(&'\n') => {
                    chars.next();
                    line += 1;
                }
                Some(next) => word.get_or_insert_default().push(next),
                None => word.get_or_insert_default().push('\\'),
            },
            '\'' | '"' => quoted(&mut chars, c, false, word.get_or_insert_default(), &mut line)
                .ok_or_else(|| (began, format!("a quote {c} is not closed")))?,
            '$' if chars.peek() == Some(&'\'') => {
                chars.next();
                quoted(&mut chars, '\'', true, word.get_or_insert_default(), &mut line)
                    .ok_or_else(|| (began, "a quote $' is not closed".to_string()))?;
            }
            _ => word.get_or_insert_default().push(c),
        }
        if c == '\n' {
            line += 1;
        }
    }
    present.extend(word);
    if !present.is_empty() {
        commands.push((began, present));
    }
    Ok(commands)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Reads to the end of a quote; `None` if there is none.
fn quoted(
    chars: &mut Chars<'_>,
    end: char,
    has_escapes: bool,
    word: &mut String,
    line: &mut usize,
) -> Option<()> {
    loop {
        let c = chars.next()?;
        *line += usize::from(c == '\n');
        match c {
            c if c == end => return Some(()),
            '\\' if has_escapes => word.push(escape(chars)?),
            '\\' if end == '"' => match chars.next()? {
                next @ ('"' | '\\' | '$' | '`') => word.push(next),
                '\n' => *line += 1,
                next => word.extend(['\\', next]),
            },
            c => word.push(c),
        }
    }
}

/// The character of an escape in `$'...'`. Escapes of bytes can only be ASCII.
fn escape(chars: &mut Chars<'_>) -> Option<char> {
    let digits = |chars: &mut Chars<'_>, most: usize| {
        let mut value = 0;
        for _ in 0..most {
            let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) else { break };
            value = value * 16 + digit;
            chars.next();
        }
        char::from_u32(value)
    };
    Some(match chars.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'x' => digits(chars, 2)?,
        'u' => digits(chars, 4)?,
        'U' => digits(chars, 8)?,
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> FileRequest {
        parse(text).unwrap().requests.remove(0)
    }

    #[test]
    fn a_command_as_a_browser_copies_it() {
        let asked = one(
            "curl 'https://shop.example/api/cart?x=1' \\\n  -X 'PUT' -H 'Accept: */*' \\\n  -H 'Host: shop.example' \\\n  --data-raw $'{\"name\":\"O\\'Neil\\u0021\"}' --compressed",
        );
        assert_eq!((asked.method.as_str(), asked.target.as_str()), ("PUT", "/api/cart?x=1"));
        assert_eq!(asked.body, br#"{"name":"O'Neil!"}"#);
        let names: Vec<&str> = asked.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Accept", "Accept-Encoding", "Content-Type"]);
    }

    #[test]
    fn data_makes_a_post_or_a_query() {
        let post = one("curl localhost:8080/a -d x=1 -d 'y=2'");
        assert_eq!((post.method.as_str(), post.body.as_slice()), ("POST", &b"x=1&y=2"[..]));
        assert_eq!(post.headers[0].1, "application/x-www-form-urlencoded");
        let get = one("curl -G localhost/a --data-urlencode 'q=a b'");
        assert_eq!((get.method.as_str(), get.target.as_str()), ("GET", "/a?q=a%20b"));
        assert_eq!(one("curl -XDELETE --url=http://a/b").method, "DELETE");
        assert_eq!(one("curl -u ana:x a").headers[0].1, "Basic YW5hOng=");
    }

    #[test]
    fn what_cannot_be_taken_over_is_refused_with_its_line() {
        for (text, line, part) in [
            ("curl a\n\nwget b", 3, "begins with `curl`"),
            ("curl -T file a", 1, "not known here"),
            ("curl -d @file a", 1, "`body_file`"),
            ("curl -L a", 1, "follows redirections"),
            ("curl a b", 1, "two URLs"),
            ("curl", 1, "no URL"),
            ("# x\ncurl 'a", 2, "not closed"),
            ("curl -H", 1, "has no value"),
        ] {
            let (at, message) = parse(text).unwrap_err();
            assert!(at == line && message.contains(part), "{text}: {at} {message}");
        }
    }
}
