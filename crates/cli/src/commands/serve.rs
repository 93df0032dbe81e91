//! `pippin serve`
use pippin_serve::{ServeError, Server};

use super::Shared;
use crate::arguments::ServeArguments;
use crate::exit::{self, CliError};
use crate::output;
use crate::signals;

pub fn run(shared: &Shared, arguments: &ServeArguments) -> Result<u8, CliError> {
    let stop = signals::catch();
    let server =
        Server::bind(shared.store()?, arguments.bind, arguments.token.clone()).map_err(in_words)?;
    if !shared.quiet {
        output::say(format_args!("http://{} (Ctrl-C ends it)", server.address()));
    }
    server.run(stop).map_err(in_words)?;
    Ok(exit::OK)
}

fn in_words(error: ServeError) -> CliError {
    match error {
        ServeError::Io(source) => CliError::Io("serve".into(), source),
        other => CliError::User(other.to_string()),
    }
}
