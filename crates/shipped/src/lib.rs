//! The catalog inside the binary: every tracked file of `targets/`, `workloads/` and `plans/`,
//! packed by the build script, and unpacked into a folder of the user's cache
//! (docs/decisions/one-binary.md).
mod archive;

pub use archive::{DIGEST, files, folder};
