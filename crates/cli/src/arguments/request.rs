//! The flags that say what is asked. They are those of curl and wrk.
use clap::{Args, ValueHint};
use std::path::PathBuf;

use crate::values::{self, Field, Statuses};

/// What is asked, and what is right.
#[derive(Debug, Args)]
pub struct RequestArguments {
    /// The method; POST where there is a body, else GET.
    #[arg(short = 'm', long, visible_short_alias = 'X', value_name = "METHOD")]
    pub method: Option<String>,
    /// A header field, NAME: VALUE; may be given several times. With a file, every request gets it.
    #[arg(short = 'H', long = "header", value_name = "FIELD", value_parser = values::field)]
    pub headers: Vec<Field>,
    /// The body; @FILE reads it from a file, @- from standard input.
    #[arg(short = 'b', long, value_name = "TEXT", conflicts_with_all = ["json_body", "form", "data_urlencode"])]
    pub body: Option<String>,
    /// A body of type application/json, also as @FILE or @-.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["form", "data_urlencode"])]
    pub json_body: Option<String>,
    /// A part of a form, as curl takes it: NAME=VALUE, NAME=@FILE or NAME=<FILE, with ;type= and
    /// ;filename= where needed (multipart/form-data).
    #[arg(short = 'F', long, value_name = "NAME=VALUE", conflicts_with = "data_urlencode")]
    pub form: Vec<String>,
    /// A field of a form in the body, as curl takes it: NAME=VALUE, or NAME@FILE
    /// (application/x-www-form-urlencoded).
    #[arg(long, value_name = "NAME=VALUE")]
    pub data_urlencode: Vec<String>,
    /// User and password for basic authentication; no record keeps them.
    #[arg(short = 'u', long, value_name = "USER:PASSWORD", allow_hyphen_values = true)]
    pub user: Option<String>,
    /// Cookies to send, NAME=VALUE; may be given several times. No record keeps them.
    #[arg(long, value_name = "NAME=VALUE")]
    pub cookie: Vec<String>,
    /// Ask for a compressed answer. It is not unpacked: bytes are counted as they were received.
    #[arg(long, conflicts_with = "expect_body")]
    pub compressed: bool,
    /// Statuses that are right, as 200,404 or 2xx; 200 to 399 by default.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::statuses)]
    pub expect_status: Vec<Statuses>,
    /// The body that is right, byte by byte.
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Option<String>,
}

/// The requests of a file.
#[derive(Debug, Args)]
pub struct FileArguments {
    /// The requests of a file, sent in turn: vegeta's HTTP format, or JSON lines (docs/requests.md).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["urls_from_file", "method", "body", "json_body", "form", "data_urlencode", "expect_body"])]
    pub requests: Option<PathBuf>,
    /// The URLs or paths of a file, one a line, sent in turn.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["method", "body", "json_body", "form", "data_urlencode", "expect_body"])]
    pub urls_from_file: Option<PathBuf>,
    /// The steps of a file, which each user goes through in order, with values and checks of its own
    /// (docs/scenarios.md).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["requests", "urls_from_file", "method", "body", "json_body", "form", "data_urlencode", "expect_body"])]
    pub scenario: Option<PathBuf>,
}
