//! `pippin report`
use pippin_report::{html, terminal, view::View};

use super::{Shared, print};
use crate::arguments::ReportArguments;
use crate::exit::{self, CliError};

pub fn run(shared: &Shared, arguments: &ReportArguments) -> Result<u8, CliError> {
    let view = View::of(&shared.store()?.load(&arguments.run)?);
    if let Some(file) = &arguments.html {
        std::fs::write(file, html::page(&view))
            .map_err(CliError::io(format!("write {}", file.display())))?;
        return Ok(exit::OK);
    }
    print(terminal::table(&view, &terminal::Style::of_stdout()).as_bytes())
}
