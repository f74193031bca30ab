"""Program that uses CPU time until it is killed."""

from host_apps import burn

while True:
    burn()
