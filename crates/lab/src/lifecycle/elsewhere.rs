//! A server that listens, but not where Pippin asks: on a port of its own, or on another address.
use pippin_probe::server;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::descendants::{command_line, descendants};
use super::supervised::Supervised;

/// How long after a start the first look is taken.
pub const FIRST_LOOK: Duration = Duration::from_secs(1);
/// The time between two looks. A server may answer at a second port before its main one, so two
/// looks must see the same.
const BETWEEN: Duration = Duration::from_secs(1);

/// Where a server listens instead.
#[derive(Debug, Default)]
pub struct Elsewhere {
    last: Option<(Instant, BTreeSet<SocketAddr>)>,
}

impl Elsewhere {
    /// What to say of a server that does not answer at `asked`, once two looks have seen it answer
    /// elsewhere. `None` if it does not listen elsewhere, or it is too early to say. At the end of
    /// its time (`is_over`) listening is enough. `answers` asks at another address.
    pub fn look(
        &mut self,
        process: &Supervised,
        asked: SocketAddr,
        is_over: bool,
        answers: &dyn Fn(SocketAddr) -> bool,
    ) -> Option<String> {
        if !is_over && self.last.as_ref().is_some_and(|(at, _)| at.elapsed() < BETWEEN) {
            return None;
        }
        let (places, serves) = server::listening_below(process.supervisor_pid(), asked);
        if serves || places.is_empty() {
            self.last = Some((Instant::now(), BTreeSet::new()));
            return None;
        }
        let mut right = places.clone();
        right.retain(|place| answers(server::canonical(*place)));
        let before = self.last.replace((Instant::now(), right.clone()));
        let is_sure = !right.is_empty() && before.is_some_and(|(_, before)| before == right);
        let main = process.main_pid();
        let line = || {
            let lines = std::iter::once(main).chain(descendants(main)).filter_map(command_line);
            lines.collect::<Vec<_>>().join(" ")
        };
        match (is_sure, is_over) {
            (true, _) => Some(in_words(&right, asked, &line())),
            (false, true) => Some(in_words(&places, asked, &line())),
            (false, false) => None,
        }
    }
}

/// Where it listens, where it is asked, and what to write.
fn in_words(places: &BTreeSet<SocketAddr>, asked: SocketAddr, line: &str) -> String {
    let named: Vec<String> = places.iter().map(ToString::to_string).collect();
    let has_port = places.iter().any(|place| place.port() == asked.port());
    let advice = if has_port {
        "let it listen on the address in the variable HOST ({HOST} in its command), or on all addresses".into()
    } else {
        format!("give it the port: {}", how(line))
    };
    format!("your server listens on {}, not on {asked}; {advice}", named.join(" and "))
}

/// How servers are given a port: a word of their command line, and what to write.
const WAYS: [(&str, &str); 16] = [
    ("uvicorn", "`--host {HOST} --port {PORT}` in its command"),
    ("hypercorn", "`--bind {HOST}:{PORT}` in its command"),
    ("gunicorn", "`--bind {HOST}:{PORT}` in its command"),
    ("granian", "`--host {HOST} --port {PORT}` in its command"),
    ("fastapi", "`--host {HOST} --port {PORT}` in its command"),
    ("flask", "`--host {HOST} --port {PORT}` in its command"),
    ("manage.py", "`runserver {HOST}:{PORT} --noreload` in its command"),
    ("http.server", "`python3 -m http.server {PORT} --bind {HOST}`"),
    ("rails", "`--binding {HOST} --port {PORT}` in its command"),
    ("puma", "`--bind tcp://{HOST}:{PORT}` in its command"),
    ("rackup", "`--host {HOST} --port {PORT}` in its command"),
    ("php", "`-S {HOST}:{PORT}` in its command"),
    ("next", "`--hostname {HOST} --port {PORT}` in its command"),
    ("vite", "`--host {HOST} --port {PORT}` in its command"),
    ("dotnet", "env = { ASPNETCORE_URLS = \"http://{HOST}:{PORT}\" }"),
    ("java", "env = { SERVER_PORT = \"{PORT}\" } for Spring, or {PORT} in its command"),
];

fn how(line: &str) -> String {
    let names: Vec<&str> =
        line.split_whitespace().filter_map(|word| word.rsplit('/').next()).collect();
    let way = WAYS.iter().find(|(name, _)| names.contains(name));
    way.map_or_else(
        || {
            "use PORT (it is in the variable PORT, and {PORT} in its command is replaced by it)"
                .into()
        },
        |(_, way)| format!("use PORT, as {way}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(places: &[&str], line: &str) -> String {
        let places = places.iter().map(|it| it.parse().unwrap()).collect();
        in_words(&places, "127.0.0.1:41273".parse().unwrap(), line)
    }

    #[test]
    fn the_place_the_question_and_the_fix_are_named() {
        assert_eq!(
            said(&["[::1]:3999"], "node server.js"),
            "your server listens on [::1]:3999, not on 127.0.0.1:41273; give it the port: use PORT (it is in the variable PORT, and {PORT} in its command is replaced by it)"
        );
        let same_port = said(&["[::1]:41273"], "node server.js");
        assert!(same_port.ends_with("({HOST} in its command), or on all addresses"), "{same_port}");
        for (line, way) in [
            ("/usr/bin/python3 -m flask run", "`--host {HOST} --port {PORT}`"),
            ("dotnet bin/shop.dll", "ASPNETCORE_URLS"),
            ("/opt/jdk/bin/java -jar shop.jar", "SERVER_PORT"),
        ] {
            let said = said(&["127.0.0.1:5000", "127.0.0.1:5001"], line);
            assert!(
                said.contains("127.0.0.1:5000 and 127.0.0.1:5001") && said.contains(way),
                "{said}"
            );
        }
    }
}
