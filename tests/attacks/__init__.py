"""Attacks by one tenant with one key, measured by what a neighbour of the same server notices."""
