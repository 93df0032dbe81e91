//! The names of the files of a site, and links from one to another. All links are relative, so that the
//! site works below any address, and from a disk.
use pippin_model::target::URL;
use sha2::{Digest, Sha256};

/// A file's name may have 255 bytes on most disks; a number and an ending follow.
const LONGEST_NAME: usize = 120;

/// Whether a text can be the name of a file of a site, whatever it is served by.
pub(super) fn is_file_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !text.is_empty()
        && text.len() <= LONGEST_NAME
        && !text.starts_with('.')
        && text.chars().all(is_plain)
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

/// A page of a target's history, from 1.
pub(super) fn history(target: &str, page: usize) -> String {
    let number = if page == 1 { String::new() } else { format!(".{page}") };
    format!("history/{}{number}.html", of_target(target))
}

/// A target's name as a folder and a file. A colon would begin an address of another kind.
fn of_target(target: &str) -> String {
    if target.contains("://") {
        return format!("{URL}/{}", of_url(target));
    }
    let (language, name) = target.split_once('/').unwrap_or(("", target));
    format!("{}/{}", plain(language), plain(&name.replace(':', "~")))
}

/// A URL as the name of a file, different for each.
fn of_url(url: &str) -> String {
    let name = url.bytes().map(|byte| match byte {
        b':' => "~".into(),
        b'/' => "+".into(),
        b'.' | b'_' | b'-' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("={byte:02x}"),
    });
    let name: String = name.collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    // A file's name has a limit; the digest tells apart what begins alike.
    let digest = Sha256::digest(url);
    let digest: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}={digest}", &name[..LONGEST_NAME])
}

/// The badge of a target in a plan.
pub(super) fn badge(plan: &str, quick: bool, target: &str) -> String {
    let quick = if quick { ".quick" } else { "" };
    format!("badges/{}{quick}/{}.json", plain(plan), of_target(target))
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
        assert_eq!(
            history("http://[::1]:80/a?b=", 1),
            "history/url/http~++=5b~~1=5d~80+a=3fb=3d.html"
        );
        assert_eq!(badge("a plan", true, "c/nginx"), "badges/a-plan.quick/c/nginx.json");
        assert_eq!(link("history/c/nginx.html", "index.html"), "../../index.html");
        assert_eq!(link("index.html", "runs/a.html"), "runs/a.html");
    }
}
