//! Words of other load generators. Where Pippin has the same option under another name, the message
//! about an unknown argument says it.
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Words of wrk, oha, hey, ab, k6, autocannon and bombardier, and what to write.
const WORDS: [(&[&str], &str); 17] = [
    (
        &["-L", "--latency", "--latencies", "-l", "--u_latency"],
        "latencies are always shown: leave it out",
    ),
    (&["-T"], "write --timeout TIME: how long one answer may take"),
    (
        &["--vus", "--concurrency", "--users", "--workers", "-w", "--clients"],
        "write -c N: so many connections, each with one request at a time",
    ),
    (&["--iterations", "-i", "--amount", "-a"], "write -n N: so many requests"),
    (&["--qps", "--rate-limit", "--overallRate"], "write -R RATE: requests per second"),
    (&["--bail", "--abort-on-fail"], "write --fail-fast"),
    (&["-W", "--warmup"], "write --warm-up TIME"),
    (&["--disable-keepalive", "--no-keepalive"], "write --no-keep-alive"),
    (&["-s", "--script"], "write --scenario FILE for steps, or --requests FILE for a list"),
    (&["--no-tui", "--no-progress"], "write --quiet"),
    (&["-o", "--output", "--output-format", "--json-path"], "write --json FILE"),
    (&["-f", "--fail"], "write --fail-if 'errors > 0'"),
    (
        &["--location", "--follow-redirects", "--redirect"],
        "a load follows no redirection: load the URL where it ends",
    ),
    (&["-A", "--user-agent"], "write -H 'User-Agent: ...'"),
    (&["--http1.1", "--http1"], "HTTP/1.1 is the default: leave it out"),
    (&["--pipelining", "-p"], "write --pipeline N"),
    (&["-D", "--body-file", "--data", "--data-raw"], "write -b TEXT, or -b @FILE"),
];

/// What to say of this error; `None` if clap's own message is best.
pub fn said(error: &clap::Error) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            let name = word.split(['=', ' ']).next().unwrap_or(word);
            let (_, advice) = WORDS.iter().find(|(words, _)| words.contains(&name))?;
            Some(format!("{name} is not an option of Pippin: {advice}"))
        }
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand)?;
            is_place(word).then(|| format!("to load a URL, write: pippin load {word}"))
        }
        _ => None,
    }
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
    use clap::{CommandFactory, Parser};

    /// Each word is refused with its advice, and the options that the advice names exist.
    #[test]
    fn words_of_other_tools_lead_to_options_that_exist() {
        let load = Arguments::command()
            .find_subcommand("load")
            .unwrap()
            .clone()
            .render_long_help()
            .to_string();
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
