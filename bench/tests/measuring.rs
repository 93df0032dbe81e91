//! One whole measurement by the program. Its children run under the lab's supervisor, which
//! accounts for them.
use std::process::Command;

#[test]
fn a_tool_and_its_server_are_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pippin-bench"))
        .args(["--quick", "--rounds", "1", "--only", "closed-1", "--tools", "engine-epoll"])
        .args(["--core", "0", "--server-core", "0", "--results"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let kept = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let results: serde_json::Value = serde_json::from_slice(&std::fs::read(kept).unwrap()).unwrap();
    let outcome = &results["scenarios"][0]["measurements"][0]["outcome"]["Ok"];
    let number = |pointer: &str| outcome.pointer(pointer).and_then(|value| value.as_u64());
    let answers = number("/server/answers");
    assert!(answers > Some(0), "{results}");
    assert!(number("/said/completed") <= answers, "{outcome}");
    assert!(number("/said/completed") > Some(0), "{outcome}");
    // A request takes some microseconds on either side, and the run lasts a second.
    for used in ["/cpu_ns", "/server_cpu_ns"] {
        assert!(number(used) > Some(1_000_000), "{used}: {outcome}");
    }
    assert!(number("/wall_ns") >= Some(1_000_000_000), "{outcome}");
    assert!(number("/max_rss_bytes") > Some(1 << 20), "{outcome}");
}
