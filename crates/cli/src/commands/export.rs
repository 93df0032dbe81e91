//! `pippin export`
use pippin_report::{csv, hlog, html, json, markdown, prometheus, svg, view::View};

use super::{Shared, print, root};
use crate::arguments::{ExportArguments, Form};
use crate::exit::{self, CliError};

pub fn run(shared: &Shared, arguments: &ExportArguments) -> Result<u8, CliError> {
    let record = shared.store(&root()?)?.load(&arguments.run)?;
    let view = View::of(&record);
    if arguments.chart.is_some() && arguments.format != Form::Svg {
        return Err(CliError::User("--chart goes with --format svg".into()));
    }
    let text = match arguments.format {
        Form::Markdown => markdown::of(&view),
        Form::Csv => csv::of(&view),
        Form::Json => json::of(&view).map_err(|error| CliError::User(error.to_string()))?,
        Form::Record => serde_json::to_string(&record).map_err(|error| CliError::Io("write JSON".into(), error.into()))? + "\n",
        Form::Hlog => hlog::of(&record).map_err(|error| CliError::User(error.to_string()))?,
        Form::Prometheus => prometheus::of(&view),
        Form::Html => html::page(&view),
        Form::Svg => chart(&view, arguments.chart.as_deref())?,
    };
    match &arguments.out {
        Some(path) => std::fs::write(path, text).map_err(CliError::io(format!("write {}", path.display()))).map(|()| exit::OK),
        None => print(text.as_bytes()),
    }
}

fn chart(view: &View, name: Option<&str>) -> Result<String, CliError> {
    let name = name.ok_or_else(|| CliError::User(format!("--format svg needs --chart with one of {}", svg::names(view).join(", "))))?;
    svg::of(view, name).map_err(|error| CliError::User(error.to_string()))
}
