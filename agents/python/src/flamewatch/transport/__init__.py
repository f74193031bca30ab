"""Requests to the server: handshakes and uploads."""
