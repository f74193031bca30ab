"""The agent of a process: its thread, its state, and forks."""
