//! The binary `pippin`.
fn main() {}
