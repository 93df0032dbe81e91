//! A command of the user's own, as people type it into a shell: words, variables before them
//! (`NODE_ENV=production node server.js`) and a folder (`cd api && node server.js`). No shell runs
//! it. What only a shell can do is refused, with the same command for `sh -c` as the fix.
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::target::manifest::Command;
use crate::text::shell::{self, Fault};

/// A program with its arguments, its variables and its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnCommand {
    /// Program and arguments, without quotes.
    pub words: Command,
    /// Variables that stand before the program.
    pub env: BTreeMap<String, String>,
    /// The folder that `cd` names, relative to the one in which the command would begin.
    pub folder: Option<PathBuf>,
}

/// The only program of a text.
///
/// # Errors
/// If there is none or several, a quote is not closed, or only a shell could run it.
pub fn read(text: &str) -> Result<OwnCommand, String> {
    match <[OwnCommand; 1]>::try_from(several(text)?) {
        Ok([one]) => Ok(one),
        Err(all) if all.is_empty() => Err(format!("`{text}` names no program")),
        Err(_) => Err(format!("`{text}` starts several programs with `&&`; {}", with_shell(text))),
    }
}

/// The programs of a text that run one after the other, as long as each succeeds: `a && b`.
///
/// # Errors
/// As [`read`], but there may be any number.
pub fn several(text: &str) -> Result<Vec<OwnCommand>, String> {
    let read = shell::commands(text).map_err(|(_, fault)| refused(text, &fault))?;
    let mut begin = OwnCommand::default();
    let mut programs = Vec::new();
    for (at, command) in read.iter().enumerate() {
        let separator = command.ends_with.filter(|_| at + 1 < read.len());
        check(text, command, separator)?;
        let words = command.words.iter().map(|word| String::from_utf8(word.clone()));
        let words: Vec<String> = words
            .collect::<Result<_, _>>()
            .map_err(|_| format!("`{text}`: a word is not UTF-8, which no program name is"))?;
        match &words[..] {
            [cd, folder] if cd == "cd" => {
                begin.folder = Some(begin.folder.unwrap_or_default().join(folder));
            }
            [export, rest @ ..] if export == "export" => {
                for word in rest {
                    let (name, value) = assignment(word).ok_or_else(|| only_shell(text, word))?;
                    begin.env.insert(name.into(), value.into());
                }
            }
            _ => programs.push(program(text, &begin, words)?),
        }
    }
    Ok(programs)
}

/// What begins with variables and goes on with a program.
fn program(text: &str, begin: &OwnCommand, words: Vec<String>) -> Result<OwnCommand, String> {
    let mut own = begin.clone();
    let mut words = words.into_iter().peekable();
    while let Some((name, value)) = words.peek().and_then(|word| assignment(word)) {
        if value == "~" || value.starts_with("~/") {
            return Err(only_shell(text, "~"));
        }
        own.env.insert(name.into(), value.into());
        words.next();
    }
    // A shell's own word: the program takes the shell's place, and here there is no shell.
    words.next_if(|word| word == "exec");
    own.words = words.collect();
    match own.words.first() {
        Some(program) if !program.is_empty() => Ok(own),
        _ => Err(format!("`{text}` names no program")),
    }
}

/// Refuses what a shell would do with a command besides running it.
fn check(
    text: &str,
    command: &shell::Command,
    separator: Option<&'static str>,
) -> Result<(), String> {
    // The text for a shell is that shell's to read: sh -c "exec server $PORT".
    let is_for_shell = match &command.words[..] {
        [program, option, _, ..] => {
            is_shell(program) && option.starts_with(b"-") && option.ends_with(b"c")
        }
        _ => false,
    };
    if let Some(what) = command.replaced.as_ref().filter(|_| !is_for_shell) {
        return Err(refused(text, &Fault::Replaced(what.clone())));
    }
    if let Some(what) = command.left_out.first() {
        return Err(only_shell(text, what));
    }
    if let Some(what) = separator.filter(|separator| *separator != "&&") {
        return Err(only_shell(text, what));
    }
    let is_assignment = |word: usize| {
        let is_one = |word: &Vec<u8>| str::from_utf8(word).is_ok_and(|it| assignment(it).is_some());
        let before = command.words.get(..=word).unwrap_or_default();
        let before = before.strip_prefix(&[b"export".to_vec()]).unwrap_or(before);
        !before.is_empty() && before.iter().all(is_one)
    };
    match command.globs.iter().find(|(word, _)| !is_assignment(*word)) {
        Some((_, glob)) => {
            Err(format!("{}, or put the word in quotes", only_shell(text, &glob.to_string())))
        }
        None => Ok(()),
    }
}

fn is_shell(program: &[u8]) -> bool {
    let name = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    [&b"sh"[..], b"bash", b"dash", b"ash", b"zsh", b"ksh"].contains(&name)
}

/// The name and the value of `NAME=value`.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    (begins && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some((name, value))
}

fn refused(text: &str, fault: &Fault) -> String {
    match fault {
        Fault::Replaced(what) => {
            let name = what.trim_matches(|c| "${}".contains(c));
            if ["PORT", "HOST", "WORKERS"].contains(&name) {
                return format!(
                    "`{text}`: no shell reads the command, so ${name} would stay as it is; write {{{name}}}"
                );
            }
            only_shell(text, what)
        }
        Fault::Operator("&") => format!(
            "`{text}`: no shell reads the command, and `&` is a shell's; leave it out, because a server must stay in the foreground, or {}",
            with_shell(text)
        ),
        Fault::Operator(what) => only_shell(text, what),
        Fault::Other(why) => format!("`{text}`: {why}"),
    }
}

fn only_shell(text: &str, what: &str) -> String {
    format!("`{text}`: no shell reads the command, and `{what}` is a shell's; {}", with_shell(text))
}

/// The fix: the same text for a shell. A single program takes the shell's place, so that it gets the
/// signal that stops it.
fn with_shell(text: &str) -> String {
    let is_single = !text.trim().contains(['&', '|', ';', '=', '\n', '(']);
    let exec = if is_single && !text.trim_start().starts_with("exec ") { "exec " } else { "" };
    format!("write sh -c '{exec}{}'", text.trim().replace('\'', r"'\''"))
}

impl OwnCommand {
    /// Words that do the same where only words are taken: variables and folder by env(1).
    #[must_use]
    pub fn into_words(self) -> Command {
        let Self { words, env, folder } = self;
        if env.is_empty() && folder.is_none() {
            return words;
        }
        let folder = folder.map(|folder| format!("--chdir={}", folder.display()));
        let env = env.into_iter().map(|(name, value)| format!("{name}={value}"));
        std::iter::once("env".into()).chain(folder).chain(env).chain(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;

    #[test]
    fn variables_and_a_folder_are_read() {
        for (text, words, env, folder) in [
            ("node 'my server.js' # x", "node|my server.js", "", None),
            ("NODE_ENV=production node server.js", "node|server.js", "NODE_ENV=production", None),
            ("cd api && exec ./run -p {PORT}", "./run|-p|{PORT}", "", Some("api")),
            ("cd a && cd b && X= Y='1 2' run\n", "run", "X=|Y=1 2", Some("a/b")),
            ("export A=1 B=* && run", "run", "A=1|B=*", None),
            ("CORS=* run --bind [::1]:{PORT}", "run|--bind|[::1]:{PORT}", "CORS=*", None),
            ("sh -c \"exec serve $PORT > log\"", "sh|-c|exec serve $PORT > log", "", None),
            ("/bin/bash -lc 'a | b'", "/bin/bash|-lc|a | b", "", None),
        ] {
            let own = read(text).unwrap();
            assert_eq!(own.words.join("|"), words, "{text}");
            let pairs: Vec<String> =
                own.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(pairs.join("|"), env, "{text}");
            assert_eq!(own.folder.as_deref(), folder.map(Path::new), "{text}");
        }
    }

    #[test]
    fn what_only_a_shell_does_is_refused_by_name_with_the_fix() {
        for (text, what, fix) in [
            ("node x > log", "`>`", "write sh -c 'exec node x > log'"),
            ("node x 2>&1", "`>`", "sh -c"),
            ("node x &", "`&`", "leave it out"),
            ("node x | tee log", "`|`", "write sh -c 'node x | tee log'"),
            ("a; b", "`;`", "write sh -c 'a; b'"),
            ("a\nb", "`a line end`", "sh -c"),
            ("a && b", "several programs", "write sh -c 'a && b'"),
            ("node $SCRIPT", "`$SCRIPT`", "write sh -c 'exec node $SCRIPT'"),
            ("node \"$SCRIPT\"", "`$SCRIPT`", "sh -c"),
            ("node ${SCRIPT}", "`${SCRIPT}`", "sh -c"),
            ("node `cat x`", "``", "sh -c"),
            ("node $(cat 'x')", "`$(...)`", r"write sh -c 'node $(cat '\''x'\'')'"),
            ("~/bin/run", "`~`", "sh -c"),
            ("A=~/x run", "`~`", "sh -c"),
            ("run *.js", "`*`", "or put the word in quotes"),
            ("run x?", "`?`", "or put the word in quotes"),
            ("run [ab]", "`[`", "or put the word in quotes"),
            ("run {a,b}", "`{a,b}`", "sh -c"),
            ("(run)", "`(`", "sh -c"),
            ("run <<E", "`<<`", "sh -c"),
            ("serve $PORT", "$PORT would stay", "write {PORT}"),
            ("serve --port=${PORT}", "$PORT would stay", "write {PORT}"),
            ("URL=http://*:$PORT serve", "$PORT would stay", "write {PORT}"),
            ("node 'x", "a quote is not closed", ""),
            (" ", "names no program", ""),
            ("A=1", "names no program", ""),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(what) && why.contains(fix), "{text}: {why}");
        }
    }

    #[test]
    fn steps_follow_each_other_and_keep_their_folder() {
        let steps = several("npm ci && cd web && CI=1 npm run build").unwrap();
        let words: Vec<String> =
            steps.into_iter().map(|step| step.into_words().join("|")).collect();
        assert_eq!(words, ["npm|ci", "env|--chdir=web|CI=1|npm|run|build"]);
    }

    proptest! {
        /// What is taken in is what a shell would run: nothing that it replaces is left in silence.
        #[test]
        fn a_command_that_is_taken_holds_nothing_of_a_shell(text in "[a-z $;&|<>*?~`(){}=,'\"/\\\\\\[\\]-]{0,24}") {
            if let Ok(own) = read(&text) {
                let quoted = text.contains(['\'', '"', '\\']);
                let words: String = own.words.iter().chain(own.env.values()).cloned().collect();
                prop_assert!(quoted || !words.contains(['|', '<', '>', ';', '&', '`', '(']), "{text}: {own:?}");
                prop_assert!(!own.words.is_empty());
            }
        }
    }
}
