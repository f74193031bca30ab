"""Command line of Flamewatch: a client of its API, without dependencies."""
