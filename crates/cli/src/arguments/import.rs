//! `pippin import`
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// Where requests come from.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// From a HAR file, which the developer tools of browsers export.
    Har(ImportArguments),
    /// From an access log of Apache, nginx, Caddy, Traefik, HAProxy, IIS (W3C) or a load balancer of
    /// AWS, also compressed with gzip. Only requests without a body.
    AccessLog(ImportArguments),
    /// From curl commands, as browsers copy them.
    Curl(ImportArguments),
    /// From an OpenAPI 3 file (JSON or YAML): the operations whose required values have examples.
    Openapi(ImportArguments),
    /// From a Postman collection, version 2.1.
    Postman(PostmanArguments),
}

impl ImportCommand {
    /// The file, and where its requests go.
    pub const fn arguments(&self) -> &ImportArguments {
        match self {
            Self::Har(arguments)
            | Self::AccessLog(arguments)
            | Self::Curl(arguments)
            | Self::Openapi(arguments)
            | Self::Postman(PostmanArguments { import: arguments, .. }) => arguments,
        }
    }
}

/// A collection, and values that it does not hold.
#[derive(Debug, Args)]
pub struct PostmanArguments {
    #[command(flatten)]
    pub import: ImportArguments,
    /// The value of a variable, NAME=VALUE, in place of the collection's; may be given several
    /// times.
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = variable)]
    pub variables: Vec<(String, String)>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.into(), value.into()))
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
