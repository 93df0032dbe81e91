//! Runs, trials, windows and histograms in SQLite; schema versions; export.
