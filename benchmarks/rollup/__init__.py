"""Queries over blocks, measured in a separate process on a new database."""
