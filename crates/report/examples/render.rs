//! Renders the made-up runs of the tests into a folder, to be looked at: `cargo run -p
//! pippin-report --example render -- FOLDER [NAME...]`; without names all of them.
#![allow(clippy::unwrap_used, clippy::expect_used)] // unwrap is how a test fails
use pippin_model::example::run as example;
use pippin_model::run::RunRecord;
use pippin_model::verdict::Verdict;
use pippin_report::form::svg::Ground;
use pippin_report::terminal::{Style, table};
use pippin_report::view::View;
use std::error::Error;
use std::path::PathBuf;

/// All results are INVALID, for the reason of the one that is.
fn invalid() -> RunRecord {
    let mut record = example::hello();
    let found = record.trials.iter().find(|trial| trial.verdict == Verdict::Invalid);
    let caveats = found.expect("one is INVALID").caveats.clone();
    for trial in &mut record.trials {
        trial.caveats = caveats.clone();
        trial.verdict = Verdict::Invalid;
    }
    record
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name the folder to write into")?);
    let wanted: Vec<String> = arguments.collect();
    std::fs::create_dir_all(&folder)?;
    let others: [(&str, example::Make); 4] = [
        ("twenty", example::twenty),
        ("load", example::load),
        ("failed", example::all_failed),
        ("invalid", invalid),
    ];
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    for (name, record) in
        example::OF_EVERY_KIND.into_iter().chain(others).filter(|(name, _)| is_wanted(name))
    {
        let record = record();
        let view = View::of(&record);
        std::fs::write(folder.join(format!("{name}.80.txt")), table(&view, &Style::plain(80)))?;
        std::fs::write(
            folder.join(format!("{name}.md")),
            pippin_report::form::markdown::render(&view),
        )?;
        std::fs::write(
            folder.join(format!("{name}.csv")),
            pippin_report::form::csv::render(&view),
        )?;
        std::fs::write(
            folder.join(format!("{name}.json")),
            pippin_report::form::json::render(&view)?,
        )?;
        std::fs::write(
            folder.join(format!("{name}.prom")),
            pippin_report::form::prometheus::render(&view),
        )?;
        std::fs::write(
            folder.join(format!("{name}.hlog")),
            pippin_report::form::hlog::render(&record)?,
        )?;
        for chart in pippin_report::form::svg::names(&view) {
            std::fs::write(
                folder.join(format!("{name}.{chart}.svg")),
                pippin_report::form::svg::render(&view, &chart, Ground::Light)?,
            )?;
            // Pictures of one run are enough to look at, and take their time in a debug build.
            for (ground, kind) in [(Ground::Light, "png"), (Ground::Dark, "dark.png")]
                .into_iter()
                .filter(|_| name == "hello")
            {
                std::fs::write(
                    folder.join(format!("{name}.{chart}.{kind}")),
                    pippin_report::form::png::FORM.render(&record, Some((&chart, ground)))?,
                )?;
            }
        }
        std::fs::write(folder.join(format!("{name}.html")), pippin_report::html::page(&view))?;
        std::fs::write(folder.join(format!("{name}.120.txt")), table(&view, &Style::plain(120)))?;
    }
    Ok(())
}
