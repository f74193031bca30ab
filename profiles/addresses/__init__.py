"""Addresses: what the parameters of a query ask for, read strictly (docs/interfaces.md)."""
