"""Comparison and history of profiles that are rolled up."""

from benchmarks import own_process


def main() -> int:
    return own_process.run("benchmarks.compare.measure")
