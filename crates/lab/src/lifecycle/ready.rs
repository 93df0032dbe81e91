//! Readiness, found out by asking.
use std::time::{Duration, Instant};

use super::supervised::Supervised;
use crate::error::LabError;
use crate::running::way::Way;
use crate::target::keys::{Keys, Topic};
use crate::verify::http::{Client, Request};
use pippin_model::trial::{Exit, Failure, Stage};

/// Asks for `path` until an answer with a status below 500 comes; how long that took. Messages name
/// these keys.
///
/// # Errors
/// A target failure if the process ends first, or the limit passes; interruption.
pub fn wait_until_ready(
    process: &mut Supervised,
    way: &Way,
    path: &str,
    limit: Duration,
    keys: Keys<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Duration, LabError> {
    let begin = Instant::now();
    let mut last = String::from("nobody listens");
    loop {
        if interrupted() {
            return Err(LabError::Interrupted);
        }
        if let Some(exit) = process.ended() {
            return Err(ended(process, exit, way, keys));
        }
        match ask(way, path) {
            Ok(status) if status < 500 => {
                let start_up = begin.elapsed();
                // If it has started a daemon and ended, the daemon may answer before that end is
                // known.
                return match process.wait(Duration::from_millis(100), interrupted)? {
                    Some(exit) => Err(ended(process, exit, way, keys)),
                    None => Ok(start_up),
                };
            }
            Ok(status) => last = format!("GET {path} answered {status}"),
            Err(message) => last = if message.contains("refused") { last } else { message },
        }
        if begin.elapsed() > limit {
            let seconds = limit.as_secs();
            let scheme = if way.tls.is_some() { "https" } else { "http" };
            let address = way.place();
            let hint = keys.about(Topic::Ready).map_or(String::new(), |it| format!("; see {it}"));
            return Err(failure(
                process,
                Stage::Ready,
                format!("not ready after {seconds} s at {scheme}://{address}{path}: {last}{hint}"),
            ));
        }
        std::thread::sleep(Duration::from_millis(25));
    }
}

fn ended(process: &Supervised, exit: Exit, way: &Way, keys: Keys<'_>) -> LabError {
    let address = way.place();
    let hint = if exit == Exit::Code(0) {
        let place = keys.about(Topic::Command).map_or(String::new(), |it| format!(" ({it})"));
        format!("; a server must stay in the foreground and not daemonise{place}")
    } else {
        String::new()
    };
    failure(process, Stage::Start, format!("it {exit} before it listened on {address}{hint}"))
}

fn ask(way: &Way, path: &str) -> Result<u16, String> {
    let mut client = Client::connect(way, Duration::from_secs(2))?;
    client.exchange(&Request::get(path).closing()).map(|answer| answer.status)
}

fn failure(process: &Supervised, stage: Stage, message: String) -> LabError {
    LabError::Target(Failure { stage, message, log_tail: process.log_tail(15) })
}
