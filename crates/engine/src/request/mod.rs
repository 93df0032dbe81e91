//! What is sent, and whether its answer is right.
//!
//! | module | what it does |
//! |---|---|
//! | `wire` | all requests in one piece of memory |
//! | `drawn` | values that are drawn anew for each request, and where they stand in it and in its answer |
//! | `check` | whether an answer is right |
//! | `event_parser` | server-sent events out of the bytes of a body |
//! | `event_stream` | whether an answer that is a stream of events is right, and when its events came |
//! | `surprises` | what comes at places that no server can foresee |
//! | `referee` | the seam to whoever knows which answers are right at each instant |
pub(crate) mod check;
pub(crate) mod drawn;
mod event_parser;
pub(crate) mod event_stream;
pub(crate) mod referee;
pub(crate) mod surprises;
pub(crate) mod wire;
