"""Strict parsing and validation of URL query parameters (docs/reference/api.md)."""
