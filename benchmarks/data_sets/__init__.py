"""Query latency of a real server: data sets, queries and measurement."""
