"""Findings: changes of functions that detection found, with their states and evidence."""
