//! When the requests of a load are due, and whose they are.
//!
//! | module | what it does |
//! |---|---|
//! | `lane` | which part of the load is whose |
//! | `arrivals` | when the requests of an open loop are due, in closed form |
//! | `random` | random numbers that are the same on every machine |
//! | `users` | the users of each kind of schedule |
pub(crate) mod arrivals;
pub(crate) mod lane;
pub(crate) mod random;
pub(crate) mod users;
