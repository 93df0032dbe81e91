//! `--follow`: a load whose users follow redirections.
use pippin_model::load::{Request, Scenario};
use pippin_model::scenario::Step;
use pippin_model::scenario::data::{Values, Variable};
use pippin_model::scenario::text::{Piece, Text};

use super::request::LoadRequests;
use crate::arguments::LoadArguments;
use crate::exit::CliError;

/// The name of the value that stands for a brace.
const BRACE: &str = "brace";

/// What is asked, by users who follow redirections if that is asked for. The only request of a load
/// is then the only step of a scenario, because only a user of steps knows where its answer leads.
///
/// # Errors
/// If redirections cannot be followed in this load.
pub fn with_redirections(
    arguments: &LoadArguments,
    asked: LoadRequests,
) -> Result<LoadRequests, CliError> {
    let asked = LoadRequests { follow: arguments.follow.unwrap_or(asked.follow), ..asked };
    if asked.follow == 0 {
        return Ok(asked);
    }
    refuse(arguments, &asked)?;
    if asked.scenario.is_some() {
        return Ok(asked);
    }
    let Some(first) = asked.requests.first() else { return Ok(asked) };
    let (request, scenario) = step(first);
    Ok(LoadRequests { requests: vec![request].into(), scenario: Some(scenario), ..asked })
}

/// Refuses what does not go with it, with what does.
fn refuse(arguments: &LoadArguments, asked: &LoadRequests) -> Result<(), CliError> {
    let protocol = &arguments.protocol;
    let files = &arguments.files;
    let found = [
        (asked.messages.is_some(), "a WebSocket has no redirections: leave it out"),
        (
            protocol.http2.is_asked() || protocol.grpc || protocol.http3,
            "redirections are followed over HTTP/1.1: leave out --http2, --h2c, --http3 and --grpc",
        ),
        (
            files.requests.is_some() || files.urls_from_file.is_some(),
            "goes with one URL, or with --scenario: write the requests of the file as its steps",
        ),
        (
            arguments.shape.pipeline > 1,
            "an answer says what the next request is, so that one is under way at a time: leave out --pipeline",
        ),
        (
            arguments.shape.count.is_some() && arguments.shape.rate.is_some(),
            "give a duration: an arrival is a whole chain of requests",
        ),
    ];
    match found.into_iter().find(|(is_so, _)| *is_so) {
        Some((_, why)) => Err(CliError::User(format!("--follow: {why}"))),
        None if asked.requests.iter().any(|one| str::from_utf8(&one.body).is_err()) => {
            Err(CliError::User("--follow: the body must be text (UTF-8), because a redirection may ask for it again from its user".into()))
        }
        None => Ok(()),
    }
}

/// A request as the only step of a user, who sends what the request alone would send.
fn step(request: &Request) -> (Request, Scenario) {
    let body = String::from_utf8_lossy(&request.body);
    let step = Request {
        target: quoted(&request.target),
        headers: request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), quoted(value)))
            .collect(),
        body: quoted(&body).into_bytes(),
        ..request.clone()
    };
    let scenario = Scenario {
        variables: vec![Variable { name: BRACE.into(), values: Values::OneOf(vec!["{".into()]) }],
        steps: vec![Step {
            name: format!("{} {}", request.method, request.target),
            ..Step::default()
        }],
        ..Scenario::default()
    };
    (step, scenario)
}

/// A text that stands for itself: what would be the place of a value in a step is no such place.
fn quoted(text: &str) -> String {
    let parsed = Text::parse(text);
    let is_itself = match parsed.pieces() {
        [] => true,
        [Piece::Literal(literal)] => literal == text,
        _ => false,
    };
    if is_itself { text.into() } else { text.replace('{', &format!("{{{BRACE}}}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// With `{` for the value of a brace, each text is itself.
        #[test]
        fn a_quoted_text_stands_for_itself(text in "[a-c{}+ ]{0,20}") {
            let mut filled = String::new();
            for piece in Text::parse(&quoted(&text)).pieces() {
                match piece {
                    Piece::Literal(part) => filled += part,
                    Piece::Value { name, .. } => {
                        prop_assert_eq!(name, BRACE);
                        filled.push('{');
                    }
                }
            }
            prop_assert_eq!(filled, text);
        }
    }
}
