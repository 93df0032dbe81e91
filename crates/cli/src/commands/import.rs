//! `pippin import`: from files of other programs to a file of requests as JSON lines.
use flate2::read::MultiGzDecoder;
use pippin_model::request::import::{Imported, access_log, curl, har, openapi, postman};
use pippin_model::request::request_file::{FileRequest, json_lines};
use pippin_model::request::requests::is_secret;
use pippin_model::text::bounded;
use pippin_model::text::file::FileError;
use pippin_model::text::units::counted;
use std::io::IsTerminal;
use std::path::Path;

use crate::arguments::{ImportArguments, ImportCommand};
use crate::exit::{self, CliError};
use crate::output::{print, say};
use crate::output_file;

pub fn run(command: &ImportCommand) -> Result<u8, CliError> {
    let arguments = command.arguments();
    let text = read(&arguments.file)?;
    let imported = match command {
        ImportCommand::Har(_) => har::parse(&text),
        ImportCommand::AccessLog(_) => access_log::parse(&text),
        ImportCommand::Curl(_) => curl::parse(&text, &mut named),
        ImportCommand::Openapi(_) => openapi::parse(&text),
        ImportCommand::Postman(postman) => {
            postman::parse(&text, &postman.variables.iter().cloned().collect())
        }
    };
    let imported = imported.map_err(|(line, message)| {
        let path = arguments.file.clone();
        CliError::User(FileError::Content { path, line: Some(line), message }.to_string())
    })?;
    let imported = imported.only(arguments.host.as_deref()).map_err(CliError::User)?;
    if imported.requests.is_empty() {
        let why = imported.left_out_in_words();
        return Err(CliError::User(format!(
            "{} holds no request that can be sent again; left out: {}",
            arguments.file.display(),
            if why.is_empty() { "nothing, it is empty".into() } else { why.join(", ") }
        )));
    }
    write(arguments, &imported.requests)?;
    tell(arguments, &imported);
    Ok(exit::OK)
}

/// A file that a command names. As in curl, relative paths begin at the current folder.
fn named(name: &str) -> Result<Vec<u8>, String> {
    bounded::read(Path::new(name), bounded::DATA).map_err(|error| format!("{name}: {error}"))
}

fn read(path: &Path) -> Result<String, CliError> {
    let bytes = if path.as_os_str() == "-" {
        bounded::up_to(std::io::stdin().lock(), bounded::DATA)
    } else {
        bounded::read(path, bounded::DATA)
    };
    let unreadable = |error| CliError::User(format!("{}: {error}", path.display()));
    let mut bytes = bytes.map_err(unreadable)?;
    // The two bytes with which gzip begins (RFC 1952 section 2.3.1).
    if bytes.starts_with(&[0x1f, 0x8b]) {
        bytes =
            bounded::up_to(MultiGzDecoder::new(&bytes[..]), bounded::DATA).map_err(unreadable)?;
    }
    // Access logs may contain any bytes that clients sent.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(arguments: &ImportArguments, requests: &[FileRequest]) -> Result<(), CliError> {
    let lines: String = requests.iter().map(|asked| json_lines::write(asked) + "\n").collect();
    match &arguments.out {
        Some(path) => output_file::write(path, lines),
        None => print(lines.as_bytes()).map(|_| ()),
    }
}

/// Prints what was left out and how to use the file.
fn tell(arguments: &ImportArguments, imported: &Imported) {
    for why in imported.left_out_in_words() {
        say(format_args!("left out: {why}"));
    }
    let mut headers = imported.requests.iter().flat_map(|request| &request.headers);
    if headers.any(|(name, _)| is_secret(name)) {
        say(
            "the requests contain cookies or credentials of the person who recorded them: keep the file private",
        );
    }
    if let Some(path) = &arguments.out {
        say(format_args!(
            "{} in {file}; to send: pippin load http://HOST:PORT --requests {file}",
            counted(imported.requests.len() as u64, "request"),
            file = path.display()
        ));
    } else if std::io::stdout().is_terminal() {
        say("write them to a file with --out FILE");
    }
}
