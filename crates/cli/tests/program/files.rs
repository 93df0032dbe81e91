//! Mistakes in hand-written files: exit code 2, the file, the line if there is one, and the nearest
//! valid word.
use super::support::{Checkout, plan};

const CLOSED: &str = "kind = \"closed\"\nconnections = 4\nduration = \"300ms\"\n";

/// The plan is refused with these texts after one replacement.
#[track_caller]
fn plan_refused(from: &str, to: &str, texts: &[&str]) {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    let text = plan("hello", &["test/it"], CLOSED);
    assert!(text.contains(from), "{from}");
    checkout.write("plans/hello.toml", &text.replacen(from, to, 1));
    checkout.pippin(&["run", "hello"]).is_a_user_error(texts);
    checkout.left_nothing();
}

#[test]
fn plans() {
    for (from, to, texts) in [
        (
            "workload =",
            "worklaod =",
            &["plans/hello.toml:2: unknown key `worklaod`: did you mean `workload`?"][..],
        ),
        (
            "connections =",
            "conections =",
            &["plans/hello.toml:10: unknown key `conections`: did you mean `connections`?"],
        ),
        // Only `pippin load` has it.
        ("connections =", "samples = 4 #", &["plans/hello.toml:10: unknown key `samples`"]),
        (
            "\"hello\"",
            "\"helo\"",
            &["plan hello: there is no workload `helo`; did you mean `hello`?"],
        ),
        (
            "\"test/it\"",
            "\"test/ti\"",
            &["plan hello: there is no target `test/ti`; did you mean `test/it`?"],
        ),
        ("\"test/it\"", "\"test/it:fast\"", &["plan hello: there is no variant `test/it:fast`"]),
        (
            "\"test/it\"",
            "\"it\"",
            &[
                "plans/hello.toml:3: targets: `it` is not the name of a target; write it like go/net-http",
            ],
        ),
        ("\"test/it\"", "", &["plans/hello.toml:3: targets is empty; name at least one"]),
        ("\"test/it\"", "\"test/it\", \"test/it\"", &["targets names `test/it` twice"]),
        (
            "\"300ms\"",
            "\"300\"",
            &[
                "plans/hello.toml:11: profile.duration: `300` is not a duration; write it like \"900ms\"",
            ],
        ),
        ("\"300ms\"", "\"0s\"", &["profile.duration must be longer than 0"]),
        ("\"300ms\"", "\"9999999h\"", &["profile.duration: `9999999h` is not a duration"]),
        (
            "\"closed\"",
            "\"close\"",
            &["profile.kind `close` is not one of", "did you mean `closed`?"],
        ),
        (
            "kind = \"closed\"",
            "kind = \"open\"\nrate = nan",
            &["profile.rate = NaN must be above 0"],
        ),
        (
            "kind = \"closed\"",
            "kind = \"open\"\nrate = inf",
            &["profile.rate = inf must be above 0"],
        ),
        (
            "kind = \"closed\"",
            "kind = \"closed\"\nrate = 5.0",
            &["profile.rate does not go with kind = \"closed\" (its keys: connections, duration"],
        ),
        ("connections = 4", "connections = 0", &["profile.connections must be at least 1"]),
        ("connections = 4", "connections = -4", &["plans/hello.toml:10:"]),
        ("connections = 4", "connections = 99999999999", &["plans/hello.toml:10:"]),
        ("connections = 4", "connections = \"four\"", &["plans/hello.toml:10:"]),
        ("repetitions = 1", "repetitions = 0", &["repetitions must be at least 1"]),
        (
            "repetitions = 1",
            "repetitions = 1\nprecision = \"2\"",
            &["precision: `2` is not a percentage; write it like \"2%\""],
        ),
        (
            "repetitions = 1",
            "repetitions = 1\nworkers = 0",
            &["plans/hello.toml:5: workers must be at least 1; remove it for one per processor"],
        ),
        (
            "repetitions = 1",
            "repetitions = 1\ndatabase_pool = 0",
            &["plans/hello.toml:5: database_pool must be at least 1; remove it for 20"],
        ),
        (
            "repetitions = 1",
            "repetitions = 1\nprecision = \"0%\"",
            &["plans/hello.toml:5: precision must be above 0 % and below 100 %"],
        ),
        (
            "share = true",
            "target = \"0\"\ngenerator = \"0\"",
            &["cpus.target and cpus.generator overlap"],
        ),
        ("share = true", "target = \"zero\"", &["cpus.target"]),
        (
            "share = true",
            "share = true\ntarget = \"0\"",
            &["cpus.share lets all roles use all processors"],
        ),
        ("\"40ms\"", "\"40\"", &["upstream_delay: `40` is not a duration"]),
        ("title = \"A test\"", "title = \"A test", &["plans/hello.toml:1:"]),
    ] {
        plan_refused(from, to, texts);
    }
}

#[test]
fn a_plan_whose_target_lacks_the_workload() {
    let checkout = Checkout::with_cheat("right", &["hello", "hola"]);
    checkout.add_plan("page", "page", &["test/it"]);
    checkout.pippin(&["run", "page"]).is_a_user_error(&["test/it does not serve the workload `page` (it serves hello, hola); take it out of the plan"]);
}

#[test]
fn manifests() {
    let checkout = Checkout::new();
    let good = checkout.manifest("it", "right", &["hello"]);
    for (from, to, texts) in [
        (
            "framework",
            "framewrok",
            &["targets/test/it/target.toml:4: unknown key `framewrok`: did you mean `framework`?"]
                [..],
        ),
        (
            "schema = 1",
            "schema = 7",
            &["targets/test/it/target.toml:1: schema 7 is not known; this Pippin reads schema 1"],
        ),
        ("schema = 1", "schema = 1\nschema = 1", &["targets/test/it/target.toml:2: duplicate key"]),
        (
            "name = \"it\"",
            "name = \"ti\"",
            &["language and name are `test/ti`, but the folder is `test/it`"],
        ),
        (
            "[start]\n",
            "[start]\nstpo = \"SIGINT\"\n",
            &["unknown key `stpo`: did you mean `stop`?"],
        ),
        (
            "[start]\n",
            "[start]\nstop = \"SIGKILL\"\n",
            &["start.stop: `SIGKILL` is not one of SIGTERM, SIGINT, SIGQUIT, SIGHUP"],
        ),
        ("\"right\"", "\"{PROT}\"", &["unknown placeholder {PROT}", "did you mean {PORT}?"]),
        ("\"60s\"", "\"two\"", &["start.ready.timeout: `two` is not a duration"]),
        ("ready = {", "reday = {", &["unknown key `reday`: did you mean `ready`?"]),
        ("runtime = \"native\"\n", "", &["targets/test/it/target.toml", "missing field `runtime`"]),
        (
            "[\"hello\"]",
            "[\"helo\"]",
            &[
                "targets/test/it/target.toml:6: workloads: there is no workload `helo`; did you mean `hello`?",
            ],
        ),
        (
            "[\"hello\"]",
            "[]",
            &[
                "targets/test/it/target.toml:6: workloads is empty; name at least one that it serves",
            ],
        ),
        ("\"60s\"", "\"0s\"", &["start.ready.timeout must be longer than 0"]),
        (
            "[start]\n",
            "[install]\nsteps = [[]]\n[start]\n",
            &["targets/test/it/target.toml:8: install: step 1 is empty; name the program"],
        ),
        ("[\"hello\"]", "\"hello\"", &["targets/test/it/target.toml:6:"]),
    ] {
        assert!(good.contains(from), "{from}");
        checkout.write("targets/test/it/target.toml", &good.replacen(from, to, 1));
        checkout.pippin(&["targets", "check", "test/it", "--install"]).is_a_user_error(texts);
    }
}

#[test]
fn workloads() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    let path = checkout.path().join("workloads/hello.toml");
    let good = std::fs::read_to_string(&path).unwrap();
    for (from, to, texts) in [
        (
            "status =",
            "stauts =",
            &["workloads/hello.toml:", "unknown key `stauts`: did you mean `status`?"][..],
        ),
        (
            "kind = \"answer\"",
            "kind = \"answr\"",
            &["workloads/hello.toml:", "`answr`: did you mean `answer`?"],
        ),
        ("id = \"hello\"", "id = \"hola\"", &["id `hola` must equal the file's name `hello`"]),
        (
            "path = \"/\"",
            "path = \"/{n}\"",
            &["the path names `{n}`, but [request.vary] has no `n`"],
        ),
        ("schema = 1", "schema = 2", &["schema 2 is not known"]),
    ] {
        assert!(good.contains(from), "{from}");
        std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
        checkout.pippin(&["targets", "check", "test/it", "--install"]).is_a_user_error(texts);
    }
}

#[test]
fn a_new_target_is_found_listed_and_reads() {
    let checkout = Checkout::new();
    checkout
        .pippin(&["targets", "new", "go/chi"])
        .exits(0)
        .says(&["targets/go/chi", "pippin targets check go/chi"]);
    checkout.pippin(&["targets", "list"]).exits(0).says(&["go/chi", "hello"]);
    let json = checkout.pippin(&["targets", "list", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&json.exits(0).stdout).unwrap();
    assert_eq!(rows[0]["target"], "go/chi");
    assert_eq!(rows[0]["workloads"][0], "hello");
    // Without a terminal, nobody can be asked.
    checkout
        .pippin(&["targets", "check", "go/chi", "--install"])
        .is_a_user_error(&["go build -o bin/server .", "add --yes"]);
}

#[test]
fn errors_of_meaning_name_the_line_in_manifests_and_workloads() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    let good = checkout.manifest("it", "right", &["hello"]);
    let check = |manifest: &str, texts: &[&str]| {
        checkout.write("targets/test/it/target.toml", manifest);
        checkout.pippin(&["targets", "check", "test/it"]).is_a_user_error(texts);
    };
    check(
        &good.replace("\"hello\"", "\"helo\""),
        &["target.toml:6: workloads: there is no workload `helo`; did you mean `hello`?"],
    );
    check(
        &good.replace("[start]", "[needs]\ntools = [\"python3 >> 3.9\"]\n[start]"),
        &["target.toml:8: install: tools: \"python3 >> 3.9\" is not a need"],
    );
    check(&good.replace("\"60s\"", "\"0s\""), &["target.toml:9: start.ready.timeout must be"]);
    check(
        &format!("{good}env = {{ A = \"x\\u0000y\" }}\n"),
        &["target.toml:10: ", "contains a NUL"],
    );

    checkout.write("targets/test/it/target.toml", &good);
    let hello = std::fs::read_to_string(checkout.path().join("workloads/hello.toml")).unwrap();
    let method = hello.replace("method = \"GET\"", "method = \"GET / HTTP/1.1\\r\\nA: b\"");
    assert_ne!(method, hello);
    checkout.write("workloads/hello.toml", &method);
    let line = 1 + hello.split("method = ").next().unwrap().matches('\n').count();
    checkout
        .pippin(&["targets", "check", "test/it"])
        .is_a_user_error(&[&format!("hello.toml:{line}: "), "is not a method"]);
    checkout.write("workloads/hello.toml", &hello);

    checkout.write(
        "plans/x.toml",
        &super::support::plan("hello", &["test/it"], "kind = \"closed\"\nconnections = \"x\"\n"),
    );
    checkout.pippin(&["run", "x"]).is_a_user_error(&["x.toml:", "expected a whole number"]);
}
