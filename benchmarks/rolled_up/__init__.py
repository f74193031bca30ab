"""What is measured in a process of its own, on a new database."""
