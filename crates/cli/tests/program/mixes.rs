//! Several scenarios in one load: at a URL, in a project, at a rate, with agents.
use super::support::{Checkout, Outcome, cheat, pippin};
use pippin_testing::Running;
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use serde_json::Value;

pippin_testing::patient_tests!(a_mix_is_held_at_a_rate);

/// A folder with scenarios of one, two and three steps.
fn folder() -> Checkout {
    let checkout = Checkout::new();
    for (name, steps) in [("browse", 1), ("search", 2), ("buy", 3)] {
        let text: String = (0..steps)
            .map(|nth| format!("[[steps]]\nname = \"page {nth}\"\nget = \"/{name}/{nth}\"\n"))
            .collect();
        checkout.write(&format!("{name}.toml"), &text);
    }
    checkout
}

fn server() -> Running<Account> {
    spawn(Script::each(|_, _| Answer::ok(b"ok"))).unwrap()
}

const MIX: [&str; 6] =
    ["--scenario", "browse.toml:70", "--scenario", "search.toml:25", "--scenario", "buy.toml:5"];

fn load(checkout: &Checkout, server: &Running<Account>, more: &[&str]) -> Outcome {
    let url = format!("http://{}", server.address());
    checkout.pippin(&[&["load", &url, "--json", "result.json"], more].concat())
}

fn result(checkout: &Checkout) -> Value {
    let text = std::fs::read_to_string(checkout.path().join("result.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Name, walks and whole walks of each scenario, and of all.
fn ways(result: &Value) -> Vec<(String, u64, u64)> {
    let of = |way: &Value| {
        let name = way["name"].as_str().unwrap_or("all").to_string();
        (name, way["walks"].as_u64().unwrap(), way["whole"].as_u64().unwrap())
    };
    result["mix"].as_array().unwrap().iter().map(of).collect()
}

/// One user, who sends 400 requests: its walks are those of the seed, each time.
#[test]
fn walks_are_divided_by_weight_with_figures_for_each_and_for_all() {
    let (checkout, server) = (folder(), server());
    let shape = ["-c", "1", "-n", "400"];
    let asked = [&MIX[..], &shape].concat();
    let outcome = load(&checkout, &server, &asked);
    outcome.says(&[
        "scenarios browse.toml:70, search.toml:25, buy.toml:5",
        "Scenario  walks  whole",
        "  browse  ",
        "  all  ",
        "  buy: page 2",
    ]);
    let first = ways(&result(&checkout));
    let [browse, search, buy, all] = first.as_slice() else { panic!("{first:?}") };
    assert_eq!([&browse.0, &search.0, &buy.0, &all.0], ["browse", "search", "buy", "all"]);
    assert_eq!(all.1, browse.1 + search.1 + buy.1);
    let steps = result(&checkout)["scenario"].as_array().unwrap().clone();
    let sent: u64 = steps.iter().map(|step| step["requests"].as_u64().unwrap()).sum();
    assert_eq!(sent, 400);
    // The last walk may end in the middle.
    assert!(all.1 - all.2 <= 1, "{first:?}");
    assert!((180..=230).contains(&browse.1) && (5..=30).contains(&buy.1), "{first:?}");
    load(&checkout, &server, &asked);
    assert_eq!(ways(&result(&checkout)), first, "the seed decides");
    load(&checkout, &server, &[&asked[..], &["--seed", "2"]].concat());
    assert_ne!(ways(&result(&checkout)), first);
    let csv = checkout.pippin(&["export", "latest", "--format", "csv"]).stdout;
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 1 + 1 + 3, "{csv}");
    assert!(rows[0].contains("scenario,walks,walks_whole") && rows[4].contains(",buy,"), "{csv}");
    let page = checkout.pippin(&["export", "latest", "--format", "markdown"]).stdout;
    assert!(page.contains("by scenario") && page.contains("| browse |"), "{page}");
    server.stop().unwrap();
}

/// 50 walks per second for a second.
fn a_mix_is_held_at_a_rate() {
    let (checkout, server) = (folder(), server());
    let outcome =
        load(&checkout, &server, &[&MIX[..], &["-R", "50", "-d", "1s", "-c", "8"]].concat());
    outcome.says(&["open loop, 50.0 walks/s"]);
    let ways = ways(&result(&checkout));
    in_time(ways[3].1 >= 49, || format!("{ways:?}"));
    assert!(ways[3].1 <= 50, "{ways:?}");
    // The n-th walk is the same whoever begins it.
    let agents = ["-R", "50", "-d", "1s", "-c", "8", "--agents", "2"];
    load(&checkout, &server, &[&MIX[..], &agents].concat());
    let of_agents = self::ways(&result(&checkout));
    in_time(of_agents == ways, || format!("{ways:?} {of_agents:?}"));
    server.stop().unwrap();
}

/// Without -c there are as many users as the scenarios have.
#[test]
fn users_are_divided_among_scenarios() {
    let (checkout, server) = (folder(), server());
    let mix = ["--scenario", "browse.toml:users=3", "--scenario", "buy.toml:users=1"];
    let outcome = load(&checkout, &server, &[&mix[..], &["-d", "300ms"]].concat());
    outcome.says(&["scenarios browse.toml:users=3, buy.toml:users=1"]);
    let kept = checkout.store().load("latest").unwrap();
    let spec = kept.trials[0].load_spec.as_ref().unwrap();
    assert_eq!(spec.connections.count, 4);
    assert!(ways(&result(&checkout)).iter().all(|(_, walks, _)| *walks > 0));
    server.stop().unwrap();
}

#[test]
fn what_does_not_go_with_a_mix_is_refused_with_the_fix() {
    let (checkout, server) = (folder(), server());
    let users = ["--scenario", "browse.toml:users=3", "--scenario", "buy.toml:users=1"];
    let stages = ["--stages", "users:5@1s"];
    for (mix, more, why) in [
        (&users[..], &["-c", "5"][..], "have 4 users together, and the load has 5"),
        (&users, &stages, "have 4 users together, and the load has 5"),
        (&users, &["-R", "5"], "at a rate each walk is another user; give weights"),
        (&users, &["--sweep", "1,2"], "give weights, as FILE:70"),
        (&MIX, &["--devices", "2", "--ramp", "1s,1s,1s"], "--requests-per-device"),
        (&["--scenario", "buy.toml:5"], &[], "leave its share out"),
        (&["--scenario", "buy.toml", "--scenario", "browse.toml:5"], &[], "some have none"),
        (&["--scenario", "buy.toml", "--scenario", "buy.toml"], &[], "named twice"),
        (&["--scenario", "buy.toml:5%", "--scenario", "browse.toml"], &[], "write a weight"),
        (&["--scenario", "buy.toml", "--scenario", "no.toml"], &[], "no.toml"),
    ] {
        load(&checkout, &server, &[mix, more].concat()).exits(2).says(&[why]);
    }
    server.stop().unwrap();
}

/// The project's server answers `GET /`, and nothing else: one walk of each scenario proves it.
#[test]
fn a_project_mixes_scenarios_and_each_is_proved() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let project = |scenarios: &str, load: &str| {
        write(
            "pippin.toml",
            &format!(
                "[target.shop]\ncommand = [\"{}\", \"right\", \"own\"]\n[workload.visit]\n\
                 scenarios = [{scenarios}]\n\
                 [plan.ci]\nworkload = \"visit\"\ntargets = [\"shop\"]\nrepetitions = 1\n{load}\nduration = \"500ms\"\n[plan.ci.cpus]\nshare = true\n",
                cheat().display()
            ),
        );
    };
    let step = "[[steps]]\nname = \"home\"\nget = \"/\"\n";
    write("once.toml", step);
    write("twice.toml", &step.repeat(2));
    write("wrong.toml", &format!("{step}expect = {{ contains = \"Bonjour\" }}\n"));
    project("\"once.toml:3\", \"twice.toml:1\"", "rate = \"40/s\"");
    let outcome = pippin(folder.path(), &["run", "ci"]);
    outcome.says(&["40.0 walks/s", "once", "twice: home", "walks through all steps"]);
    assert!([Some(0), Some(3)].contains(&outcome.code), "{outcome}");
    project("\"once.toml:3\", \"wrong.toml:1\"", "connections = 2");
    pippin(folder.path(), &["run", "ci"])
        .exits(4)
        .says(&["step `wrong: home`: the body does not contain `Bonjour`"]);
    project("\"once.toml:users=3\", \"twice.toml:users=1\"", "connections = 2");
    pippin(folder.path(), &["run", "ci"]).exits(2).says(&["give connections = 4"]);
    project("\"once.toml:3\", \"none.toml:1\"", "connections = 2");
    pippin(folder.path(), &["run", "ci"]).exits(2).says(&["pippin.toml:4", "none.toml"]);
    project("\"once.toml\"]\ncookies = true\nproof = [", "connections = 2");
    pippin(folder.path(), &["run", "ci"]).exits(2).says(&["each file of `scenarios` has its own"]);
}
