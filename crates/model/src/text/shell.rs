//! The words of commands as bash(1) reads them: quotes, escapes, comments, line ends, operators.
//! What a shell would replace (variables, commands, braces, `~`) is refused by name, because its
//! value is not in the text.
use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A command of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The line in which it begins, from 1.
    pub line: usize,
    /// Its words, without quotes. Escapes in `$'...'` can make any bytes.
    pub words: Vec<Vec<u8>>,
    /// What the shell does with its output, and is no part of it: `|`, `>`.
    pub left_out: Vec<&'static str>,
    /// The first thing within double quotes that a shell replaces: `$TOKEN`.
    pub replaced: Option<String>,
    /// Characters outside of quotes by which a shell looks for files (`*`, `?`, `[`), each with the
    /// place of its word. Brackets around an address of IPv6 are not among them.
    pub globs: Vec<(usize, char)>,
    /// What ends it: `&&`, `;`, a line end. `None` at the end of the text.
    pub ends_with: Option<&'static str>,
}

/// Why a text is no list of commands whose words are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A shell replaces this by something else: `$TOKEN`.
    Replaced(String),
    /// This has a meaning in a shell: `&`.
    Operator(&'static str),
    /// Another reason, as a sentence.
    Other(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced(what) => write!(
                f,
                "a shell replaces `{what}` by something else: write what it stands for, or put it in single quotes"
            ),
            Self::Operator("&") => {
                f.write_str("`&` ends a command in a shell: put the URL in quotes")
            }
            Self::Operator("`") => {
                f.write_str("a shell runs what stands in backticks: write what it prints")
            }
            Self::Operator(what @ ("<<" | "<(")) => {
                write!(f, "`{what}` brings text from elsewhere: write it to a file")
            }
            Self::Operator(what) => {
                write!(f, "`{what}` has a meaning in a shell: put it in quotes")
            }
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl From<&str> for Fault {
    fn from(why: &str) -> Self {
        Self::Other(why.into())
    }
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

/// The commands of a text: one on each line, or over several lines that end with `\`. A prompt
/// (`$ `) before a command is no part of it.
///
/// # Errors
/// At what cannot be read without running a shell, with the line in which that command begins.
pub fn commands(text: &str) -> Result<Vec<Command>, (usize, Fault)> {
    let mut reader = Reader {
        chars: text.chars().peekable(),
        line: 1,
        command: Command::default(),
        word: None,
        fate: Fate::Kept,
    };
    let mut commands = Vec::new();
    loop {
        let is_last = !reader.command()?;
        let command = std::mem::take(&mut reader.command);
        if !command.words.is_empty() {
            commands.push(command);
        }
        if is_last {
            return Ok(commands);
        }
    }
}

/// What happens to the next words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// They belong to the command.
    Kept,
    /// The next one is the file of a redirection.
    NextDropped,
    /// They follow a pipe.
    Dropped,
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    line: usize,
    command: Command,
    word: Option<Vec<u8>>,
    fate: Fate,
}

impl Reader<'_> {
    /// Reads to the end of a command. Returns false at the end of the text.
    fn command(&mut self) -> Result<bool, (usize, Fault)> {
        self.fate = Fate::Kept;
        loop {
            if self.command.words.is_empty() && self.word.is_none() {
                self.command.line = self.line;
            }
            let Some(c) = self.next() else {
                self.end_word();
                return Ok(false);
            };
            match c {
                '\n' => return Ok(self.end("a line end")),
                ';' => return Ok(self.end(";")),
                ' ' | '\t' | '\r' => self.end_word(),
                '&' if self.chars.next_if_eq(&'&').is_some() => return Ok(self.end("&&")),
                _ => self.part(c).map_err(|why| (self.command.line, why))?,
            }
        }
    }

    /// The command ends, and the text goes on.
    fn end(&mut self, with: &'static str) -> bool {
        self.end_word();
        self.command.ends_with = Some(with);
        true
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// A character outside of quotes that ends no command.
    fn part(&mut self, c: char) -> Result<(), Fault> {
        let begins = self.word.is_none();
        match c {
            '#' if begins => {
                while self.chars.peek().is_some_and(|next| *next != '\n') {
                    self.next();
                }
            }
            '|' => self.pipe(),
            '&' if self.chars.peek() == Some(&'>') => {
                self.next();
                self.redirection('>')?;
            }
            '>' | '<' => self.redirection(c)?,
            _ if self.fate == Fate::Dropped && !matches!(c, '\'' | '"' | '\\') => self.push(c),
            '\\' => match self.next() {
                Some('\n') => {}
                Some('\r') if self.chars.peek() == Some(&'\n') => {
                    self.next();
                }
                other => self.push(other.unwrap_or('\\')),
            },
            '\'' => self.in_single_quotes()?,
            '"' => self.in_double_quotes()?,
            '$' => self.dollar()?,
            '~' if begins => return Err(Fault::Replaced("~".into())),
            '{' if self.is_list() => return Err(Fault::Replaced("{a,b}".into())),
            '^' if self.chars.peek().is_none_or(|next| matches!(next, '"' | '\n' | '\r')) => {
                return Err("`^` ends lines and escapes in Windows' cmd.exe: copy the command in the form for bash".into());
            }
            '&' => return Err(Fault::Operator("&")),
            '`' => return Err(Fault::Operator("`")),
            '(' => return Err(Fault::Operator("(")),
            ')' => return Err(Fault::Operator(")")),
            '*' | '?' => self.glob(c),
            '[' if !self.is_address() => self.glob(c),
            _ => self.push(c),
        }
        Ok(())
    }

    fn glob(&mut self, c: char) {
        self.command.globs.push((self.command.words.len(), c));
        self.push(c);
    }

    /// Whether an address of IPv6 follows, with its bracket: `::1]`.
    fn is_address(&self) -> bool {
        let inner: String = self.chars.clone().take_while(|c| *c != ']').collect();
        inner.contains(':') && inner.chars().all(|c| c.is_ascii_hexdigit() || ":.".contains(c))
    }

    fn push(&mut self, c: char) {
        let mut bytes = [0; 4];
        self.word.get_or_insert_default().extend(c.encode_utf8(&mut bytes).as_bytes());
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.fate {
            Fate::Kept => self.command.words.push(word),
            Fate::NextDropped => self.fate = Fate::Kept,
            Fate::Dropped => {}
        }
    }

    /// `|` and `||`: the rest of the command is another program's.
    fn pipe(&mut self) {
        self.end_word();
        self.chars.next_if_eq(&'|');
        self.left_out("|");
        self.fate = Fate::Dropped;
    }

    fn left_out(&mut self, what: &'static str) {
        if self.fate != Fate::Dropped && !self.command.left_out.contains(&what) {
            self.command.left_out.push(what);
        }
    }

    /// `>`, `2>>`, `&>`, `2>&1`, `<`: the next word is a file, or another output.
    fn redirection(&mut self, c: char) -> Result<(), Fault> {
        let is_number = self.word.as_ref().is_some_and(|word| word.iter().all(u8::is_ascii_digit));
        if is_number {
            self.word = None;
        }
        self.end_word();
        if c == '<' && self.chars.peek().is_some_and(|next| matches!(next, '<' | '(')) {
            let is_text = self.chars.peek() == Some(&'<');
            return Err(Fault::Operator(if is_text { "<<" } else { "<(" }));
        }
        while self.chars.next_if(|next| matches!(next, '>' | '&' | '|')).is_some() {}
        self.left_out(if c == '<' { "<" } else { ">" });
        if self.fate == Fate::Kept {
            self.fate = Fate::NextDropped;
        }
        Ok(())
    }

    /// After `$`: a quote with escapes, or what a shell replaces.
    fn dollar(&mut self) -> Result<(), Fault> {
        match self.chars.peek() {
            Some('\'') => {
                self.next();
                return self.with_escapes();
            }
            Some('"') => {
                self.next();
                return self.in_double_quotes();
            }
            // A prompt.
            Some(' ') if self.word.is_none() && self.command.words.is_empty() => return Ok(()),
            _ => {}
        }
        if let Some(what) = self.variable() {
            return Err(Fault::Replaced(what));
        }
        self.push('$');
        Ok(())
    }

    /// What begins with `$`, which was read, if a shell replaces it.
    fn variable(&self) -> Option<String> {
        let next = *self.chars.clone().peek()?;
        let rest = self.chars.clone();
        let name = |rest: Peekable<Chars<'_>>| -> String {
            rest.take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
        };
        match next {
            '(' => Some("$(...)".into()),
            '{' => {
                let mut rest = rest;
                rest.next();
                Some(format!("${{{}}}", name(rest)))
            }
            _ if next.is_ascii_alphanumeric() || next == '_' => Some(format!("${}", name(rest))),
            _ if "?$!#@*-".contains(next) => Some(format!("${next}")),
            _ => None,
        }
    }

    /// Whether a list of braces follows: `{a,b}`, `{1..3}`.
    fn is_list(&self) -> bool {
        let inner: String =
            self.chars.clone().take_while(|c| !c.is_whitespace() && !"'\"".contains(*c)).collect();
        inner.split_once('}').is_some_and(|(inner, _)| inner.contains(',') || inner.contains(".."))
    }

    fn in_single_quotes(&mut self) -> Result<(), Fault> {
        self.word.get_or_insert_default();
        loop {
            match self.next().ok_or("a quote is not closed: '")? {
                '\'' => return Ok(()),
                c => self.push(c),
            }
        }
    }

    fn in_double_quotes(&mut self) -> Result<(), Fault> {
        self.word.get_or_insert_default();
        loop {
            match self.next().ok_or("a quote is not closed: \"")? {
                '"' => return Ok(()),
                '\\' => match self.next().ok_or("a quote is not closed: \"")? {
                    next @ ('"' | '\\' | '$' | '`') => self.push(next),
                    '\n' => {}
                    next => {
                        self.push('\\');
                        self.push(next);
                    }
                },
                '`' => self.in_quotes(Some("`...`".into()), '`'),
                '$' => self.in_quotes(self.variable(), '$'),
                c => self.push(c),
            }
        }
    }

    /// A character within double quotes that begins what a shell replaces, if it does.
    fn in_quotes(&mut self, replaced: Option<String>, c: char) {
        if self.fate != Fate::Dropped && self.command.replaced.is_none() {
            self.command.replaced = replaced;
        }
        self.push(c);
    }

    /// To the end of `$'...'`.
    fn with_escapes(&mut self) -> Result<(), Fault> {
        self.word.get_or_insert_default();
        loop {
            match self.next().ok_or("a quote is not closed: $'")? {
                '\'' => return Ok(()),
                '\\' => self.escape()?,
                c => self.push(c),
            }
        }
    }

    /// An escape of `$'...'` (bash(1), QUOTING), after its backslash.
    fn escape(&mut self) -> Result<(), Fault> {
        let c = self.next().ok_or("a quote is not closed: $'")?;
        let byte = match c {
            'a' => 0x07,
            'b' => 0x08,
            'e' | 'E' => 0x1b,
            'f' => 0x0c,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 0x0b,
            '\\' | '\'' | '"' | '?' => c as u8,
            'x' => match self.digits(16, 2) {
                Some(value) => value as u8,
                None => return self.literally('x'),
            },
            '0'..='7' => {
                let first = c.to_digit(8).unwrap_or_default();
                let more = |reader: &mut Self, value: u32| {
                    let digit = reader.chars.peek().and_then(|c| c.to_digit(8))?;
                    reader.next();
                    Some(value * 8 + digit)
                };
                let second = more(self, first);
                let value = second.map_or(first, |two| more(self, two).unwrap_or(two));
                value as u8
            }
            'u' | 'U' => return self.character(c),
            'c' => {
                return Err(
                    "the escape \\c of `$'...'` is not read: write \\x and two digits".into()
                );
            }
            _ => return self.literally(c),
        };
        // A shell's words end at a zero.
        if byte == 0 {
            return Err("a word of a command cannot hold the byte 0".into());
        }
        self.word.get_or_insert_default().push(byte);
        Ok(())
    }

    fn literally(&mut self, c: char) -> Result<(), Fault> {
        self.push('\\');
        self.push(c);
        Ok(())
    }

    /// `\u` and `\U`. Two halves of a character above U+FFFF, as browsers write it, are one.
    fn character(&mut self, c: char) -> Result<(), Fault> {
        let Some(value) = self.digits(16, if c == 'u' { 4 } else { 8 }) else {
            return self.literally(c);
        };
        let wrong = || format!("\\{c}{value:x} is no character");
        let value = if (0xd800..0xdc00).contains(&value) {
            let has_half = self.next() == Some('\\') && self.next() == Some('u');
            let low = self.digits(16, 4).filter(|low| has_half && (0xdc00..0xe000).contains(low));
            0x10000 + ((value - 0xd800) << 10) + (low.ok_or_else(wrong)? - 0xdc00)
        } else {
            value
        };
        self.push(char::from_u32(value).filter(|c| *c != '\0').ok_or_else(wrong)?);
        Ok(())
    }

    /// Reads at most so many digits. Returns their value; `None` if there is no digit.
    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let mut value = None;
        for _ in 0..most {
            let Some(digit) = self.chars.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = Some(value.unwrap_or(0) * radix + digit);
            self.next();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let [command] = &commands(text).unwrap()[..] else { panic!("{text}") };
        command.words.iter().map(|word| String::from_utf8(word.clone()).unwrap()).collect()
    }

    #[test]
    fn words_are_those_of_bash() {
        let cases: [(&str, &[&str]); 9] = [
            ("a 'b c' \"d \\\"e\\\"\" f\\ g", &["a", "b c", "d \"e\"", "f g"]),
            ("a''b \"\" ''", &["ab", "", ""]),
            ("a \\\n  b # c d\n", &["a", "b"]),
            ("a#b 'x'#y", &["a#b", "x#y"]),
            (r"a $'\n\t\\\'\101\x41\u0041\e'", &["a", "\n\t\\'AAA\u{1b}"]),
            (r"a $'\ud83d\ude00' \$x '$x' $", &["a", "😀", "$x", "$x", "$"]),
            ("$ a b", &["a", "b"]),
            ("a {b} [1] x=~", &["a", "{b}", "[1]", "x=~"]),
            ("a \"b\\c\" \"$\"", &["a", "b\\c", "$"]),
        ];
        for (text, wanted) in cases {
            assert_eq!(words(text), wanted, "{text}");
        }
        let bytes = commands(r"a $'\xe9\377'").unwrap().remove(0).words.remove(1);
        assert_eq!(bytes, [0xe9, 0xff]);
    }

    #[test]
    fn what_follows_a_pipe_or_goes_to_a_file_is_no_part() {
        let cases: [(&str, &[&str], &[&str]); 6] = [
            ("a b | jq '.x | .y' $z", &["a", "b"], &["|"]),
            ("a > f b", &["a", "b"], &[">"]),
            ("a 2>&1 >>f b", &["a", "b"], &[">"]),
            ("a b2 2>/dev/null", &["a", "b2"], &[">"]),
            ("a &>f", &["a"], &[">"]),
            ("a < f | b > c", &["a"], &["<", "|"]),
        ];
        for (text, wanted, left_out) in cases {
            assert_eq!(words(text), wanted, "{text}");
            assert_eq!(commands(text).unwrap()[0].left_out, left_out, "{text}");
        }
    }

    #[test]
    fn commands_end_at_lines_and_semicolons() {
        let lines = |text| commands(text).unwrap().iter().map(|it| it.line).collect::<Vec<_>>();
        assert_eq!(lines("a\n\nb \\\n c\n# x\nd; e && f"), [1, 3, 6, 6, 6]);
        assert_eq!(lines(" \n\n"), [0; 0]);
    }

    #[test]
    fn what_a_shell_replaces_is_refused_by_name() {
        for (text, line, part) in [
            ("a $TOKEN", 1, "`$TOKEN`"),
            ("a\nb $y", 2, "`$y`"),
            ("a ${x}", 1, "`${x}`"),
            ("a $(date)", 1, "`$(...)`"),
            ("a `date`", 1, "backticks"),
            ("a ~/x", 1, "`~`"),
            ("a x{1,2}", 1, "`{a,b}`"),
            ("a h/?x=1&y=2", 1, "put the URL in quotes"),
            ("a ^\n b", 1, "cmd.exe"),
            ("a ^\"b^\"", 1, "cmd.exe"),
            ("a <<E", 1, "`<<`"),
            ("a (b)", 1, "`(`"),
            ("a 'b", 1, "not closed"),
            ("a \"b", 1, "not closed"),
            ("a $'b", 1, "not closed"),
            ("a $'\\ud83d'", 1, "no character"),
            ("a $'\\0'", 1, "byte 0"),
        ] {
            let (at, why) = commands(text).unwrap_err();
            assert!(at == line && why.to_string().contains(part), "{text}: {at} {why}");
        }
    }

    #[test]
    fn what_a_shell_replaces_within_quotes_is_named_and_kept() {
        for (text, word, replaced) in [
            ("a \"x $y z\"", "x $y z", Some("$y")),
            ("a \"`date`\"", "`date`", Some("`...`")),
            ("a \"\\$y $\"", "$y $", None),
        ] {
            let [command] = &commands(text).unwrap()[..] else { panic!("{text}") };
            assert_eq!(command.words[1], word.as_bytes());
            assert_eq!(command.replaced.as_deref(), replaced, "{text}");
        }
    }

    #[test]
    fn patterns_of_files_and_ends_are_named() {
        let read = commands("a *.js '*' && b [::1]:80 x[1] ; c").unwrap();
        let globs: Vec<&[(usize, char)]> = read.iter().map(|it| &it.globs[..]).collect();
        assert_eq!(globs, [&[(1, '*')][..], &[(2, '[')], &[]]);
        let ends: Vec<Option<&str>> = read.iter().map(|it| it.ends_with).collect();
        assert_eq!(ends, [Some("&&"), Some(";"), None]);
    }
}
