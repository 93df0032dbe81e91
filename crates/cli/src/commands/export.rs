//! `pippin export`
use pippin_report::svg::Ground;
use pippin_report::{csv, hlog, html, json, markdown, png, prometheus, svg, view::View};
use std::io::IsTerminal;

use super::{Shared, print};
use crate::arguments::{ExportArguments, Form};
use crate::exit::{self, CliError};

pub fn run(shared: &Shared, arguments: &ExportArguments) -> Result<u8, CliError> {
    check(arguments)?;
    let record = shared.store()?.load(&arguments.run)?;
    let view = View::of(&record);
    let bytes = match arguments.format {
        Form::Markdown => markdown::of(&view).into_bytes(),
        Form::Csv => csv::of(&view).into_bytes(),
        Form::Json => {
            json::of(&view).map_err(|error| CliError::User(error.to_string()))?.into_bytes()
        }
        Form::Record => (serde_json::to_string(&record)
            .map_err(|error| CliError::Io("write JSON".into(), error.into()))?
            + "\n")
            .into_bytes(),
        Form::Hlog => {
            hlog::of(&record).map_err(|error| CliError::User(error.to_string()))?.into_bytes()
        }
        Form::Prometheus => prometheus::of(&view).into_bytes(),
        Form::Html => html::page(&view).into_bytes(),
        Form::Svg | Form::Png => chart(&view, arguments)?,
    };
    match &arguments.out {
        Some(path) => std::fs::write(path, bytes)
            .map_err(CliError::io(format!("write {}", path.display())))
            .map(|()| exit::OK),
        None => print(&bytes),
    }
}

fn check(arguments: &ExportArguments) -> Result<(), CliError> {
    let is_chart = matches!(arguments.format, Form::Svg | Form::Png);
    if arguments.chart.is_some() && !is_chart {
        return Err(CliError::User("--chart goes with --format svg or png".into()));
    }
    if arguments.format == Form::Png && arguments.out.is_none() && std::io::stdout().is_terminal() {
        return Err(CliError::User(
            "a picture is nothing for a terminal; name a file with --out".into(),
        ));
    }
    Ok(())
}

fn chart(view: &View, arguments: &ExportArguments) -> Result<Vec<u8>, CliError> {
    let form = if arguments.format == Form::Png { "png" } else { "svg" };
    let name = arguments.chart.as_deref();
    let name = name.ok_or_else(|| {
        CliError::User(format!(
            "--format {form} needs --chart with one of {}",
            svg::names(view).join(", ")
        ))
    })?;
    let ground = if arguments.dark { Ground::Dark } else { Ground::Light };
    match arguments.format {
        Form::Png => png::of(view, name, ground).map_err(|error| CliError::User(error.to_string())),
        _ => svg::of(view, name, ground)
            .map(String::into_bytes)
            .map_err(|error| CliError::User(error.to_string())),
    }
}
