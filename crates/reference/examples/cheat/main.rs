//! A server that serves every workload rightly, or cheats, misbehaves or is odd in the one way that
//! its first argument names (`pippin_reference::corpus`): what the tests of proofs and lifecycle
//! start as a target.
//!
//! `cheat MODE[:NUMBER] MARKER...` reads `HOST`, `PORT`, `DATABASE_URL`, `UPSTREAM_URL` and
//! `ITEMS_FILE` or `STATIC_FOLDER` as every target does. The marker serves the tests only: they look for processes that have it in their
//! command line.
#![allow(clippy::print_stdout, clippy::print_stderr)] // not a part of the program
mod compressed;
mod crud;
mod device;
mod events;
mod files;
mod http;
mod json;
mod lifecycle;
mod messages;
mod oddities;
mod outside;
mod page;
mod shared;
mod upload;
mod upstream;
mod users;

use http::{Answer, Request};
use pippin_reference::corpus;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How this server behaves.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    name: &'static str,
    number: u64,
}

impl Mode {
    fn from_arguments() -> Self {
        let text = std::env::args().nth(1).unwrap_or_default();
        let (name, number) = text.split_once(':').unwrap_or((&text, "0"));
        let known = corpus::modes().find(|mode| *mode == name);
        match (known, number.parse()) {
            (Some(name), Ok(number)) => Self { name, number },
            _ => {
                eprintln!("cheat: `{text}` is no mode");
                std::process::exit(64);
            }
        }
    }

    /// Behaves as this mode, without a number.
    pub const fn from_name(name: &'static str) -> Self {
        Self { name, number: 0 }
    }

    /// Whether it behaves in this way.
    pub fn is(self, name: &str) -> bool {
        self.name == name
    }

    /// The number behind the colon.
    pub fn number(self) -> u64 {
        self.number
    }
}

fn main() {
    let mode = Mode::from_arguments();
    lifecycle::before_listening(mode);
    outside::before_listening(mode);
    let listener = lifecycle::listen(mode);
    outside::after_listening(mode, &listener);
    serve(listener, mode);
}

/// Serves on this socket until the process is ended.
fn serve(listener: TcpListener, mode: Mode) {
    let server = Server {
        mode,
        requests: AtomicU64::new(0),
        users: users::Users::default(),
        upstream: upstream::Upstream::default(),
        permits: device::Permits::new(device::threads(mode)),
        remembered: Mutex::default(),
    };
    http::serve(listener, mode, Box::leak(Box::new(server)));
}

/// What the answers are made from.
pub struct Server {
    mode: Mode,
    requests: AtomicU64,
    users: users::Users,
    upstream: upstream::Upstream,
    permits: device::Permits,
    /// Names, or how they begin, by their encoded form.
    remembered: Mutex<BTreeMap<String, String>>,
}

impl Server {
    fn answer(&self, request: &Request) -> Answer {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        lifecycle::on_request(self.mode, number);
        if self.mode.is("answers-500") {
            return Answer { status: 500, ..Answer::text("cannot reach the cache") };
        }
        if self.mode.is("slow") {
            std::thread::sleep(std::time::Duration::from_millis(self.mode.number()));
        }
        oddities::before_answering(self.mode, number);
        oddities::serve_within_limits(self.mode);
        outside::before_answering(self.mode);
        let mut answer = self.right(request);
        let is_wrong = match self.mode {
            mode if mode.is("wrong-after") => number > mode.number(),
            // Proofs ask before and after the load.
            mode if mode.is("wrong-when-asked-again") => oddities::came_too_often(&request.path),
            _ => false,
        };
        if is_wrong {
            answer.body.reverse();
        }
        let is_wrong_type = match self.mode {
            mode if mode.is("wrong-type-for-a-while") => (150..450).contains(&number),
            mode if mode.is("wrong-type-but-each-100th") => request.nth % 100 != 1,
            _ => false,
        };
        if is_wrong_type {
            answer.content_type = "text/html";
        }
        answer
    }

    fn right(&self, request: &Request) -> Answer {
        let mode = self.mode;
        match request.path.as_str() {
            "/" => Answer::text("Hello World!"),
            "/api/users/" => self.users.answer(mode, request.nth),
            "/api/proxy/" => self.upstream.answer(mode),
            "/device" => device::answer(mode, &self.permits),
            path => match (
                path.strip_prefix("/hola/"),
                path.strip_prefix("/page/").and_then(|n| n.parse().ok()),
            ) {
                (Some(name), _) => self.hola(request, name),
                (None, Some(n)) if mode.is("page-prepared") && n > 1_000 => {
                    Answer { status: 404, ..Answer::text("not found") }
                }
                (None, Some(n)) => page::answer(mode, n, request.nth),
                _ if path.starts_with("/messages?add=") => {
                    let added = path.split_once('=').unwrap_or_default().1;
                    messages::answer(mode, &self.users, added)
                }
                _ if path.starts_with("/products") => crud::answer(mode, &self.users, request),
                _ if path.starts_with("/json/") => {
                    let missing = || Answer { status: 404, ..Answer::text("not found") };
                    json::answer(mode, request).unwrap_or_else(missing)
                }
                _ if path.starts_with("/static/") => {
                    let missing = || Answer { status: 404, ..Answer::text("not found") };
                    files::answer(mode, request).unwrap_or_else(missing)
                }
                _ if mode.is("unknown-path-200") => Answer::text("welcome"),
                _ => Answer { status: 404, ..Answer::text("not found") },
            },
        }
    }
}

impl Server {
    fn hola(&self, request: &Request, name: &str) -> Answer {
        match self.mode {
            mode if mode.is("remembers") => {
                let mut answers = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
                let make = || http::percent_decode(name);
                Answer::text(&format!("Hola {}", answers.entry(name.into()).or_insert_with(make)))
            }
            mode if mode.is("hola-begins-remembered") && name.len() > 8 => {
                let (begin, end) = name.split_at(name.len() - 8);
                if !end.bytes().all(|byte| byte.is_ascii_lowercase()) {
                    return hola(mode, name);
                }
                let mut begins = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
                let make = || http::percent_decode(begin);
                let begin = begins.entry(begin.into()).or_insert_with(make);
                Answer::text(&format!("Hola {begin}{end}"))
            }
            mode if mode.is("table-when-closing") && request.close => {
                Answer::text(&format!("Hola {}", from_the_table(name)))
            }
            mode => hola(mode, name),
        }
    }
}

fn hola(mode: Mode, name: &str) -> Answer {
    let name = match mode.name {
        "fixed-body" => "Ana".to_string(),
        "no-decoding" => name.to_string(),
        "names-from-a-table" => from_the_table(name),
        _ => http::percent_decode(name),
    };
    let answer = Answer::text(&format!("Hola {name}"));
    if mode.is("wrong-type") { Answer { content_type: "text/html", ..answer } } else { answer }
}

/// The names of the workload file; others as they came.
fn from_the_table(name: &str) -> String {
    const KNOWN: [&str; 20] = [
        "Ana",
        "Luis",
        "José",
        "Zoë",
        "Marta",
        "Søren",
        "Iñigo",
        "Bob",
        "Łukasz",
        "Chloé",
        "Max",
        "Jürgen",
        "Eva",
        "Ναυσικά",
        "Юрий",
        "美咲",
        "O'Neil",
        "Ana María",
        "a+b",
        "50%",
    ];
    let decoded = http::percent_decode(name);
    if KNOWN.contains(&decoded.as_str()) { decoded } else { name.to_string() }
}
