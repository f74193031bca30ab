"""Build tools; no part of the server."""
