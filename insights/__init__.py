"""Rules that name a common waste of time or memory in the stacks of a service."""
