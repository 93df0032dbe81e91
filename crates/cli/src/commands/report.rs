//! `pippin report`
use pippin_report::{html, view::View};

use super::{Shared, reference};
use crate::arguments::ReportArguments;
use crate::exit::{self, CliError};
use crate::output_file;

pub fn run(shared: &Shared, arguments: &ReportArguments) -> Result<u8, CliError> {
    let record = shared.store()?.load(&arguments.run)?;
    let reference = reference::among(arguments.reference.as_deref(), &record.header.plan.targets)?;
    let view = View::beside(&record, reference.as_ref());
    if let Some(file) = &arguments.html {
        return output_file::write(file, html::page(&view)).map(|()| exit::OK);
    }
    shared.print_result(&view, &arguments.detail)
}
