//! Reads figures from the kernel: CPU, memory, network, sockets, host fingerprint.
//!
//! Reading and parsing are separate: every parser is a pure function over the text of one kernel
//! file and names its source (proc(5), the kernel's `Documentation/`); a thin layer reads the
//! files. Unknown is `None`, never 0.
//!
//! | module | what it holds |
//! |---|---|
//! | [`clock`] | CLOCK_MONOTONIC, CPU clocks of threads and processes, clock ticks |
//! | [`kernel_network`] | the kernel's own threads that do put-off network work, and whose work it was |
//! | [`kernel_files`] | reading below a root, so that a captured tree of files can stand in for a host |
//! | [`stat`], [`memory`], [`netstat`], [`sockets`], [`frequency`] | the host: processors, memory, TCP counters, sockets, clock frequency |
//! | `sock_diag` | questions to the kernel about its sockets |
//! | [`descriptors`] | what a process holds open |
//! | [`unix_sockets`] | unix sockets and who they are connected to |
//! | [`listening`] | the listening sockets of a port, and the connections that wait to be accepted |
//! | [`server`] | which processes of this machine serve an address or a unix socket |
//! | [`succession`] | a server whose processes end and are followed by others |
//! | [`connected`] | who the processes of a server are connected to |
//! | [`acceptors`] | which processes of a server's tree accept its connections |
//! | [`passing`] | connections of this machine that were too short to be seen |
//! | [`tiers`] | the tiers behind a server, with their CPU time |
//! | [`may_use`] | what a process may use of this machine |
//! | [`process`] | one process: `/proc/PID/stat`, `status`, `smaps_rollup` |
//! | [`process_name`] | the name of a process, safe to show |
//! | [`process_table`] | which processes live below which root, found at little cost |
//! | [`budget`] | how often something that costs processor time may be looked at |
//! | [`outsiders`], [`bystanders`] | CPU time of all processes outside of the roles, as a sum and one by one |
//! | [`strays`] | threads on processors that they were not given |
//! | [`tree`] | CPU time of a whole tree, each process counted exactly once, also after its death |
//! | [`tree_clocks`] | only CPU time of several trees and their compilers, at little cost |
//! | [`runtimes`], `elf` | which language runtime and version a process has; sections of programs |
//! | [`switches`] | context switches of a whole tree |
//! | [`threads`], [`collector`] | which threads do a role's work; whether it has a garbage collector |
//! | [`mod@sample`] | one instant: [`sample()`] |
//! | [`sampler`] | many instants: a thread |
//! | [`usage`] | the usage between two instants: [`usage_between`] |
//! | [`energy`] | the energy that the packages of processors used |
//! | [`disturbance`] | how the host disturbed some processors |
//! | [`cgroup`], [`cpuinfo`], [`topology`], [`limits`], [`sysctl`], [`virtualisation`] | parts of the fingerprint |
//! | [`host_load`] | how busy the host is outside of measurements |
//! | [`mod@fingerprint`] | the host a run is made on: [`fingerprint()`] |
//! | [`doctor`] | what on this host would spoil which plan, and how to fix it |
pub mod acceptors;
pub mod budget;
pub mod bystanders;
pub mod cgroup;
pub mod clock;
pub mod collector;
pub mod compilers;
pub mod connected;
pub mod cpuinfo;
pub mod descriptors;
pub mod disturbance;
pub mod doctor;
mod elf;
pub mod energy;
pub mod error;
pub mod facts;
pub mod fingerprint;
pub mod frequency;
pub mod host_load;
pub mod hsperfdata;
pub mod kernel_files;
pub mod kernel_network;
pub mod limits;
pub mod listening;
pub mod may_use;
pub mod memory;
mod memory_files;
pub mod netstat;
pub mod outsiders;
pub mod passing;
pub mod process;
pub mod process_name;
pub mod process_table;
pub mod runtimes;
pub mod sample;
pub mod sampler;
pub mod server;
mod sock_diag;
pub mod sockets;
pub mod stat;
pub mod strays;
pub mod succession;
pub mod switches;
pub mod sysctl;
pub mod threads;
pub mod tiers;
pub mod topology;
pub mod tree;
pub mod tree_clocks;
pub mod unix_sockets;
pub mod usage;
pub mod virtualisation;

pub use clock::monotonic_ns;
pub use error::ProbeError;
pub use fingerprint::fingerprint;
pub use sample::{RoleRoot, Roots, Serving, TreeMemory, sample};
pub use sampler::Sampler;
pub use tree_clocks::TreeClocks;
pub use usage::usage_between;
