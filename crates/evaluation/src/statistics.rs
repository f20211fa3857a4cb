//! Intervals, tests and verdicts: the run is the replicate, and comparisons are made seed by seed.
