"""Requests labelled with their endpoint, in Django, Flask and ASGI applications.

Each imports what it is for, and nothing here is imported by the agent itself.
"""
