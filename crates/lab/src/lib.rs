//! Everything that starts or stops a process: catalogue, installation, services, lifecycle, proofs, trials, runs.
