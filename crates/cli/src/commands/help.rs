//! `pippin help`: the help of a command, or a page of the documentation that ships inside of the
//! program.
use pippin_shipped::pages;

use crate::arguments;
use crate::exit::{self, CliError};
use crate::output::{print, print_text};

pub fn run(topics: &[String]) -> Result<u8, CliError> {
    let names: Vec<&str> = topics.iter().map(String::as_str).collect();
    let page = match names.as_slice() {
        [name] => pages::named(page_name(name)),
        _ => None,
    };
    match (of_command(&names), page) {
        (Some(help), page) => {
            print(help.as_bytes())?;
            page.map_or(Ok(exit::OK), |page| print_text(&format!("\n{page}")))
        }
        (None, Some(page)) => print_text(&page),
        (None, None) => Err(CliError::User(format!(
            "there is no help on `{}`; there are the commands that `pippin --help` lists, and the pages {}",
            names.join(" "),
            pages::NAMES.join(", ")
        ))),
    }
}

/// `gates` from `docs/gates.md` too, as older texts name a page.
fn page_name(name: &str) -> &str {
    name.trim_start_matches("docs/").trim_end_matches(".md")
}

/// The whole help of a command, named by the words that start it; of the program without any.
fn of_command(words: &[&str]) -> Option<String> {
    let mut command = arguments::command();
    command.build();
    let found =
        words.iter().try_fold(&mut command, |command, word| command.find_subcommand_mut(word))?;
    Some(found.render_long_help().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_pages_have_help_and_nothing_else_has() {
        let all = of_command(&[]).unwrap();
        assert!(all.contains("Commands:") && all.contains("Exit codes"), "{all}");
        let check = of_command(&["targets", "check"]).unwrap();
        assert!(check.contains("Usage: pippin targets check"), "{check}");
        assert_eq!(of_command(&["gates"]), None);
        assert_eq!(page_name("docs/gates.md"), "gates");
        for name in pages::NAMES {
            assert!(pages::named(name).is_some_and(|page| page.starts_with("# ")), "{name}");
        }
        let error = run(&["nothing".into()]).unwrap_err().to_string();
        assert!(error.contains("`nothing`") && error.contains("gates"), "{error}");
    }
}
