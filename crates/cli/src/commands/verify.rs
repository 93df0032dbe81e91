//! `pippin verify`
use pippin_model::text::bounded;
use pippin_report::verify::verify;

use super::print_text;
use crate::arguments::VerifyArguments;
use crate::exit::{self, CliError};

pub fn run(arguments: &VerifyArguments) -> Result<u8, CliError> {
    let name = arguments.file.display();
    let text = bounded::text(&arguments.file, bounded::DATA)
        .map_err(|error| CliError::User(format!("{name}: {error}")))?;
    let verified = verify(&text).map_err(|error| CliError::User(format!("{name} is {error}")))?;
    let read = print_text(&verified.words())?;
    let agrees = verified.disagreements.is_empty();
    Ok(exit::worst(read, if agrees { exit::OK } else { exit::FAILED }))
}
