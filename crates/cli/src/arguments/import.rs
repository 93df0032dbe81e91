//! `pippin import`
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// Where requests come from.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// From a HAR file, which the developer tools of browsers export.
    Har(ImportArguments),
    /// From an access log in the Common or the Combined Log Format, as nginx and Apache write it.
    /// Only requests without a body.
    AccessLog(ImportArguments),
    /// From curl commands, as browsers copy them.
    Curl(ImportArguments),
}

/// Which of them, and where they go.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// The file; - for standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Only requests to this host, with its port, as written in the URLs.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}
