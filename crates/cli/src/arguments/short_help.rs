//! What `-h` shows of the commands with many options: those that most people need. `--help` shows
//! all of them.
use clap::{Arg, Command};

/// Each command with the options and arguments that its short help shows.
const SHOWN: [(&str, &[&str]); 3] = [
    (
        "load",
        &[
            "url",
            "connections",
            "duration",
            "count",
            "rate",
            "sweep",
            "objective",
            "repeat",
            "headers",
            "body",
            "expect_status",
            "requests",
            "scenario",
            "verbose",
            "json",
            "fail_if",
        ],
    ),
    (
        "run",
        &[
            "plan", "install", "yes", "targets", "repeat", "within", "length", "quick", "out",
            "verbose", "json", "fail_if",
        ],
    ),
    (
        "compare",
        &[
            "sides",
            "command",
            "image",
            "path",
            "scenario",
            "target",
            "plan",
            "repeat",
            "within",
            "length",
            "install",
            "connections",
            "duration",
            "rate",
            "headers",
            "json",
            "fail_if",
        ],
    ),
];

/// Options of every command that short help leaves out.
const GENERAL: [&str; 2] = ["store", "no_color"];

/// The end of the short help of a load, in place of all examples.
const EXAMPLES_OF_LOADS: &str = "Examples:
  pippin load localhost:8080/ -c 64 -d 10s                        64 users, each waits for its answer
  pippin load localhost:8080/ -R 5000 -d 30s                      constant rate
  pippin load localhost:8080/ --scenario shop.toml -c 20          users who log in, look and buy
  pippin load localhost:8080/ --objective \"p99<50ms\" -c 64 -d 5s  the highest rate that holds this

`pippin load --help` shows all options and more examples.";

/// Hides what short help does not show. (clap's own way, `hide_short_help`, spreads every option of
/// the long help over several lines.)
pub fn shortened(command: Command) -> Command {
    let shown_only = |command: Command, (name, shown): (&str, &[&str])| {
        let hide = |option: Arg| {
            let is_shown = shown.contains(&option.get_id().as_str());
            option.hide(!is_shown)
        };
        command.mut_subcommand(name, |command| command.mut_args(hide))
    };
    SHOWN
        .into_iter()
        .fold(command, shown_only)
        .mut_subcommand("load", |load| load.after_help(EXAMPLES_OF_LOADS))
        .mut_args(|option| {
            let is_hidden = GENERAL.contains(&option.get_id().as_str());
            option.hide(is_hidden)
        })
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    /// The options of a help text, by their long names.
    fn options(text: &str) -> Vec<&str> {
        let lines = text.lines().filter_map(|line| line.split_once("--"));
        // Further in stand the words that describe them.
        let is_option = |lead: &str| lead.len() <= "  -c, ".len();
        lines
            .filter(|(lead, _)| is_option(lead))
            .filter_map(|(_, rest)| rest.split([' ', '\n']).next())
            .collect()
    }

    #[test]
    fn short_help_of_a_load_has_fifteen_options_of_its_own_and_all_names_exist() {
        for (name, shown) in SHOWN {
            let mut all = command();
            let found = all.find_subcommand_mut(name).unwrap();
            for id in shown {
                let known = found.get_arguments().any(|option| option.get_id() == id);
                assert!(known, "{name} has no {id}");
            }
        }
        let help = |command: Command, flag: &str| {
            let asked = command.try_get_matches_from(["pippin", "load", flag]);
            asked.unwrap_err().to_string()
        };
        let (short, long) = (help(shortened(command()), "-h"), help(command(), "--help"));
        let names = options(&short);
        // Besides them, --quiet and --help.
        assert_eq!(names.len(), 15 + 2, "{names:?}\n{short}");
        assert_eq!(names[0], "connections", "{short}");
        assert!(options(&long).len() > 70, "{long}");
        let place = |name: &str| options(&long).iter().position(|one| *one == name).unwrap();
        assert!(place("store") > place("connections") && place("store") > place("fail-if"));
        assert!(short.contains("--help") && short.contains("pippin load localhost:8080/"));
    }
}
