"""Infrastructure without domain knowledge; it imports nothing of the other packages."""
