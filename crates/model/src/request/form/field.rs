//! The value of `-F`, read as curl reads it (`formparse` in its tool_formparse.c): a text or a file,
//! then pieces after semicolons. What curl skips with a warning is refused here, because a load that
//! sends something else than its user wrote is worse than none.

/// The value of `-F NAME=VALUE`.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// What `value` is.
    pub kind: Kind,
    /// The text, or the path of the file.
    pub value: String,
    /// The value of `filename=`.
    pub file_name: Option<String>,
    /// The value of `type=`, with its parameters.
    pub media_type: Option<String>,
}

/// What the value of a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The content itself.
    Text,
    /// `@FILE`: a file that is sent as one.
    Upload,
    /// `<FILE`: a file whose content is sent as a text.
    Content,
}

impl Field {
    /// Reads what follows `NAME=`.
    ///
    /// # Errors
    /// If it holds something that curl would skip or send in a way that Pippin does not know; with
    /// what to write instead.
    pub fn read(text: &str) -> Result<Self, String> {
        let (kind, rest) = match text.as_bytes().first() {
            Some(b'@') => (Kind::Upload, &text[1..]),
            Some(b'<') => (Kind::Content, &text[1..]),
            Some(b'(') => {
                return Err("parts within parts are not sent; put a text that begins with ( in double quotes".into());
            }
            _ => (Kind::Text, text),
        };
        let (value, rest) = word(rest)?;
        one_file(kind, &value)?;
        let mut field = Self { kind, value: value.text, file_name: None, media_type: None };
        field.pieces(rest)?;
        field.media_type = field.media_type.map(|kind| kind.trim_ascii_end().into());
        Ok(field)
    }

    /// Reads the pieces: nothing, or each with the semicolon before it.
    fn pieces(&mut self, mut rest: &str) -> Result<(), String> {
        // Pieces that follow a type belong to it, until one has another name.
        let mut is_in_type = false;
        while let Some(piece) = rest.strip_prefix(';') {
            let begin = piece.trim_ascii_start();
            if let Some(value) = after(begin, "type=").filter(|_| !is_in_type) {
                let (kind, after) = until_semicolon(value);
                one_file(self.kind, &Word { text: kind.into(), is_bare: true })?;
                self.media_type = Some(media_type(kind)?);
                (is_in_type, rest) = (true, after);
            } else if let Some(value) = after(begin, "filename=") {
                let (name, after) = word(value)?;
                one_file(self.kind, &name)?;
                self.file_name = Some(name.text);
                (is_in_type, rest) = (false, after);
            } else if let Some(key) =
                ["headers=", "encoder="].iter().find(|key| after(begin, key).is_some())
            {
                return Err(format!("`{key}` of a part is not sent; leave it out"));
            } else {
                let (part, after) = until_semicolon(piece);
                match &mut self.media_type {
                    Some(kind) if is_in_type => *kind = format!("{kind};{part}"),
                    _ if part.trim_ascii().is_empty() => {}
                    _ => return Err(unknown(part.trim_ascii())),
                }
                rest = after;
            }
        }
        Ok(())
    }
}

fn unknown(piece: &str) -> String {
    format!(
        "`{piece}` is neither type= nor filename=, and curl would not send it; put a value that holds a semicolon in double quotes: NAME=\"A;B\""
    )
}

/// In curl a comma outside quotes begins a second file.
fn one_file(kind: Kind, word: &Word) -> Result<(), String> {
    if kind == Kind::Upload && word.is_bare && word.text.contains(',') {
        return Err("several files in one part are not sent; put a name with a comma in double quotes, or give -F for each file".into());
    }
    Ok(())
}

fn media_type(text: &str) -> Result<String, String> {
    let text = text.trim_ascii_start();
    match text.split_once('/') {
        Some((one, other)) if !one.is_empty() && !other.trim_ascii().is_empty() => Ok(text.into()),
        _ => Err(format!("type={text} is not a media type, as text/html")),
    }
}

/// What follows this name, in capitals or not.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (begin, rest) = text.split_at_checked(name.len())?;
    begin.eq_ignore_ascii_case(name).then_some(rest)
}

/// The text to the next semicolon, and the rest from there.
fn until_semicolon(text: &str) -> (&str, &str) {
    text.split_at(text.find(';').unwrap_or(text.len()))
}

/// A value that may be in quotes.
struct Word {
    text: String,
    /// Whether it was not in quotes.
    is_bare: bool,
}

/// The value at the beginning, and the rest from its semicolon. Within double quotes, `\\` and `\"`
/// stand for `\` and `"`. A quote that does not end is a character like others, as in curl.
fn word(text: &str) -> Result<(Word, &str), String> {
    let text = text.trim_ascii_start();
    let Some((quoted, rest)) = text.strip_prefix('"').and_then(in_quotes) else {
        let (bare, rest) = until_semicolon(text);
        return Ok((Word { text: bare.trim_ascii_end().into(), is_bare: true }, rest));
    };
    let (between, rest) = until_semicolon(rest);
    if between.trim_ascii().is_empty() {
        Ok((Word { text: quoted, is_bare: false }, rest))
    } else {
        Err(format!("`{between}` follows a quoted value, and curl would not send it"))
    }
}

/// The text to the closing quote without escapes, and the rest behind it; `None` if there is none.
fn in_quotes(text: &str) -> Option<(String, &str)> {
    let mut plain = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((plain, &text[at + 1..])),
            '\\' => {
                let escaped = characters.next_if(|(_, next)| matches!(next, '\\' | '"'));
                plain.push(escaped.map_or(character, |(_, next)| next));
            }
            _ => plain.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Option<String>, Option<String>) {
        let Field { value, file_name, media_type, .. } = Field::read(text).unwrap();
        (value, file_name, media_type)
    }

    /// Each as curl 7.88.1 sends it.
    #[test]
    fn values_and_their_pieces_are_read_as_in_curl() {
        let cases = [
            ("a;type=text/html;charset=utf-8", "a", None, Some("text/html;charset=utf-8")),
            ("a;type=text/x ; b=c ;filename=zz", "a", Some("zz"), Some("text/x ; b=c")),
            ("a;filename=zz;TYPE=text/x", "a", Some("zz"), Some("text/x")),
            ("a;type=text/x;type=text/y", "a", None, Some("text/x;type=text/y")),
            ("\"a;b\"", "a;b", None, None),
            ("\"a;b\" ;type=text/x", "a;b", None, Some("text/x")),
            (r#""say \"hi\" a\n\\""#, r#"say "hi" a\n\"#, None, None),
            ("a;filename=\"x;y.txt\"", "a", Some("x;y.txt"), None),
            ("a;filename= x y ", "a", Some("x y"), None),
            (" a ; type= text/x", "a", None, Some("text/x")),
            (r#"{"a":1};type=application/json"#, r#"{"a":1}"#, None, Some("application/json")),
            ("\"a", "\"a", None, None),
            ("a,b=c&d", "a,b=c&d", None, None),
            ("a;", "a", None, None),
            ("", "", None, None),
        ];
        for (text, value, file_name, media_type) in cases {
            let (found, name, kind) = read(text);
            assert_eq!(
                (found.as_str(), name.as_deref(), kind.as_deref()),
                (value, file_name, media_type),
                "{text}"
            );
        }
        assert_eq!(Field::read("@\"a;b,c\"").unwrap().kind, Kind::Upload);
        assert_eq!(
            Field::read("< a").unwrap(),
            Field { kind: Kind::Content, value: "a".into(), file_name: None, media_type: None }
        );
    }

    #[test]
    fn what_would_be_sent_otherwise_is_refused_with_the_fix() {
        for (text, part) in [
            ("a;b", "in double quotes"),
            ("a;b;type=text/x", "`b` is neither type= nor filename="),
            ("a;filename=x;b", "`b` is neither"),
            ("\"a\"b", "`b` follows a quoted value"),
            ("a;type=html", "type=html is not a media type"),
            ("a;type=", "is not a media type"),
            ("a;headers=X: 1", "`headers=` of a part is not sent"),
            ("a;type=text/x;encoder=base64", "`encoder=` of a part is not sent"),
            ("@a,b", "give -F for each file"),
            ("@a;type=text/x,b", "give -F for each file"),
            ("@a;filename=x,b", "give -F for each file"),
            ("(;type=multipart/mixed", "begins with ("),
        ] {
            let error = Field::read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
