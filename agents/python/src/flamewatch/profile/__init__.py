"""Profiles: captured stacks with qualified names, encoded as pprof."""
