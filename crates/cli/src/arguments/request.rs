//! The flags for requests. They are those of curl and wrk.
use clap::{Args, ValueHint};
use pippin_model::request::json_value::JsonValue;
use pippin_model::scenario::mix::Named;
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
    /// A body of type application/json; @FILE and @- work here too.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["form", "data_urlencode"])]
    pub json_body: Option<String>,
    /// A part of a form (multipart/form-data), as in curl: NAME=VALUE, NAME=@FILE or NAME=<FILE,
    /// with ;type= and ;filename= where needed.
    #[arg(short = 'F', long, value_name = "NAME=VALUE", conflicts_with = "data_urlencode")]
    pub form: Vec<String>,
    /// A field of a form (application/x-www-form-urlencoded), as in curl: NAME=VALUE or NAME@FILE.
    #[arg(long, value_name = "NAME=VALUE")]
    pub data_urlencode: Vec<String>,
    /// User and password for basic authentication; no record keeps them.
    #[arg(short = 'u', long, value_name = "USER:PASSWORD", allow_hyphen_values = true)]
    pub user: Option<String>,
    /// Use digest authentication (RFC 7616) with the name and the password of -u, in place of basic
    /// authentication, as curl does. Each user of the load gets a nonce before it begins. Goes with
    /// pippin load over HTTP/1.1 (pippin help requests).
    #[arg(long, requires = "user")]
    pub digest: bool,
    /// Cookies to send, NAME=VALUE; may be given several times. No record keeps them.
    #[arg(long, value_name = "NAME=VALUE")]
    pub cookie: Vec<String>,
    /// Ask for a compressed answer. It is not unpacked; the bytes received are counted.
    #[arg(long, conflicts_with = "expect_body")]
    pub compressed: bool,
    /// Right statuses, as 200,404 or 2xx; by default 200 to 399.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::statuses)]
    pub expect_status: Vec<Statuses>,
    /// The right body, byte by byte.
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Option<String>,
    /// A text that a right body holds; may be given several times.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["expect_body", "compressed"])]
    pub expect_contains: Vec<String>,
    /// A value that the JSON of a right body has, by its pointer (RFC 6901): /data/id=7, or
    /// /errors=null for null or nothing; may be given several times. Each answer is parsed.
    #[arg(long, value_name = "POINTER=VALUE", value_parser = JsonValue::parse, conflicts_with_all = ["compressed"])]
    pub expect_json: Vec<JsonValue>,
}

/// The requests of a file.
#[derive(Debug, Args)]
pub struct FileArguments {
    /// Send the requests of a file in turn: vegeta's HTTP format, or JSON lines (pippin help requests).
    /// - reads them from standard input, up to 256 MiB, to the end before the load begins.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["urls_from_file", "method", "body", "json_body", "form", "data_urlencode", "expect_body", "expect_contains", "expect_json"])]
    pub requests: Option<PathBuf>,
    /// Request the URLs or paths of a file in turn; one on each line. - is standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["method", "body", "json_body", "form", "data_urlencode", "expect_body", "expect_contains", "expect_json"])]
    pub urls_from_file: Option<PathBuf>,
    /// Let each user go through the steps of a file in order, with its own values and checks
    /// (pippin help scenarios). Give it several times for a mix: FILE:70 is a weight of 70 among
    /// all walks, FILE:users=14 is 14 users; without either, all have the same weight.
    #[arg(long, value_name = "FILE[:SHARE]", value_parser = Named::parse, value_hint = ValueHint::FilePath, conflicts_with_all = ["requests", "urls_from_file", "method", "body", "json_body", "form", "data_urlencode", "expect_body", "expect_contains", "expect_json"])]
    pub scenario: Vec<Named>,
}
