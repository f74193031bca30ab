"""A program that starts the agent itself."""

from host_apps import bare

import flamewatch

__all__ = ["bare"]

flamewatch.start()
