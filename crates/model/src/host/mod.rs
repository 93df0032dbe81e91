//! What the kernel reports about processes and about the host.
//!
//! | module | what it does |
//! |---|---|
//! | [`fingerprint`] | what is known of the host of a run |
//! | [`kernel_network`] | network work that the kernel does in threads of its own, and whose it is |
//! | [`usage`] | CPU time, memory and more of processes, by role |
pub mod fingerprint;
pub mod kernel_network;
pub mod usage;
