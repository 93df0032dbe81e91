//! Holds the documentation against the tree: whoever adds a crate, a module, a caveat, a plan, a workload or a target and forgets to say so
//! is told here which line of which page is missing.
mod caveats;
mod links;
mod map;
mod pages;
mod readme;
