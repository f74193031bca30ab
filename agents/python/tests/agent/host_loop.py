"""Works until it is ended."""

from host_apps import burn

while True:
    burn()
