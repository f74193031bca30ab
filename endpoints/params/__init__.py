"""Declarations of URL query parameters, and their reader (docs/reference/urls.md, api.md)."""
