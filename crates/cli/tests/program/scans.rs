//! `pippin compare --with`: values of a parameter as sides of one run.
use super::support::{Checkout, Outcome, cheat};
use pippin_testing::patience::in_time;

pippin_testing::patient_tests!(
    values_of_a_project_are_sides_of_one_run,
    a_command_takes_a_variable_of_the_environment,
    a_pool_has_its_knee_where_all_users_are_served
);

/// A project whose server has so many slots of 10 ms each. Its build writes a line each time.
fn project(more: &str) -> Checkout {
    let checkout = Checkout::of_a_user();
    checkout.write(
        "pippin.toml",
        &format!(
            "[target.shop]\nbuild = [[\"sh\", \"-c\", \"echo built >> builds\"]]\n\
             command = \"'{}' slots:{{slots}} {}\"\nserves = [\"hello\"]\n{more}\n\
             [plan.ci]\nworkload = \"hello\"\ntargets = [\"shop\"]\nrepetitions = 2\n\
             profile = {{ kind = \"closed\", connections = 4, duration = \"300ms\", warm_up = \"none\" }}\n\
             cpus = {{ share = true }}\n\
             [plan.steps]\nworkload = \"hello\"\ntargets = [\"shop\"]\n\
             profile = {{ kind = \"sweep\", connections = [1, 2], duration = \"300ms\" }}\n",
            cheat().display(),
            checkout.marker()
        ),
    );
    checkout
}

fn json(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"))
}

/// The values in the order of the table.
fn values(json: &serde_json::Value) -> Vec<&str> {
    let points = json["scan"]["points"].as_array().unwrap();
    points.iter().map(|point| point["value"].as_str().unwrap()).collect()
}

fn values_of_a_project_are_sides_of_one_run() {
    let checkout = project("with = { slots = 2 }");
    let scan = ["compare", "--plan", "ci", "--with", "slots=4,1,2"];
    let files = ["--out", "out", "--html", "page.html", "--json", "-"];
    let gate = ["--require", "errors.timeout < 1"];
    let outcome = checkout.pippin(&[&scan[..], &files, &gate].concat());
    in_time([Some(0), Some(3)].contains(&outcome.code), || outcome.to_string());
    outcome.says(&["3 values, 2 repetitions of 300 ms each: at least "]);
    let json = json(&outcome);
    assert_eq!(values(&json), ["1", "2", "4"], "in ascending order");
    assert_eq!(
        (json["scan"]["parameter"].as_str(), json["scan"]["base"].as_str()),
        (Some("slots"), Some("4"))
    );
    let compared = json["comparison"]["targets"].as_array().unwrap();
    let sides: Vec<[&str; 2]> =
        compared.iter().map(|it| ["a", "b"].map(|side| it[side].as_str().unwrap())).collect();
    let base = "own/shop@slots=4";
    assert_eq!(sides, [[base, "own/shop@slots=1"], [base, "own/shop@slots=2"]]);
    assert_eq!(json["gates"].as_array().map(Vec::len), Some(2), "one for each but the base");
    let run = checkout.store().load("latest").unwrap();
    assert_eq!(run.header.plan.scan.as_ref().map(|scan| scan.points.len()), Some(3));
    let trials: Vec<String> = run.trials.iter().map(|it| it.spec.target.to_string()).collect();
    assert_eq!(trials.len(), 6);
    let first: std::collections::BTreeSet<&String> = trials[..3].iter().collect();
    assert_eq!(first.len(), 3, "in turn: {trials:?}");
    let builds = std::fs::read_to_string(checkout.path().join("builds")).unwrap();
    assert_eq!(builds, "built\n", "all values share a folder");
    for page in ["out/report.html", "page.html"] {
        let page = std::fs::read_to_string(checkout.path().join(page)).unwrap();
        assert!(page.contains("<section id=\"scan\"") && page.contains("By slots"));
    }
    checkout.pippin(&["report"]).says(&["By slots", "ratio to 4"]);
    checkout
        .pippin(&["export", "--format", "markdown"])
        .says(&["### By slots", "| slots | rank |"]);
    checkout.pippin(&["history"]).exits(0).says(&[": slots=4, 1, 2, closed loop"]);
    // Elsewhere the parameter has its usual value.
    let usual = checkout.pippin(&["run", "ci"]);
    in_time([Some(0), Some(3)].contains(&usual.code), || usual.to_string());
    checkout.left_nothing();
}

fn a_command_takes_a_variable_of_the_environment() {
    let checkout = Checkout::new();
    let command =
        format!("sh -c 'exec \"{}\" slots:$SLOTS {}'", cheat().display(), checkout.marker());
    let shape = ["-c", "8", "-d", "300ms", "--warm-up", "none", "--repeat", "5"];
    let scan = ["compare", "--with", "SLOTS=1,8", &command, "--name", "shop"];
    let outcome = checkout.pippin(&[&scan[..], &shape].concat());
    in_time([Some(0), Some(3)].contains(&outcome.code), || outcome.to_string());
    outcome.says(&["By SLOTS", "command/shop@SLOTS=8"]).keeps_quiet_about(&["Knee", "still rise"]);
    let json_of = [&scan[..], &shape, &["--json", "-"]].concat();
    let json = json(&checkout.pippin(&json_of));
    assert_eq!(json["scan"]["shape"]["kind"], "no_curve", "two values are none");
    in_time(json["scan"]["best"] == "8", || json["scan"].to_string());
    checkout.left_nothing();
}

/// 16 users, and slots of a fixed time: no more than 16 slots are ever busy.
fn a_pool_has_its_knee_where_all_users_are_served() {
    let checkout = Checkout::new();
    let command = format!("'{}' slots:{{slots}} {}", cheat().display(), checkout.marker());
    let shape = ["-c", "16", "-d", "700ms", "--warm-up", "none", "--repeat", "5"];
    let scan = ["compare", "--with", "slots=1,4,16,32", &command, "--json", "-"];
    let outcome = checkout.pippin(&[&scan[..], &shape].concat());
    in_time([Some(0), Some(3)].contains(&outcome.code), || outcome.to_string());
    let json = json(&outcome);
    assert_eq!(values(&json), ["1", "4", "16", "32"]);
    let shape = &json["scan"]["shape"];
    in_time(shape["kind"] == "knee" && shape["at"] == "16", || json["scan"].to_string());
    checkout.left_nothing();
}

#[test]
fn what_cannot_be_scanned_is_refused_with_the_fix() {
    let refused = |arguments: &[&str], texts: &[&str]| {
        Checkout::new().pippin(&[&["compare"], arguments].concat()).is_a_user_error(texts);
    };
    let with = |values| ["--with", values, "serve"];
    refused(&["--with", "pool=5", "serve a"], &["only one value, 5", "pool=1,2,4,8"]);
    refused(&["--with", "pool=5,10", "serve a"], &["nothing takes `pool`: write {pool} in the"]);
    refused(&["--with", "PORT=5,10", "serve a"], &["PORT is a variable that Pippin sets"]);
    refused(
        &["--with", "a=1,2", "--with", "b=1,2", "serve {a} {b}"],
        &["--with a and --with b: a scan has one parameter"],
    );
    refused(&["--with", "a=1,2", "serve {a}", "other {a}"], &["there are 2 commands"]);
    refused(&["--with", "a=1,2", "http://127.0.0.1:1/"], &["runs already"]);
    refused(&["--with", "a=1,2", "--image", "shop"], &["containers get no variables"]);
    refused(&["--with", "a=1,2", "main", "HEAD"], &["leave out `main` and `HEAD`"]);
    refused(&with("a=1,2"), &["leave out `serve`"]);
    refused(&["--with", "a=1,2"], &["no server to start; give its command in quotes"]);
    refused(
        &["--with", "a=1,2", "serve {a}", "--base-file", "own"],
        &["--base-file goes with two"],
    );
    refused(&["--with", "a=1,2", "serve {a}", "--plan", "ci"], &["--plan goes with --target"]);
    let many: Vec<String> = (1..=13).map(|value| value.to_string()).collect();
    refused(
        &["--with", &format!("a={}", many.join(",")), "serve {a}"],
        &["13 values are more than the 12"],
    );
    let checkout = project("");
    let refused = |arguments: &[&str], texts: &[&str]| {
        checkout.pippin(&[&["compare"], arguments].concat()).is_a_user_error(texts);
    };
    refused(&["--with", "slots=1,2"], &["has several plans; add --plan with one of ci, steps"]);
    refused(&["--with", "slots=1,2", "--plan", "steps"], &["plan steps makes several loads"]);
    refused(&["--with", "pool=1,2", "--plan", "ci"], &["nothing takes `pool`"]);
    refused(&["--with", "slots=1,2", "--plan", "ci", "-c", "3"], &["--connections goes with URLs"]);
    refused(&["--with", "slots=1,2", "--plan", "ci", "--target", "shp"], &["no [target.shp]"]);
}

#[test]
fn options_that_cannot_take_effect_are_refused() {
    let checkout = Checkout::new();
    let refused = |arguments: &[&str], texts: &[&str]| {
        checkout.pippin(&[&["compare"], arguments].concat()).is_a_user_error(texts);
    };
    let commands = ["serve a", "serve b"];
    let with = |more: &[&'static str]| [&commands[..], more].concat();
    refused(&["a", "b", "--html", "x.html"], &["--html goes with --target, URLs"]);
    refused(&["a", "b", "--explain"], &["--explain goes with --target, URLs"]);
    refused(&["a", "b", "--h2c"], &["--h2c goes with URLs, --command and --image only"]);
    refused(&["a", "b", "--base-file", "checkout"], &["--base-file goes with two revisions"]);
    refused(&with(&["--base-file", "checkout"]), &["--base-file goes with two revisions"]);
    refused(&with(&["--streams", "4"]), &["--streams has no effect over HTTP/1.1"]);
    refused(&with(&["--h2c", "--pipeline", "4"]), &["--pipeline has no effect over HTTP/2"]);
    refused(&with(&["--html", "nowhere/x.html"]), &["--html: there is no folder nowhere"]);
    let urls = ["http://127.0.0.1:1/", "http://127.0.0.1:2/", "--http2"];
    refused(&urls, &["--http2 is negotiated in TLS"]);
}
