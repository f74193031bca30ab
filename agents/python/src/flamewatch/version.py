"""The agent's version: in its User-Agent, and in its profiles."""

__version__ = "0.1.0"
