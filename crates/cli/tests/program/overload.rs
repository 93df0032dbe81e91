//! Plans that go beyond the capacity of servers whose behaviour there is known. Each answers 100
//! requests/s.
use super::support::{Outcome, pippin};
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Answer, Received, Script, spawn};
use std::time::{Duration, Instant};

pippin_testing::patient_tests!(
    servers_that_shed_are_told_and_their_capacities_found,
    a_server_that_queues_is_told,
    a_server_that_collapses_is_told
);

const EACH: Duration = Duration::from_millis(10);

/// What a server answers to a request that comes at this instant.
type Behaviour = Box<dyn FnMut(Instant) -> Answer + Send>;

/// Runs a plan against servers with these names and behaviours; `capacity` is the line of the plan
/// that tells how their capacity is known.
fn beyond<const N: usize>(servers: [(&str, Behaviour); N], capacity: &str) -> Outcome {
    let names = servers.each_ref().map(|(name, _)| format!("{name:?}")).join(", ");
    let servers = servers.map(|(name, mut answer)| {
        let script = Script::each(move |_: &Received<'_>, _| answer(Instant::now()));
        (name, spawn(script).unwrap())
    });
    let urls = servers
        .each_ref()
        .map(|(name, server)| format!("[target.{name}]\nurl = \"http://{}\"\n", server.address()))
        .concat();
    let folder = tempfile::tempdir().unwrap();
    let project = format!(
        "{urls}[workload.home]\nrequest = {{ path = \"/\" }}\nanswer = {{ body = \"hello\" }}\n[plan.beyond]\nworkload = \"home\"\ntargets = [{names}]\nrepetitions = 1\nprofile = {{ kind = \"overload\", {capacity}, connections = 64, duration = \"3s\", recovery = \"6s\", patience = \"1s\" }}\ncpus = {{ share = true }}\n",
    );
    std::fs::write(folder.path().join("pippin.toml"), project).unwrap();
    let outcome = pippin(folder.path(), &["run", "beyond"]);
    let json = pippin(folder.path(), &["export", "latest", "--format", "json"]);
    Outcome { stderr: format!("{}{}", outcome.stderr, json.stderr), ..outcome }
}

/// A queue: the server works on one request after the other. Holds the instant at which a new one
/// would begin.
struct Line {
    free: Instant,
}

impl Line {
    /// How long a request takes, with the wait before it, if its own work takes this long.
    fn join(&mut self, now: Instant, work: Duration) -> Duration {
        self.free = self.free.max(now) + work;
        self.free - now
    }

    /// How many requests of the usual length are ahead of a new one.
    fn ahead(&self, now: Instant) -> u32 {
        (self.free.saturating_duration_since(now).as_millis() / EACH.as_millis()) as u32
    }
}

/// A request behind more than five others is refused.
fn shedding() -> Behaviour {
    let mut line = Line { free: Instant::now() };
    Box::new(move |now| {
        if line.ahead(now) > 5 {
            return Answer::new(503, b"busy");
        }
        // A long delay, so that the generator's own lateness on a busy machine does not matter.
        Answer::ok(b"hello").delay(line.join(now, EACH) + Duration::from_millis(60))
    })
}

/// The capacity of each server is searched for, the second one's too.
fn servers_that_shed_are_told_and_their_capacities_found() {
    let outcome = beyond(
        [("shop", shedding()), ("twin", shedding())],
        "objective = \"p99 < 200ms, errors < 1%\", start_rate = 80",
    );
    // The faster of the two comes first, and neither is known to be faster.
    let told = ["own/shop and own/twin", "own/twin and own/shop"]
        .map(|names| format!("{names} shed: at 3 times their capacity"));
    in_time(told.iter().any(|told| outcome.has(told)), || outcome.to_string());
    outcome.says(&["beyond its capacity of ", " requests/s: held", "; capacity: "]);
}

fn a_server_that_queues_is_told() {
    let mut line = Line { free: Instant::now() };
    let queueing = move |now| Answer::ok(b"hello").delay(line.join(now, EACH));
    let outcome = beyond([("shop", Box::new(queueing))], "capacity = 100");
    in_time(outcome.has("own/shop queues: at 3 times its capacity"), || outcome.to_string());
    outcome.says(&["beyond its capacity of 100 requests/s"]);
}

/// Each waiting request makes the work of all others longer, and requests whose client gave up
/// still count.
fn a_server_that_collapses_is_told() {
    let mut line = Line { free: Instant::now() };
    let collapsing = move |now| {
        let crowd = line.ahead(now).min(200);
        Answer::ok(b"hello").delay(line.join(now, EACH + EACH * crowd / 10))
    };
    let outcome = beyond([("shop", Box::new(collapsing))], "capacity = 80");
    in_time(outcome.has("own/shop collapses: at 3 times its capacity"), || outcome.to_string());
    outcome.says(&["its answers were not as before"]);
}
