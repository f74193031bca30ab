"""Benchmark of detection on simulated fleets."""
