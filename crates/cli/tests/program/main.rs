//! The program as its users see it: real processes, real sockets, no network.
//!
//! | module | what it holds |
//! |---|---|
//! | `support` | temporary checkouts, starting Pippin and inspecting what it left |
//! | `proofs` | one cheat for each proof, named by `targets check` and by `run`; the server that behaves passes |
//! | `explained` | servers with known limits, and their explanations |
//! | `verdicts` | VALID, SUSPECT and INVALID with their exit codes, on scripted hosts |
//! | `lifecycle` | targets that exit, hang, crash, fork, ignore signals; no process survives |
//! | `interruption`, `kills` | Ctrl-C and kill -9 in the middle of a run; kill -9 at random instants |
//! | `rounds` | rounds of slices that are stopped, in which a target dies, or for which memory is short |
//! | `goals` | runs and comparisons that go on until their figures are known |
//! | `life` | the life of targets: a server that loses requests when it is stopped, one that does not come back |
//! | `errors`, `files` | mistakes on the command line and in hand-written files: exit code, place and fix |
//! | `busy` | busy loops beside loads and plans; a generator that was stopped |
//! | `branches`, `given` | `pippin compare` of two branches of a target; of URLs, commands and images |
//! | `scans` | `pippin compare --with`: values of a parameter |
//! | `containers` | `--image` with real containers, if podman can start them |
//! | `project` | `pippin.toml`: your own server, its plans, gates and revisions; `pippin init` |
//! | `first_hour` | the usual template of each platform, from `init` to a gate that fails |
//! | `ci` | `pippin ci`: a checkout against its base |
//! | `action` | the scripts of the GitHub action |
//! | `checking` | `targets check` of many targets |
//! | `installation` | tools, steps, routes, consent |
//! | `under_way` | `pippin serve` beside a run |
//! | `load` | `pippin load` against servers whose behaviour is known |
//! | `mcp` | programs that let a model measure |
//! | `shapes` | rates that change, loads that end early, figures of each second |
//! | `samples` | a row for each request, beside the server's log |
//! | `mixes` | several scenarios in one load |
//! | `walks` | scenarios at a URL, in a project, side by side |
//! | `profiled` | `run --explain` |
//! | `instructions` | instructions per request, of servers whose work is known |
//! | `rates` | plans at several rates, against servers whose use of the processor is known |
//! | `networks` | loads through a simulated network |
//! | `overload` | plans that go beyond the capacity of servers that shed, queue or collapse |
//! | `https` | loads over TLS |
//! | `servers` | servers that people run, and whoever works behind them; what is missing here is skipped |
//! | `digest` | loads that say who asks by a digest, with Python, curl and Apache as judges |
//! | `proxies` | loads through HTTP proxies, with curl and tinyproxy as judges |
//! | `reach` | loads over unix sockets, to other places, with client certificates |
//! | `protocols` | plans and targets over HTTP/2 and TLS |
//! | `websocket` | WebSockets, and the flags that are refused with them |
//! | `fleet` | several agents as one generator on this machine, and on three hosts with faults |
//! | `services` | a database that the user gave |
//! | `worlds` | services, databases and commands around the starts of the user's own server |
//! | `site` | `verify` and `site` with real runs |
//! | `store` | read-only stores, full disks |
//! | `streams` | output that nobody reads or that is full, signals that were blocked |
//! | `colours` | escape sequences on terminals that know them, and on those that do not |
//! | `anywhere` | outside of a checkout: the catalog inside the binary, completions |
//! | `help` | help, completions, man page |
#![allow(clippy::unwrap_used, clippy::expect_used)] // a failure here is the test's message

mod action;
mod anywhere;
mod branches;
mod busy;
mod checking;
mod ci;
mod colours;
mod containers;
mod curl;
mod digest;
mod errors;
mod explained;
mod files;
mod first_hour;
mod first_minute;
mod fleet;
mod given;
mod goals;
mod help;
mod http2;
mod http3;
mod https;
mod installation;
mod instructions;
mod interruption;
mod kills;
mod life;
mod lifecycle;
mod limits;
mod load;
mod mcp;
mod mixes;
mod networks;
mod overload;
mod profiled;
mod project;
mod proofs;
mod protocols;
mod proxies;
mod rates;
mod reach;
mod request_ids;
mod requests;
mod rounds;
mod samples;
mod scans;
mod servers;
mod services;
mod shapes;
mod site;
mod store;
mod streams;
mod support;
mod under_way;
mod verdicts;
mod walks;
mod warming;
mod websocket;
mod worlds;
