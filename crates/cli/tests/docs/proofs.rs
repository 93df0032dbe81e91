//! docs/proofs.md says about each server of the corpus exactly what the tests find.
use pippin_reference::corpus::{SERVERS, Said, Server};
use std::path::Path;

fn row(server: &Server) -> String {
    let Server { mode, workload, does, said } = server;
    match said {
        Said::Fails(by, words) | Said::Invalid(by, words) => {
            let words = words.join(" … ");
            format!("| `{mode}` | `{workload}` | {does} | `{by}` | `{words}` |")
        }
        Said::Passes | Said::Pool(_) | Said::Costs(_) => {
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
