"""Detection of regressions: statistics over hourly sums, without Django, storage or clock."""
