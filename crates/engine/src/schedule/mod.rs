//! When the requests of a load are due, and whose they are.
//!
//! | module | what it does |
//! |---|---|
//! | `arrivals` | when the requests of an open loop are due, in closed form |
//! | `random` | random numbers that are the same on every machine |
//! | `users` | each thread's share of the load; which request is whose |
pub(crate) mod arrivals;
pub(crate) mod random;
pub(crate) mod users;
