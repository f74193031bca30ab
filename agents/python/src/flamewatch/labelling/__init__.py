"""Labels of the running code."""
