"""Fuzz targets of everything that reads bytes from outside; `python -m tests.fuzz --help`."""
