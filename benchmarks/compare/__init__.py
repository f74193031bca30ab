"""Comparison and history of compacted profiles."""

from benchmarks import own_process


def main() -> int:
    return own_process.run("benchmarks.compare.measure")
