"""Samplers: stacks of this process, captured for some time."""
