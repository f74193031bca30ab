"""Fixtures of the tests of ingest."""

from tests.ingest.fixtures import empty_queue, short_poll_timeout

__all__ = ["empty_queue", "short_poll_timeout"]  # autouse
