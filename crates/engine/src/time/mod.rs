//! Clocks, timers and the instants that all threads share.
//!
//! | module | what it does |
//! |---|---|
//! | `clock` | the only place that names a kernel clock |
//! | `timer` | the timing wheel |
//! | `timeline` | when measuring starts and ends |
//! | `stop` | when a load ends by time |
pub(crate) mod clock;
pub(crate) mod stop;
pub(crate) mod timeline;
pub(crate) mod timer;
