//! Whether a live view can be shown, and with which characters.
use std::io::IsTerminal;

use super::look::Look;
use super::terminal;

/// What the terminal can show. `None` if plain lines are better: standard error is not a terminal,
/// Pippin runs in continuous integration, the terminal cannot move its cursor, or Pippin runs in
/// the background, where the terminal would stop it for changing its mode. Colours only if `colour`.
pub fn look(colour: bool) -> Option<Look> {
    if !std::io::stderr().is_terminal() || !terminal::is_usable() {
        return None;
    }
    let look = look_of(|name| std::env::var(name).ok())?;
    Some(Look { colour: look.colour && colour, ..look })
}

fn look_of(variable: impl Fn(&str) -> Option<String>) -> Option<Look> {
    // By convention, an empty variable counts as not set.
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let terminal = variable("TERM")?;
    if terminal == "dumb" || variable("CI").is_some_and(|value| value != "false") {
        return None;
    }
    let locale = variable("LC_ALL")
        .or_else(|| variable("LC_CTYPE"))
        .or_else(|| variable("LANG"))
        .unwrap_or_default()
        .to_ascii_lowercase();
    // The font of the Linux console lacks most block elements.
    let unicode = (locale.contains("utf-8") || locale.contains("utf8")) && terminal != "linux";
    Some(Look { colour: variable("NO_COLOR").is_none(), unicode })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Option<Look> {
        look_of(|name| {
            variables.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_string())
        })
    }

    #[test]
    fn plain_lines_where_nobody_looks_or_nothing_moves() {
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("TERM", "dumb")]), None);
        assert_eq!(with(&[("TERM", "xterm"), ("CI", "true")]), None);
        assert!(with(&[("TERM", "xterm"), ("CI", "")]).is_some());
    }

    #[test]
    fn colours_and_signs_follow_the_environment() {
        assert_eq!(
            with(&[("TERM", "xterm"), ("LANG", "de_DE.UTF-8")]),
            Some(Look { colour: true, unicode: true })
        );
        assert_eq!(
            with(&[("TERM", "xterm"), ("LANG", "C.UTF-8"), ("LC_ALL", "C"), ("NO_COLOR", "1")]),
            Some(Look { colour: false, unicode: false })
        );
        assert_eq!(
            with(&[("TERM", "linux"), ("LANG", "C.utf8"), ("NO_COLOR", "")]),
            Some(Look { colour: true, unicode: false })
        );
    }
}
