//! The commit of git in which a target's files were measured.
use serde::{Deserialize, Serialize};

/// Digits of a commit that people read.
const SHORT: usize = 10;

/// A commit of git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// All digits of its hash.
    pub id: String,
    /// Whether the target's files differed from it.
    pub changed: bool,
    /// Its repository's page, if `origin` leads to one: `https://example.org/shop/server`.
    pub repository: Option<String>,
}

impl Commit {
    /// The first digits of its hash; with a plus where files differed from it: `4b825dc642+`.
    #[must_use]
    pub fn short(&self) -> String {
        let id = self.id.get(..SHORT).unwrap_or(&self.id);
        format!("{id}{}", if self.changed { "+" } else { "" })
    }

    /// Its page, as GitHub, GitLab, Forgejo and Gitea have it.
    #[must_use]
    pub fn page(&self) -> Option<String> {
        Some(format!("{}/commit/{}", self.https()?, self.id))
    }

    /// The repository's page. A record of somebody else may hold any text here, and a page of it
    /// becomes a link.
    fn https(&self) -> Option<&str> {
        self.repository.as_deref().filter(|page| page.starts_with("https://"))
    }

    /// The page of all commits from this one to a later one of the same repository.
    #[must_use]
    pub fn page_to(&self, later: &Self) -> Option<String> {
        let repository = self.https().filter(|_| self.repository == later.repository)?;
        Some(format!("{repository}/compare/{}...{}", self.id, later.id))
    }
}

/// The page of the repository behind an address as `git remote get-url` prints it. Without a name or
/// password in it; `None` for a folder, and for what is no such address.
#[must_use]
pub fn repository_page(address: &str) -> Option<String> {
    let address = address.trim();
    let schemes = ["https://", "http://", "ssh://", "git://"];
    let (place, separator) = match schemes.iter().find_map(|one| address.strip_prefix(one)) {
        Some(rest) => (rest, '/'),
        // git@example.org:shop/server.git
        None => (address.split_once('@')?.1, ':'),
    };
    let (host, path) = place.split_once(separator)?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    // A page has another port than git's.
    let host = host.split(':').next()?;
    let path = path.trim_matches('/').strip_suffix(".git").unwrap_or(path.trim_matches('/'));
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./~".contains(c))
    };
    (is_name(host) && is_name(path)).then(|| format!("https://{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_git_lead_to_pages_and_tell_no_secret() {
        let page = Some("https://example.org/shop/server".to_string());
        for address in [
            "https://example.org/shop/server.git\n",
            "https://example.org/shop/server/",
            "https://me:secret@example.org/shop/server.git",
            "git@example.org:shop/server.git",
            "ssh://git@example.org:2222/shop/server",
        ] {
            assert_eq!(repository_page(address), page, "{address}");
        }
        for none in
            ["", "/srv/git/server.git", "../server", "file:///srv/server", "https://", "C:\\x"]
        {
            assert_eq!(repository_page(none), None, "{none}");
        }
        assert_eq!(repository_page("https://example.org/<script>"), None);
    }

    #[test]
    fn a_commit_has_a_name_and_pages() {
        let commit = |id: &str| Commit {
            id: id.repeat(40),
            changed: id == "b",
            repository: Some("https://example.org/shop/server".into()),
        };
        let (a, b) = (commit("a"), commit("b"));
        assert_eq!((a.short(), b.short()), ("a".repeat(10), "b".repeat(10) + "+"));
        let (of_a, to_b) = (a.page().unwrap(), a.page_to(&b).unwrap());
        assert!(of_a.ends_with(&format!("/server/commit/{}", "a".repeat(40))), "{of_a}");
        assert!(to_b.contains("/compare/aaa") && to_b.contains("a...b"), "{to_b}");
        let elsewhere = Commit { repository: None, ..b };
        assert_eq!((a.page_to(&elsewhere), elsewhere.page()), (None, None));
    }
}
