//! `pippin site`
use pippin_model::text::units::{counted, format_bytes};
use pippin_serve::site::{Built, Site, SiteError};

use super::{Shared, catalog, place, print_text};
use crate::arguments::SiteArguments;
use crate::exit::{self, CliError};
use crate::output;

pub fn run(shared: &Shared, arguments: &SiteArguments) -> Result<u8, CliError> {
    let path = shared.store_path()?;
    if !path.exists() {
        return Err(CliError::User(format!(
            "no run is kept in {} yet; `pippin load URL` and `pippin run PLAN` keep theirs",
            path.display()
        )));
    }
    let store = shared.store()?;
    let runs: Vec<String> = if arguments.runs.is_empty() {
        store.list()?.into_iter().map(|run| run.id).collect()
    } else {
        arguments.runs.iter().map(|name| store.resolve(name)).collect::<Result<_, _>>()?
    };
    let catalog = catalog(&place()?)?;
    let site = Site {
        store: &store,
        public: &|header| catalog.public(header).map_err(|error| error.to_string()),
        url: arguments.url.clone(),
    };
    match site.build(&arguments.folder, &runs, &arguments.add) {
        Ok(built) => {
            for left_out in &built.left_out {
                output::say(format_args!("left out: {left_out}"));
            }
            let words = in_words(&built, arguments);
            if shared.quiet { Ok(exit::OK) } else { print_text(&words) }
        }
        Err(error @ SiteError::NotVerified { .. }) => {
            output::say(format_args!("pippin: {error}"));
            Ok(exit::FAILED)
        }
        Err(SiteError::Store(error)) => Err(error.into()),
        Err(SiteError::Io { path, source }) => {
            Err(CliError::Io(path.display().to_string(), source))
        }
        Err(error) => Err(CliError::User(error.to_string())),
    }
}

fn in_words(built: &Built, arguments: &SiteArguments) -> String {
    let others = match built.others {
        0 => String::new(),
        count => format!(" and {} of others", counted(count as u64, "run")),
    };
    let removed = match built.removed {
        0 => String::new(),
        count => format!("; {} removed", counted(count as u64, "stale file")),
    };
    format!(
        "{}{others}: {} ({}) in {}{removed}.\n",
        counted(built.runs as u64, "run"),
        counted(built.files as u64, "file"),
        format_bytes(built.bytes),
        arguments.folder.display()
    )
}
