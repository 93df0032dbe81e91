//! What runs are for others: checked, and shown as files.
use clap::Args;
use clap::ValueHint;
use clap_complete::engine::ArgValueCandidates;
use std::path::PathBuf;

use crate::completions;

/// `pippin verify`
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// A run as `pippin export RUN --format record` writes it.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
}

/// `pippin site`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  pippin site public                                      all runs of the store\n  pippin site public latest --url https://example.org/bench/\n  pippin site public --add theirs.record.json             and a run of somebody else, on no board"
)]
pub struct SiteArguments {
    /// The folder: a new or empty one, or that of an earlier build.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// The runs that it shows, by name or baseline; by default all.
    #[arg(value_name = "RUN", add = ArgValueCandidates::new(completions::runs))]
    pub runs: Vec<String>,
    /// Also show this exported run of somebody else, if it passes `pippin verify`. It stays in later
    /// builds. May be given several times.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub add: Vec<PathBuf>,
    /// The address under which the site will be found, for sitemap.xml and previews of links.
    #[arg(long, value_name = "BASE", value_parser = base)]
    pub url: Option<String>,
}

/// An address with `/` at its end.
fn base(text: &str) -> Result<String, String> {
    let is_address = ["https://", "http://"].iter().any(|scheme| {
        text.strip_prefix(scheme).is_some_and(|rest| !rest.starts_with('/') && !rest.is_empty())
    });
    let is_plain = !text.contains(|c: char| c.is_whitespace() || "?#\"<>".contains(c));
    if !is_address || !is_plain {
        return Err("write it like https://example.org/bench/".into());
    }
    Ok(format!("{}/", text.trim_end_matches('/')))
}
