//! Readiness, found out by asking.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::descendants::command_line;
use super::elsewhere::{Elsewhere, FIRST_LOOK};
use super::supervised::Supervised;
use super::supervisor;
use crate::error::LabError;
use crate::running::way::Way;
use crate::target::keys::{Keys, Topic};
use crate::verify::http::{Client, Request};
use pippin_engine::refuses_protocol;
use pippin_model::target::manifest::Ready;
use pippin_model::trial::{Exit, Failure, Stage};
use pippin_probe::server;

/// How long a start is watched after its right answer: a daemon may answer before the end of its
/// starter is known.
const DAEMON: Duration = Duration::from_millis(100);

/// How long after an attempt the next one begins: the resolution of the time that is told.
const AGAIN: Duration = Duration::from_millis(5);

/// Asks until the right answer comes, for at most its time; how long that took. Messages name these
/// keys. Who answers at another address instead is told so after a few seconds.
///
/// # Errors
/// A target failure if the process ends first, the limit passes, or it listens elsewhere;
/// interruption.
pub fn wait_until_ready(
    process: &mut Supervised,
    way: &Way,
    ready: &Ready,
    keys: Keys<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Duration, LabError> {
    let (begin, limit) = (Instant::now(), ready.limit());
    let mut last = String::from("nobody listens");
    let mut elsewhere = Elsewhere::default();
    loop {
        if interrupted() {
            return Err(LabError::Interrupted);
        }
        if let Some(exit) = process.ended() {
            return Err(ended(process, exit, way, keys));
        }
        match ask(way, &ready.path) {
            Ok(status) if ready.is_shown_by(status) => {
                let start_up = begin.elapsed();
                if let Some(message) = answered_by_another(process, way) {
                    return Err(failure(process, Stage::Start, message));
                }
                return match process.wait(DAEMON, interrupted)? {
                    Some(exit) => Err(ended(process, exit, way, keys)),
                    None => Ok(start_up),
                };
            }
            Ok(status) => last = answered(ready, status),
            Err(message) => last = if message.contains("refused") { last } else { message },
        }
        let is_over = begin.elapsed() > limit;
        if !way.is_unix() && (is_over || begin.elapsed() > FIRST_LOOK) {
            let answers = |address: SocketAddr| {
                let status = ask(&way.at(address), &ready.path);
                status.is_ok_and(|it| ready.is_shown_by(it) && !refuses_protocol(it))
            };
            if let Some(message) = elsewhere.look(process, way.address(), is_over, &answers) {
                return Err(failure(process, Stage::Ready, message));
            }
        }
        if is_over {
            let seconds = limit.as_secs();
            let scheme = if way.tls.is_some() { "https" } else { "http" };
            let (address, path) = (way.place(), &ready.path);
            let hint = keys.about(Topic::Ready).map_or(String::new(), |it| format!("; see {it}"));
            return Err(failure(
                process,
                Stage::Ready,
                format!("not ready after {seconds} s at {scheme}://{address}{path}: {last}{hint}"),
            ));
        }
        std::thread::sleep(AGAIN);
    }
}

/// What to say where the target of another Pippin took the port before this one listens. It may answer
/// rightly, as both may be the same server.
fn answered_by_another(process: &Supervised, way: &Way) -> Option<String> {
    if way.is_unix() {
        return None;
    }
    let own = process.supervisor_pid();
    let is_supervisor = |pid: i32| {
        command_line(pid)
            .is_some_and(|line| line.split(' ').any(|word| word == supervisor::COMMAND))
    };
    let (pid, name) = server::held_for_another(way.address(), own, &is_supervisor)?;
    Some(format!(
        "{name} (process {pid}), which another Pippin started, answers at {}; try again, and another port is chosen",
        way.place()
    ))
}

fn answered(ready: &Ready, status: u16) -> String {
    let wanted = ready.status.map_or(String::new(), |wanted| format!(" and not {wanted}"));
    format!("GET {} answered {status}{wanted}", ready.path)
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
