"""Common wastes in the stacks of a service, and functions searched in those of all services."""
