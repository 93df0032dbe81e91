//! `pippin verify` and `pippin site` with runs that were really made.
use super::support::Checkout;
use pippin_testing::scripted::{Answer, Script, spawn};
use std::fs;

/// Exports every run of the store. Returns their files.
fn exported(checkout: &Checkout) -> Vec<String> {
    let runs = checkout.store().list().unwrap();
    let name = |id: &str| format!("{id}.record.json");
    for run in &runs {
        let file = name(&run.id);
        checkout.pippin(&["export", &run.id, "--format", "record", "--out", &file]).exits(0);
    }
    runs.iter().map(|run| name(&run.id)).collect()
}

#[test]
fn what_pippin_measured_verifies_and_its_site_holds_no_secret() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("plan", "hello", &["test/it"]);
    checkout.pippin(&["run", "plan", "--install", "--yes"]);
    checkout.pippin(&["run", "plan", "--install", "--yes"]);
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let wrong = spawn(Script::always(Answer::new(503, b"s3cret answer"))).unwrap();
    let url = format!("http://{}/?key=s3cret", server.address());
    for flags in [
        &["-n", "200", "-H", "X-Key: s3cret"][..],
        &["-d", "1s", "--sweep", "1..2"],
        &["-R", "200", "-d", "1s"],
        &["--devices", "5", "--ramp", "1s,1s,1s", "--think", "100ms"],
    ] {
        checkout.pippin(&[&["load", &url], flags].concat());
    }
    checkout.pippin(&["load", &format!("http://{}/", wrong.address()), "-n", "50"]);
    let files = exported(&checkout);
    assert_eq!(files.len(), 7);
    for file in &files {
        checkout.pippin(&["verify", file]).exits(0).says(&["follow from its raw slices"]);
    }

    let text = fs::read_to_string(checkout.path().join(&files[0])).unwrap();
    let changed = text.replacen("\"conclusion\":\"", "\"conclusion\":\"Best of all. ", 1);
    checkout.write("changed.json", &changed);
    checkout.pippin(&["verify", "changed.json"]).exits(1).says(&[
        "1 place does not agree",
        "report.conclusion",
        "Best of all.",
    ]);
    checkout.write("half.json", &text[..text.len() / 2]);
    checkout.pippin(&["verify", "half.json"]).is_a_user_error(&["half.json", "pippin export"]);
    checkout.pippin(&["verify", "none.json"]).is_a_user_error(&["none.json"]);

    checkout.pippin(&["site", "public"]).exits(0).says(&["7 runs: ", " in public."]);
    checkout.pippin(&["site", "public", "--add", "changed.json"]).exits(1).says(&["not agree"]);
    checkout.pippin(&["site", "."]).is_a_user_error(&["is not empty"]);
    checkout.pippin(&["site", "public", "--url", "example.org"]).exits(2);
    let pages = fs::read_dir(checkout.path().join("public/runs")).unwrap();
    let pages: Vec<_> = pages.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(pages.len(), 14);
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        assert!(!text.contains("s3cret"), "{}", page.display());
        if page.to_string_lossy().ends_with(".json") {
            checkout.pippin(&["verify", page.to_str().unwrap()]).exits(0);
        }
    }
}
