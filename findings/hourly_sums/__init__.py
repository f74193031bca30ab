"""Hourly sums of functions: computed once for each half day, stored, and joined to series."""
