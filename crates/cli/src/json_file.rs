//! `--json FILE`: a result for programs, beside the text or in place of it.
use crate::arguments::JsonArguments;
use crate::exit::{self, CliError};
use crate::output::print;
use crate::output_file::{must_be_writable, write};

impl JsonArguments {
    /// Refuses a file that cannot be written, before anything is measured.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn must_be_writable(&self) -> Result<(), CliError> {
        must_be_writable("--json", self.file.as_deref())
    }

    /// Whether the JSON goes to standard output, so that no text may go there.
    pub fn is_stdout(&self) -> bool {
        self.file.as_deref().is_some_and(|file| file.as_os_str() == "-")
    }

    /// Prints the text and writes the JSON, or prints only the JSON.
    ///
    /// # Errors
    /// If one of them cannot be written.
    pub fn show<T, J, E>(&self, text: T, json: J) -> Result<u8, CliError>
    where
        T: FnOnce() -> Result<u8, CliError>,
        J: FnOnce() -> Result<String, E>,
        E: Into<std::io::Error>,
    {
        let json = || match json() {
            Ok(json) => Ok(format!("{}\n", json.trim_end())),
            Err(error) => Err(CliError::Io("write JSON".into(), error.into())),
        };
        if self.is_stdout() {
            return print(json()?.as_bytes());
        }
        // First the text: a disk that is full by now must not hide it.
        let shown = text();
        if let Some(file) = &self.file {
            write(file, json()?)?;
        }
        shown.map(|_| exit::OK)
    }
}
