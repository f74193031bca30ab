"""Work in other processes, with limits on CPU time, wall time and memory; see pool.py."""
