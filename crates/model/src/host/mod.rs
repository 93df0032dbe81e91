//! What the kernel reports about processes and about the host.
//!
//! | module | what it does |
//! |---|---|
//! | [`fingerprint`] | what is known of the host of a run |
//! | [`usage`] | CPU time, memory and more of processes, by role |
pub mod fingerprint;
pub mod usage;
