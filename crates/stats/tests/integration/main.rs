//! Laws of judgements and intervals, against known truth.
#![allow(clippy::unwrap_used, clippy::expect_used)] // unwrap is how a test fails
mod alarms;
mod coverage;
mod nothing_is_decided_while_one_compiles;
mod only_right_answers_count;
mod paired_coverage;
mod random;
mod scipy_reference;
mod warm_starts;
mod within;
mod within_rounds;
