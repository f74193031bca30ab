"""Webhooks: signed messages to URLs that a project has registered."""
