//! What the kernel knows: CPU, memory, network, sockets, host fingerprint.
