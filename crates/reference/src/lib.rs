//! Servers with known truth: scripted, null, slow upstream, device.
