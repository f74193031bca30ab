"""Middleware for Django, Flask and ASGI that labels requests with their endpoint.

Each module imports its framework; the agent itself imports none of these modules.
"""
