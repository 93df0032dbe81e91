//! The load generator: schedule x protocol x stop rule over an event loop a core.
