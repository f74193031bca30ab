"""Pages of findings: their list, and one finding."""
