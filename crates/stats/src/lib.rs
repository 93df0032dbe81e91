//! Quantiles, intervals, ranking, steady state, scalability fits, judges: pure functions, no clock, no I/O.
