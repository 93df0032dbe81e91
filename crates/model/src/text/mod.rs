//! Texts: what people write by hand, what they read, and what comes from elsewhere.
//!
//! | module | what it does |
//! |---|---|
//! | [`units`] | durations, sizes, rates and percentages: parsed from hand-written files, and formatted for people |
//! | [`printable`] | text from elsewhere, without control characters |
//! | [`bounded`] | files up to a limit, and none without an end |
//! | [`shell`] | the words of commands, as bash reads them |
//! | [`few`] | long lists in one sentence |
//! | [`fnv`] | a short key of bytes |
//! | [`file`] | TOML, with errors that name the file, the line and the nearest known key |
pub mod bounded;
pub mod few;
pub mod file;
pub mod fnv;
pub mod printable;
pub mod shell;
pub mod units;
