//! What a thread has measured so far, by part of the load and by window.
//!
//! | module | what it does |
//! |---|---|
//! | `recorder` | the windows and parts of a load |
//! | `uncounted` | what is counted in batches |
//! | `counts` | counters |
//! | `exchanges`, `reservoir` | the requests that are kept one by one: the slowest; a random sample |
//! | `paths` | which requests are counted together, and their table |
//! | `tally` | plain tables, which become histograms when a window ends |
//! | `outcome` | what a thread hands in when it ends |
pub(crate) mod counts;
pub(crate) mod exchanges;
pub(crate) mod outcome;
pub(crate) mod paths;
pub(crate) mod recorder;
pub(crate) mod reservoir;
pub(crate) mod tally;
pub(crate) mod uncounted;
