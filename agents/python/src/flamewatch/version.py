"""Version of the agent, sent in its User-Agent header and in its profiles."""

__version__ = "0.3.0"
