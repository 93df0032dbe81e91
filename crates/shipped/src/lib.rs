//! The catalog inside the binary: every tracked file of `targets/`, `workloads/` and `plans/`. The
//! build script packs them, and they are unpacked into the user's cache folder
//! (docs/decisions/one-binary.md). The pages of the documentation that messages name are in it too.
mod archive;
pub mod pages;

pub use archive::{DIGEST, files, folder};
