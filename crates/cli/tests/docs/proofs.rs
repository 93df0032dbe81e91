//! docs/proofs.md says about each server of the corpus exactly what the tests find.
use pippin_model::workload::Proof;
use pippin_reference::corpus::{SERVERS, Said, Server};
use std::path::Path;

fn row(server: &Server) -> String {
    let Server { mode, workload, does, said } = server;
    match said {
        Said::Fails(by, words) | Said::Invalid(by, words) => {
            let words = words.join(" … ");
            format!("| `{mode}` | `{workload}` | {does} | `{by}` | `{words}` |")
        }
        Said::Doubted(by, words, ms) => {
            let words = words.join(" … ");
            format!(
                "| `{mode}` | `{workload}` | {does} | `{by}` | `{words}`, and at least {ms} ms per request |"
            )
        }
        Said::Holds(mib) => {
            format!("| `{mode}` | `{workload}` | {does} | memory | at least {mib} MiB |")
        }
        Said::Passes | Said::Unseen | Said::Pool(_) | Said::Costs(_) => {
            format!("| `{mode}` | `{workload}` | {does} |")
        }
    }
}

#[test]
fn the_page_of_the_proofs_lists_the_corpus() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/proofs.md");
    let page = std::fs::read_to_string(page).unwrap();
    let expected: Vec<String> = SERVERS.iter().map(row).collect();
    let modes: Vec<String> =
        SERVERS.iter().map(|server| format!("| `{}` |", server.mode)).collect();
    let given: Vec<&str> =
        page.lines().filter(|line| modes.iter().any(|mode| line.starts_with(mode))).collect();
    assert_eq!(given, expected);
}

/// The names of all proofs that a workload can have, as the reader of workload files lists them.
fn kinds() -> Vec<String> {
    let none = serde_json::json!({ "kind": "none of them" });
    let error = serde_json::from_value::<Proof>(none).unwrap_err().to_string();
    let (_, names) = error.split_once("expected one of ").unwrap();
    names.split(", ").map(Into::into).collect()
}

#[test]
fn the_page_says_of_each_proof_what_the_load_checks() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/proofs.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("<!-- under load -->").unwrap();
    let (table, _) = table.split_once("<!-- end -->").unwrap();
    let first = |row: &str| row.split('|').nth(1).unwrap_or_default().trim().to_string();
    let rows: Vec<String> = table.lines().map(first).collect();
    let named: Vec<&str> = rows.iter().flat_map(|row| row.split(", ")).collect();
    let kinds = kinds();
    assert!(kinds.len() > 10, "{kinds:?}");
    for kind in &kinds {
        let count = named.iter().filter(|name| *name == kind).count();
        assert_eq!(count, 1, "{kind} in {named:?}");
    }
}
