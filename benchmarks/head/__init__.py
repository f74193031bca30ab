"""The part of a benchmark that needs a database."""
