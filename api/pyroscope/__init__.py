"""Pyroscope's query API, read-only, for Grafana's data source; see docs/reference/pyroscope.md."""
