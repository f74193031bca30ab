"""What is asked of a real server: the sets, the questions, and how long the answers take."""
