"""Attacks by one tenant with one key, measured by their effect on a neighbour tenant."""
