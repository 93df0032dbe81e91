//! `tests/slow` names tests that exist: a name of none would leave a test to no commit, silently.
use std::path::Path;

#[test]
fn every_slow_test_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = std::fs::read_to_string(root.join("../../tests/slow")).unwrap();
    let names: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!names.is_empty());
    for name in names {
        let (modules, test) = name.rsplit_once("::").unwrap();
        // Such a module is within its file.
        let modules = modules.trim_end_matches("::patient");
        let file = root.join(format!("tests/program/{}.rs", modules.replace("::", "/")));
        let source = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(source.contains(&format!("fn {test}(")), "tests/slow: {name}: not in {file:?}");
    }
}
