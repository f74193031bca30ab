"""Kinds of attacks; the table has their sizes and bounds."""
