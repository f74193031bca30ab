"""Failure of a command."""


class RequestFailed(Exception):
    """A command cannot be completed; the text says why and what to do."""
