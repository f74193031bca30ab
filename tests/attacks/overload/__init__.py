"""Overload by two projects: uploads of one, and page queries of another, beside a quiet third."""
