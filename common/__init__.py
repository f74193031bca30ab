"""Infrastructure without domain knowledge. It imports no other package of the project."""
