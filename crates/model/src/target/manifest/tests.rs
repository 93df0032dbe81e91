use super::*;
use crate::text::file::parse_toml;

const GOOD: &str = r#"
schema = 1
name = "express"
language = "javascript"
framework = "express"
runtime = "node"
workloads = ["hello", "device"]
[needs]
tools = ["node >= 18"]
[install]
steps = [["npm", "ci"]]
[start]
command = ["node", "server.js", "{PORT}"]
ready = { path = "/", timeout = "20s" }
[[variant]]
name = "cluster"
command = ["node", "cluster.js"]
workloads = ["hello"]
protocol = "h2c"
unix_socket = true
"#;

fn check(text: &str) -> Result<(), String> {
    let manifest: Manifest =
        parse_toml(Path::new("target.toml"), text).map_err(|error| error.to_string())?;
    manifest.check("javascript", "express").map_err(|wrong| wrong.message)
}

#[test]
fn a_manifest_reads_and_a_variant_replaces() {
    let manifest: Manifest = parse_toml(Path::new("t"), GOOD).unwrap();
    assert_eq!(check(GOOD), Ok(()));
    assert_eq!(manifest.workloads_of(Some("cluster")), ["hello"]);
    assert_eq!(manifest.workloads_of(None), ["hello", "device"]);
    assert_eq!(manifest.ways()[0].steps, [["npm", "ci"]]);
    assert_eq!(manifest.start.stop, "SIGTERM");
    assert_eq!(
        (manifest.spoken(None), manifest.spoken(Some("cluster"))),
        (None, Some(Spoken::H2c))
    );
    assert!(manifest.has_unix_socket(Some("cluster")) && !manifest.has_unix_socket(None));
}

#[test]
fn only_names_of_packages_reach_apt() {
    for name in ["-oDebug::x=y", "--", "a", "./x.deb", "nginx-", "nginx=1", "Nginx", "a b", ""] {
        let text = GOOD.replace("[install]", &format!("apt = [\"php-cli\", {name:?}]\n[install]"));
        let error = check(&text).unwrap_err();
        assert!(error.contains("is not the name of a Debian package"), "{name}: {error}");
    }
    for name in ["nginx", "g++", "libstdc++-12-dev", "python3.11", "7zip"] {
        assert!(is_package(name), "{name}");
    }
}

#[test]
fn a_slip_in_a_list_names_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("javascript/express");
    std::fs::create_dir_all(&target).unwrap();
    std::fs::write(target.join("target.toml"), GOOD.replace("node >= 18", "node >> 18")).unwrap();
    let error = Manifest::read(&target).unwrap_err().to_string();
    assert!(error.contains("target.toml:9: install: tools: \"node >> 18\""), "{error}");
}

#[test]
fn slips_are_named() {
    let cases = [
        (GOOD.replace("schema = 1", "schema = 2"), "schema 2 is not known"),
        (
            GOOD.replace("name = \"express\"", "name = \"expres\""),
            "but the folder is `javascript/express`",
        ),
        (GOOD.replace("{PORT}", "{PROT}"), "did you mean {PORT}?"),
        (GOOD.replace("\"20s\"", "\"20\""), "start.ready.timeout"),
        (
            GOOD.replace("workloads = [\"hello\"]", "workloads = [\"page\"]"),
            "variant `cluster` serves `page`",
        ),
        (GOOD.replace("runtime", "runtmie"), "did you mean `runtime`?"),
        (format!("{GOOD}\n[[route]]\nname = \"x\"\n"), "exclude each other"),
        (GOOD.replace("\"20s\"", "\"0s\""), "start.ready.timeout must be longer than 0"),
        (GOOD.replace("[\"hello\", \"device\"]", "[]"), "workloads is empty; name at least one"),
        (
            GOOD.replace("workloads = [\"hello\"]", "workloads = []"),
            "variant `cluster`: workloads is empty",
        ),
        (
            GOOD.replace("[\"node\", \"server.js\", \"{PORT}\"]", "[]"),
            "start.command is empty; name the program",
        ),
        (
            GOOD.replace("[\"node\", \"server.js\", \"{PORT}\"]", "[\"\"]"),
            "start.command is empty; name the program",
        ),
        (GOOD.replace("[\"node\", \"cluster.js\"]", "[]"), "variant `cluster`: command is empty"),
        (
            GOOD.replace("[[\"npm\", \"ci\"]]", "[[\"npm\", \"ci\"], []]"),
            "install: step 2 is empty",
        ),
        (format!("{GOOD}\n[versions]\nnode = []\n"), "versions.node is empty"),
        (GOOD.replace("node >= 18", "node >> 18"), "is not a need; write `NAME` or `NAME >= 1.2`"),
        (GOOD.replace("node >= 18", "node >= eighteen"), "is not a need"),
        (GOOD.replace("\"server.js\"", "\"a\\u0000b\""), "contains a NUL character"),
        (
            GOOD.replace("[[variant]]", "env = { A = \"x\\u0000\" }\n[[variant]]"),
            "contains a NUL character",
        ),
        (
            GOOD.replace("[[variant]]", "env = { \"A=B\" = \"x\" }\n[[variant]]"),
            "is not the name of a variable",
        ),
    ];
    for (text, message) in cases {
        let error = check(&text).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}
