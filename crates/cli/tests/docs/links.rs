//! Links resolve, and no page names a path of a particular machine.
use crate::pages::{entries, root};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Every page: at the root, in docs/, and beside crates, plans, workloads and targets.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    folders.extend(["bench", "plans", "workloads", "targets"].map(|name| root().join(name)));
    folders.extend(entries("crates").iter().map(|name| root().join("crates").join(name)));
    for language in entries("targets") {
        if !root().join("targets").join(&language).is_dir() {
            continue;
        }
        folders.extend(
            entries(&format!("targets/{language}"))
                .iter()
                .map(|name| root().join("targets").join(&language).join(name)),
        );
    }
    for folder in folders {
        found.extend(
            fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| is_page(path)),
        );
    }
    below(&root().join("docs"), &mut found);
    assert!(
        found.iter().any(|path| path.ends_with("README.md"))
            && found.iter().any(|path| path.ends_with("docs/methodology.md"))
    );
    found
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            below(&path, found);
        } else if is_page(&path) {
            found.push(path);
        }
    }
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md") && path.is_file()
}

/// The page without comments and code, in which brackets are not links.
fn prose(page: &str) -> String {
    let without_comments: String = page
        .split("<!--")
        .enumerate()
        .map(|(i, part)| if i == 0 { part } else { part.split_once("-->").map_or("", |p| p.1) })
        .collect();
    let without_blocks: String = without_comments.split("```").step_by(2).collect();
    without_blocks.split('`').step_by(2).collect()
}

/// The targets of `[text](target)`.
fn links(page: &str) -> Vec<String> {
    prose(page)
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_string())
        .collect()
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut followed = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in
            links(&text).iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:"))
        {
            followed += 1;
            let (file, anchor) = link
                .split_once('#')
                .map_or((link.as_str(), None), |(file, anchor)| (file, Some(anchor)));
            let target =
                if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let has_anchor = |anchor: &str| {
                is_page(&target)
                    && anchors(&fs::read_to_string(&target).unwrap())
                        .iter()
                        .any(|known| known == anchor)
            };
            if !target.exists() || anchor.is_some_and(|anchor| !has_anchor(anchor)) {
                broken.push(format!("{}: {link}", page.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
    assert!(followed > 10, "only {followed} links found: the search for them is broken");
}

/// The anchors of the headings: lower case, hyphens for blanks, no other punctuation.
fn anchors(page: &str) -> Vec<String> {
    let headings = page
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let kept = |c: char| {
        if c == ' ' {
            Some('-')
        } else {
            (c.is_alphanumeric() || c == '-' || c == '_').then_some(c)
        }
    };
    headings.map(|heading| heading.chars().filter_map(kept).collect()).collect()
}

#[test]
fn no_page_names_a_path_of_somebodys_machine() {
    let mut forbidden = vec!["/home/".to_string(), "/root/".to_string(), "/Users/".to_string()];
    // The folder of this checkout, unless it is one that every system has.
    let standard = ["usr", "opt", "var", "tmp", "srv", "mnt", "etc"];
    if let Some(Component::Normal(first)) = root().components().nth(1)
        && !standard.contains(&first.to_str().unwrap())
    {
        forbidden.push(format!("/{}/", first.to_str().unwrap()));
    }
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (number, line) in text.lines().enumerate() {
            // A path begins after a character that is not part of a name or an address.
            let named = forbidden.iter().find(|path| {
                line.match_indices(path.as_str()).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || "}/.".contains(c))
                })
            });
            assert!(
                named.is_none(),
                "{}:{}: names {}",
                page.strip_prefix(root()).unwrap().display(),
                number + 1,
                named.unwrap()
            );
        }
    }
}
