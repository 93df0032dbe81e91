//! Words of other load generators. Where Pippin has the same option under another name, the message
//! about an unknown argument says it.
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::arguments::command;

/// Words of wrk, oha, hey, ab, k6, autocannon and bombardier, and what to write
/// (docs/coming-from.md).
const WORDS: [(&[&str], &str); 27] = [
    (
        &["-L", "--latency", "--latencies", "-l", "--u_latency"],
        "latencies are always shown: leave it out, or write -v for more",
    ),
    (
        &["-T"],
        "write --timeout TIME: how long one answer may take (wrk), or -H 'Content-Type: TYPE' (hey, oha, ab)",
    ),
    (
        &["--vus", "--concurrency", "--users", "--clients"],
        "write -c N: so many connections, each with one request at a time",
    ),
    (&["--workers", "-w"], "write -t N for threads (autocannon), or -c N for connections"),
    (&["--iterations", "--amount"], "write -n N: so many requests"),
    (&["-i"], "write -n N: so many requests (k6), or -b @FILE for a body (autocannon)"),
    (&["-a"], "write -n N: so many requests (autocannon), or -u NAME:PASSWORD (hey)"),
    (&["--qps", "--rate-limit", "--overallRate", "-r"], "write -R RATE: requests per second"),
    (&["--bail", "--abort-on-fail"], "write --fail-fast"),
    (&["-W", "--warmup"], "write --warm-up TIME"),
    (
        &["--disable-keepalive", "--no-keepalive", "--no-vu-connection-reuse"],
        "write --no-keep-alive",
    ),
    (
        &["--latency-correction"],
        "write -R RATE: in an open loop, times count from when a request was due",
    ),
    (
        &["--stage"],
        "write --stages TIME:RATE,...: parts in which the rate changes, or --stages users:N@TIME,...: users that come and go",
    ),
    (&["--insecure-skip-tls-verify"], "write --insecure"),
    (&["--out"], "write --timeseries FILE: a line of JSON for each second"),
    (&["-E", "--expectBody"], "write --expect-body TEXT"),
    (&["-s", "--script"], "write --scenario FILE for steps, or --requests FILE for a list"),
    (&["--no-tui", "--no-progress"], "write --quiet"),
    (
        &["-o", "-j", "--output", "--output-format", "--json-path", "--summary-export"],
        "write --json FILE",
    ),
    (&["-f", "--fail"], "write --fail-if 'errors > 0'"),
    (
        &["--location", "--follow-redirects", "--redirect", "--redirects", "--max-redirects"],
        "write --follow N: so many redirections of each answer",
    ),
    (&["--user-agent"], "write -H 'User-Agent: ...'"),
    (&["-A"], "write -u NAME:PASSWORD (ab), or -H 'User-Agent: ...' (curl)"),
    (&["--http1.1", "--http1"], "HTTP/1.1 is the default: leave it out"),
    (&["--pipelining"], "write --pipeline N"),
    (&["-p"], "write --pipeline N (autocannon), or -b @FILE (ab)"),
    (&["-D", "--body-file", "--data", "--data-raw"], "write -b TEXT, or -b @FILE"),
];

/// Options that exist here, but not together, and what reaches the same end.
const TOGETHER: [(&str, &str, &str); 2] = [
    (
        "--count",
        "--rate",
        "a load at a rate ends after a time, not after a number of requests: write -R RATE -d TIME, \
         with the number divided by the rate as the time (-n 3000 -R 100 is -R 100 -d 30s)",
    ),
    ("--devices", "--connections", "each device has a connection of its own: leave out -c"),
];

/// Options after which a result is gone. None of them is ever suggested for a word that is not known.
const THROWS_AWAY: [&str; 1] = ["--no-store"];

/// What to say of this error; `None` if clap's own message is best.
pub fn said(error: &clap::Error) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        Some(ContextValue::Strings(words)) => words.first().map(String::as_str),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            let name = word.split(['=', ' ']).next().unwrap_or(word);
            match WORDS.iter().find(|(words, _)| words.contains(&name)) {
                Some((_, advice)) => Some(format!("{name} is not an option of Pippin: {advice}")),
                None => of_other_commands(name).or_else(|| {
                    has_bad_suggestion(error).then(|| {
                        format!(
                            "{name} is not an option of Pippin: `--help` behind the command lists all"
                        )
                    })
                }),
            }
        }
        ErrorKind::ArgumentConflict => {
            let name = |kind| word(kind).and_then(|words| words.split(' ').next());
            let named = [name(ContextKind::InvalidArg)?, name(ContextKind::PriorArg)?];
            let (a, b, advice) =
                TOGETHER.iter().find(|(a, b, _)| named == [*a, *b] || named == [*b, *a])?;
            Some(format!("{a} and {b} do not go together: {advice}"))
        }
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand)?;
            is_place(word).then(|| format!("to load a URL, write: pippin load {word}"))
        }
        _ => None,
    }
}

/// Says which commands have an option that this one has not.
fn of_other_commands(name: &str) -> Option<String> {
    let long = name.strip_prefix("--")?;
    let all = command();
    let has = |it: &&clap::Command| it.get_arguments().any(|one| one.get_long() == Some(long));
    let having: Vec<&str> =
        all.get_subcommands().filter(has).map(clap::Command::get_name).collect();
    let [first, others @ ..] = &having[..] else { return None };
    let others: String = others.iter().map(|it| format!(", {it}")).collect();
    Some(format!("{name} is no option of this command: it goes with pippin {first}{others}"))
}

/// Whether clap would propose to throw a result away.
fn has_bad_suggestion(error: &clap::Error) -> bool {
    let suggested = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(one)) => std::slice::from_ref(one),
        Some(ContextValue::Strings(several)) => several,
        _ => return false,
    };
    suggested.iter().any(|one| THROWS_AWAY.iter().any(|bad| one.contains(bad)))
}

/// Whether a word is a server rather than a command: `http://...`, `:5100`, `5100`, `host:80`.
fn is_place(word: &str) -> bool {
    let port = word.rsplit_once(':').map_or(word, |(_, port)| port);
    let port = port.split('/').next().unwrap_or_default();
    word.contains("://")
        || word.starts_with("localhost")
        || !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser;

    #[test]
    fn an_option_of_other_commands_is_named_with_them() {
        let said = |words: &[&str]| said(&Arguments::try_parse_from(words).unwrap_err());
        let explain = said(&["pippin", "load", "localhost", "--explain"]).unwrap();
        assert_eq!(
            explain,
            "--explain is no option of this command: it goes with pippin run, compare"
        );
        assert_eq!(said(&["pippin", "load", "localhost", "--nonsense"]), None);
    }

    /// Each word is refused with its advice, and the options that the advice names exist.
    #[test]
    fn words_of_other_tools_lead_to_options_that_exist() {
        let load =
            command().find_subcommand("load").unwrap().clone().render_long_help().to_string();
        let load = format!("{load} -q, --quiet");
        for (words, advice) in WORDS {
            for word in words {
                let error =
                    Arguments::try_parse_from(["pippin", "load", "localhost", word]).unwrap_err();
                let said = said(&error).unwrap_or_else(|| panic!("{word}: {error}"));
                assert!(said.contains(word) && said.contains(advice), "{said}");
            }
            let option = advice.split([' ', ',', ':']).find(|word| word.starts_with('-'));
            assert!(option.is_none_or(|option| load.contains(option)), "{advice}");
        }
    }

    fn refused(words: &[&str]) -> clap::Error {
        let all = [&["pippin", "load", "localhost"], words].concat();
        Arguments::try_parse_from(all).unwrap_err()
    }

    #[test]
    fn options_that_do_not_go_together_lead_to_what_does() {
        for words in [["-n", "3000", "-R", "100"], ["-R", "100", "-n", "3000"]] {
            let said = said(&refused(&words)).unwrap();
            assert!(said.contains("-R 100 -d 30s"), "{said}");
        }
        let connections = ["-c", "9", "--devices", "9", "--ramp", "1s,1s,1s"];
        assert!(said(&refused(&connections)).unwrap().contains("leave out -c"));
        for (a, b, _) in TOGETHER {
            let load = command();
            let load = load.find_subcommand("load").unwrap();
            let known = |name: &str| {
                load.get_arguments().any(|option| option.get_long() == name.strip_prefix("--"))
            };
            assert!(known(a) && known(b), "{a} {b}");
        }
    }

    /// The cells of a page's tables: those of the first column, and those of the second.
    fn columns(page: &str) -> [Vec<String>; 2] {
        let ticked = |cell: &str| {
            cell.split('`').skip(1).step_by(2).map(ToString::to_string).collect::<Vec<_>>()
        };
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| ") && !line.contains("---"))
            .map(|line| line.trim_matches('|').split(" | ").collect())
            .collect();
        [0, 1].map(|column| rows.iter().flat_map(|cells| ticked(cells[column])).collect())
    }

    /// What `docs/coming-from.md` says to write is understood, and what it says is written
    /// elsewhere is understood or answered with an advice.
    #[test]
    fn the_page_for_those_who_come_from_another_tool_is_right() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coming-from.md");
        let [theirs, ours] = columns(&std::fs::read_to_string(page).unwrap());
        let typed = |option: &str| {
            let words =
                pippin_model::target::own_command::read(&format!("load localhost {option}"));
            let words = words.unwrap_or_else(|error| panic!("{option}: {error}")).words;
            Arguments::try_parse_from(std::iter::once("pippin".to_string()).chain(words))
        };
        assert!(ours.len() > 80 && theirs.len() > 80, "{} {}", ours.len(), theirs.len());
        for option in &ours {
            assert!(option.starts_with('-'), "{option}");
            if let Err(error) = typed(option) {
                panic!("{option}: {error}");
            }
        }
        let long: Vec<&String> = theirs.iter().filter(|option| option.starts_with("--")).collect();
        assert!(long.len() > 20, "{long:?}");
        for option in long {
            if let Err(error) = typed(option) {
                assert!(said(&error).is_some(), "{option}: {error}");
            }
        }
    }

    #[test]
    fn no_suggestion_throws_a_result_away() {
        for word in
            ["--no-stor", "--no-stores", "--nostore", "--no-score", "--no-storage", "--no-log"]
        {
            let error = refused(&[word]);
            let text = said(&error).unwrap_or_else(|| error.to_string());
            assert!(text.contains(word) && !text.contains("--no-store'"), "{text}");
        }
        let near = refused(&["--no-stor"]);
        assert!(has_bad_suggestion(&near), "clap would propose it: {near}");
        let other = refused(&["--conections", "9"]);
        assert!(said(&other).is_none() && other.to_string().contains("--connections"), "{other}");
    }

    #[test]
    fn a_place_for_a_command_is_told_how_to_load_it() {
        for word in ["http://a/b", ":5100", "5100", "localhost", "a.example:80", ":80/x"] {
            let error = Arguments::try_parse_from(["pippin", word]).unwrap_err();
            assert_eq!(said(&error).unwrap(), format!("to load a URL, write: pippin load {word}"));
        }
        let error = Arguments::try_parse_from(["pippin", "laod"]).unwrap_err();
        assert_eq!(said(&error), None, "clap knows a similar one");
    }
}
