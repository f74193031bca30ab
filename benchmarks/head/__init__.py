"""Benchmark of queries over the head, run in its own process because it needs a database."""
