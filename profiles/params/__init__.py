"""Addresses: what the parameters of a query ask for, read strictly (docs/reference/api.md)."""
