//! `pippin export`
use pippin_report::form::svg::{self, Ground};
use pippin_report::view::View;
use std::io::IsTerminal;

use super::{Shared, print};
use crate::arguments::ExportArguments;
use crate::exit::{self, CliError};
use crate::output_file;

pub fn run(shared: &Shared, arguments: &ExportArguments) -> Result<u8, CliError> {
    let form = arguments.format;
    if arguments.chart.is_some() && !form.is_chart() {
        return Err(CliError::User("--chart goes with --format svg or png".into()));
    }
    if arguments.dark && !form.is_chart() {
        return Err(CliError::User("--dark goes with --format svg or png".into()));
    }
    let record = shared.store()?.load(&arguments.run)?;
    let ground = if arguments.dark { Ground::Dark } else { Ground::Light };
    let first = || svg::names(&View::of(&record)).into_iter().next();
    let name = match &arguments.chart {
        None if form.is_chart() => first(),
        named => named.clone(),
    };
    let chart = name.as_deref().map(|name| (name, ground));
    let bytes = form.render(&record, chart).map_err(|error| CliError::User(error.to_string()))?;
    match &arguments.out {
        Some(path) => output_file::write(path, bytes).map(|()| exit::OK),
        None if std::io::stdout().is_terminal() && std::str::from_utf8(&bytes).is_err() => {
            Err(CliError::User("a terminal cannot show a picture; name a file with --out".into()))
        }
        None => print(&bytes),
    }
}
