//! The names of the files of a site, and links from one to another. All links are relative, so that the
//! site works below any address, and from a disk.

/// Whether a text can be the name of a file of a site, whatever it is served by.
pub(super) fn is_file_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !text.is_empty() && text.len() <= 120 && !text.starts_with('.') && text.chars().all(is_plain)
}

/// A text with `-` in place of what a file's name cannot hold.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-@~".contains(c) { c } else { '-' })
        .collect()
}

pub(super) fn run(id: &str) -> String {
    format!("runs/{id}.html")
}

/// The picture that previews of links to a run show.
pub(super) fn preview(id: &str) -> String {
    format!("runs/{id}.png")
}

pub(super) fn record(id: &str) -> String {
    format!("runs/{id}.record.json")
}

/// The page of a run of somebody else.
pub(super) fn other(id: &str) -> String {
    format!("others/{id}.html")
}

pub(super) fn other_record(id: &str) -> String {
    format!("others/{id}.record.json")
}

pub(super) fn comparison(before: &str, after: &str) -> String {
    format!("comparisons/{before}..{after}.html")
}

/// The page of a plan's rounds.
pub(super) fn board(plan: &str, quick: bool) -> String {
    format!("boards/{}{}.html", plain(plan), if quick { ".quick" } else { "" })
}

/// A page of a target's history, from 1. A colon would begin an address of another kind.
pub(super) fn history(target: &str, page: usize) -> String {
    let (language, name) = target.split_once('/').unwrap_or(("", target));
    let number = if page == 1 { String::new() } else { format!(".{page}") };
    format!("history/{}/{}{number}.html", plain(language), plain(&name.replace(':', "~")))
}

/// The badge of a target in a plan.
pub(super) fn badge(plan: &str, quick: bool, target: &str) -> String {
    let quick = if quick { ".quick" } else { "" };
    let target = target.replace(':', "~");
    let target: Vec<String> = target.split('/').map(plain).collect();
    format!("badges/{}{quick}/{}.json", plain(plan), target.join("/"))
}

/// The link from one file to another.
pub(super) fn link(from: &str, to: &str) -> String {
    format!("{}{to}", "../".repeat(from.matches('/').count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files_and_links_are_relative() {
        assert!(is_file_name("20261127-152720.659476-load"));
        for odd in ["", "..", ".git", "a/b", "a\\b", "a:b", "a b", "a%2f"] {
            assert!(!is_file_name(odd), "{odd}");
        }
        assert_eq!(
            history("javascript/express:cluster", 1),
            "history/javascript/express~cluster.html"
        );
        assert_eq!(history("own/shop@v1.2", 2), "history/own/shop@v1.2.2.html");
        assert_eq!(badge("a plan", true, "c/nginx"), "badges/a-plan.quick/c/nginx.json");
        assert_eq!(link("history/c/nginx.html", "index.html"), "../../index.html");
        assert_eq!(link("index.html", "runs/a.html"), "runs/a.html");
    }
}
