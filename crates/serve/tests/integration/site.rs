//! The static site of a store.
use pippin_model::example::consistent::consistent;
use pippin_model::example::run as example;
use pippin_model::request::secrets::Public;
use pippin_model::result::{ErrorKind, FirstError};
use pippin_model::run::RunRecord;
use pippin_model::run::life::TargetLife;
use pippin_report::form::record;
use pippin_report::verify::verify;
use pippin_report::view::View;
use pippin_serve::site::{Built, Site, SiteError};
use pippin_stats::judge::settled::settle;
use pippin_store::Store;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const DAY_NS: u64 = 86_400_000_000_000;

/// A run as Pippin would have kept it, some days after the first.
fn honest(make: fn() -> RunRecord, name: &str, days: u64) -> RunRecord {
    let mut run = make();
    run.header.id = format!("202611{}-203539-{name}", 21 + days);
    let mut run = consistent(run);
    run.header.started_unix_ns += days * DAY_NS;
    *run.ended_unix_ns.as_mut().unwrap() += days * DAY_NS;
    for number in 0..run.trials.len() {
        let trial = &mut run.trials[number];
        trial.started_unix_ns += days * DAY_NS;
        trial.slices.iter_mut().for_each(|slice| slice.started_unix_ns += days * DAY_NS);
        trial.load.iter_mut().for_each(|load| load.started_unix_ns += days * DAY_NS);
        let trial = &run.trials[number];
        let (caveats, verdict) = settle(trial, &run.header, &run.trials[..number], Vec::new());
        (run.trials[number].caveats, run.trials[number].verdict) = (caveats, verdict);
    }
    run
}

/// Three targets, the last one of which does not start.
fn hello() -> RunRecord {
    let mut run = example::hello();
    let kept = ["go/net-http", "javascript/express", "elixir/plug"];
    run.trials.retain(|it| kept.contains(&&*it.spec.target.to_string()) && it.spec.repetition < 2);
    run.header.plan.targets.retain(|it| kept.contains(&&*it.to_string()));
    run.header.targets.retain(|it, _| kept.contains(&&*it.to_string()));
    run
}

fn keep(store: &Store, run: &RunRecord) {
    store.begin(&run.header).unwrap();
    for (number, trial) in (0..).zip(&run.trials) {
        store.add_trial(&run.header.id, number, trial).unwrap();
    }
    store.end(&run.header.id, run.state, run.ended_unix_ns.unwrap()).unwrap();
}

/// A store with two rounds of a plan, a sweep and a load.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let store = place.store();
        keep(&store, &honest(hello, "hello", 0));
        keep(&store, &honest(hello, "hello", 1));
        keep(&store, &honest(example::sweep, "page-sweep", 2));
        keep(&store, &honest(example::load, "load", 3));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn store(&self) -> Store {
        Store::open(&self.path("pippin.db")).unwrap()
    }

    fn build(&self, site: &str, added: &[PathBuf], url: Option<&str>) -> Result<Built, SiteError> {
        build(&self.store(), &self.path(site), added, url)
    }

    /// The exported run of somebody else.
    fn exported(&self, name: &str, change: impl Fn(&mut RunRecord)) -> PathBuf {
        let mut run = honest(hello, "theirs", 4);
        change(&mut run);
        let path = self.path(name);
        fs::write(&path, record::render(&run, &View::of(&run)).unwrap()).unwrap();
        path
    }
}

fn build(
    store: &Store,
    folder: &Path,
    added: &[PathBuf],
    url: Option<&str>,
) -> Result<Built, SiteError> {
    let runs: Vec<String> = store.list().unwrap().into_iter().map(|run| run.id).collect();
    // The workload of the examples ships with Pippin.
    let public = |_: &_| Ok(Public { workload: true, ..Public::default() });
    Site { store, public: &public, url: url.map(Into::into) }.build(folder, &runs, added)
}

/// All files below a folder, by name.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap().to_string();
        if entry.is_dir() {
            let below = tree(&entry).into_iter();
            found.extend(below.map(|(path, content)| (format!("{name}/{path}"), content)));
        } else {
            found.insert(name, fs::read(&entry).unwrap());
        }
    }
    found
}

/// Where a relative link leads from a file.
fn followed(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        if part == ".." {
            assert!(parts.pop().is_some(), "{from}: {link} leads out of the site");
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

#[test]
fn every_link_of_every_page_leads_to_a_file_of_the_site() {
    let place = Place::new();
    let theirs = place.exported("theirs.record.json", |_| {});
    let built = place.build("site", &[theirs], None).unwrap();
    let site = tree(&place.path("site"));
    assert_eq!((built.runs, built.others, built.files), (4, 1, site.len()));
    let mut checked = 0;
    for (name, content) in site.iter().filter(|(name, _)| name.ends_with(".html")) {
        let page = String::from_utf8(content.clone()).unwrap();
        for attribute in [" href=\"", " src=\""] {
            for link in page.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap()) {
                if let Some(place) = link.strip_prefix('#') {
                    assert!(page.contains(&format!("id=\"{place}\"")), "{name}: {link}");
                } else if !link.starts_with("data:") {
                    // What is not in the page itself.
                    assert!(!link.contains(':') && !link.starts_with('/'), "{name}: {link}");
                    assert!(site.contains_key(&followed(name, link)), "{name}: {link}");
                }
                checked += 1;
            }
        }
        assert!(!page.contains("og:url"), "{name}: the address is not known");
    }
    assert!(checked > 100, "{checked}");
    assert!(!site.contains_key("sitemap.xml"));
    for name in [
        "boards/hello.html",
        "boards/page-sweep.html",
        "comparisons/20261121-203539-hello..20261122-203539-hello.html",
        "history/go/net-http.html",
        "badges/hello/go/net-http.json",
        "others/20261125-203539-theirs.html",
    ] {
        assert!(site.contains_key(name), "{name}: {:?}", site.keys());
    }
}

#[test]
fn the_same_runs_give_the_same_bytes_also_from_a_copy_of_the_store() {
    let place = Place::new();
    place.build("one", &[], None).unwrap();
    place.build("two", &[], None).unwrap();
    place.build("two", &[], None).unwrap();
    let copied = place.path("copy.db");
    fs::copy(place.path("pippin.db"), &copied).unwrap();
    build(&Store::open(&copied).unwrap(), &place.path("three"), &[], None).unwrap();
    let one = tree(&place.path("one"));
    assert!(one == tree(&place.path("two")), "built twice");
    assert!(one == tree(&place.path("three")), "from a copy");
}

#[test]
fn the_history_of_a_site_has_the_lives_of_its_runs() {
    let place = Place::new();
    let page = |site: &str| {
        place.build(site, &[], None).unwrap();
        fs::read_to_string(place.path(site).join("history/go/net-http.html")).unwrap()
    };
    assert!(!page("before").contains("12.3 ms"));
    let life = TargetLife {
        start_ns: Some(12_300_000),
        ..TargetLife::new("go/net-http".parse().unwrap())
    };
    place.store().add_life("20261121-203539-hello", &life).unwrap();
    assert!(page("after").contains("data-value=\"12300000\">12.3 ms<"));
}

#[test]
fn every_record_of_a_site_verifies() {
    let place = Place::new();
    place.build("site", &[], None).unwrap();
    let site = tree(&place.path("site"));
    let records = site.iter().filter(|(name, _)| name.ends_with(".record.json"));
    let verified: Vec<_> = records
        .map(|(name, text)| (name, verify(&String::from_utf8(text.clone()).unwrap()).unwrap()))
        .collect();
    assert_eq!(verified.len(), 4);
    for (name, verified) in verified {
        assert!(verified.disagreements.is_empty(), "{name}: {}", verified.words());
    }
}

#[test]
fn an_address_gives_a_map_of_all_pages() {
    let place = Place::new();
    place.build("site", &[], Some("https://example.org/b/")).unwrap();
    let site = tree(&place.path("site"));
    let text = |name: &str| String::from_utf8(site[name].clone()).unwrap();
    let pages = site.keys().filter(|name| name.ends_with(".html")).count();
    assert_eq!(text("sitemap.xml").matches("<loc>https://example.org/b/").count(), pages);
    let address = "content=\"https://example.org/b/runs/20261121-203539-hello.html\"";
    assert!(text("runs/20261121-203539-hello.html").contains(address));
    // The preview: a PNG of the size that its place has (PNG 3rd edition, 11.2.1: width, height).
    let picture = "content=\"https://example.org/b/runs/20261121-203539-hello.png\"";
    assert!(text("runs/20261121-203539-hello.html").contains(picture));
    let bytes = &site["runs/20261121-203539-hello.png"];
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (1_200, 630));
}

#[test]
fn badges_are_those_of_shields() {
    let place = Place::new();
    place.build("site", &[], None).unwrap();
    let site = tree(&place.path("site"));
    let badge = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&site[&format!("badges/hello/{name}.json")]).unwrap()
    };
    let go = badge("go/net-http");
    assert_eq!(go["schemaVersion"], 1);
    assert_eq!(go["label"], "go/net-http · hello");
    assert!(go["message"].as_str().unwrap().contains(" requests/s"), "{go}");
    let keys: Vec<&String> = go.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["color", "label", "message", "schemaVersion"]);
    assert_eq!(
        (&badge("elixir/plug")["message"], &badge("elixir/plug")["color"]),
        (&"INVALID".into(), &"red".into())
    );
}

#[test]
fn another_folder_is_refused_and_a_rebuild_removes_what_is_stale_and_nothing_else() {
    let place = Place::new();
    let foreign = place.path("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.txt"), "years of work").unwrap();
    assert!(matches!(place.build("foreign", &[], None), Err(SiteError::Foreign(_))));
    assert_eq!(tree(&foreign).len(), 1);

    let site = place.path("site");
    fs::create_dir(&site).unwrap();
    fs::write(site.join(".nojekyll"), "").unwrap();
    place.build("site", &[], None).unwrap();
    fs::write(site.join("CNAME"), "example.org").unwrap();
    place.store().remove(&["20261123-203539-page-sweep".into()]).unwrap();
    let built = place.build("site", &[], None).unwrap();
    let now = tree(&site);
    assert!(built.removed >= 4, "{built:?}");
    assert!(now.keys().all(|name| !name.contains("sweep")), "{:?}", now.keys());
    assert!(now.contains_key("CNAME") && now.contains_key(".nojekyll"));
}

#[test]
fn a_run_of_somebody_else_is_verified_marked_and_on_no_board() {
    let place = Place::new();
    let honest = place.exported("honest.record.json", |_| {});
    let made_up = place.exported("made-up.record.json", |run| run.trials[0].caveats.clear());
    place.build("site", &[], None).unwrap();
    let before = tree(&place.path("site"));
    let refused = place.build("site", &[made_up], None).unwrap_err();
    assert!(matches!(refused, SiteError::NotVerified { .. }), "{refused}");
    assert!(before == tree(&place.path("site")), "a refused run changes nothing");

    place.build("site", &[honest], None).unwrap();
    // It stays without being named again.
    assert_eq!(place.build("site", &[], None).unwrap().others, 1);
    let site = tree(&place.path("site"));
    let text = |name: &str| String::from_utf8(site[name].clone()).unwrap();
    assert!(text("others/20261125-203539-theirs.html").contains("Somebody else measured this"));
    for (name, _) in site.iter().filter(|(name, _)| {
        ["boards/", "history/", "comparisons/", "badges/"].iter().any(|it| name.starts_with(it))
    }) {
        assert!(!text(name).contains("theirs"), "{name}");
    }
    // Somebody changes it in the folder.
    let record = place.path("site/others/20261125-203539-theirs.record.json");
    let changed =
        fs::read_to_string(&record).unwrap().replacen("\"verdict\":\"", "\"verdict\":\"IN", 1);
    fs::write(&record, changed).unwrap();
    assert!(place.build("site", &[], None).is_err());
}

#[test]
fn first_answers_places_and_logs_are_on_no_site_and_what_holds_values_is_left_out() {
    const WORD: &str = "s3cret";
    let place = Place::new();
    let store = place.store();
    let mut run = honest(hello, "told", 5);
    for trial in &mut run.trials {
        for failure in trial.failure.iter_mut() {
            failure.log_tail = vec![WORD.into()];
            failure.message = format!("got \"{WORD}\"");
        }
        for load in trial.load.iter_mut() {
            let first = FirstError { body: Some(WORD.into()), ..FirstError::default() };
            load.measured.firsts.insert(ErrorKind::WrongBody, first);
            load.measured.redirected_to = Some(format!("/{WORD}"));
        }
        for caveat in trial.caveats.iter_mut() {
            caveat.id = "redirects".into();
            caveat.evidence = format!("3 % (301: 5), the first to /{WORD}");
        }
    }
    keep(&store, &run);
    let mut whole = honest(example::load, "whole", 6);
    whole.header.workload.request.headers.insert("X-Key".into(), WORD.into());
    keep(&store, &whole);
    let folder = place.path("site");
    let runs: Vec<String> = store.list().unwrap().into_iter().map(|run| run.id).collect();
    let public = |header: &pippin_model::run::RunHeader| {
        Ok(Public { workload: header.url.is_none(), ..Public::default() })
    };
    let built =
        Site { store: &store, public: &public, url: None }.build(&folder, &runs, &[]).unwrap();
    assert!(built.left_out.iter().any(|why| why.contains("-whole")), "{built:?}");
    let site = tree(&folder);
    assert!(site.contains_key("runs/20261126-203539-told.html"));
    for (name, content) in site {
        assert!(!String::from_utf8_lossy(&content).contains(WORD), "{name}");
    }
}
