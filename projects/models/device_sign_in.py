"""Sign-in of a program that shows a code for a person to confirm (RFC 8628)."""

from django.conf import settings
from django.db import models


class DeviceSignIn(models.Model):
    """Open until a person decides, then until the program takes its token; until it expires."""

    user_code = models.CharField(max_length=8, unique=True)  # typed by the person
    device_code_hash = models.CharField(max_length=64, unique=True)  # SHA-256, hexadecimal
    device = models.CharField(max_length=60)  # name of the machine, as the program gave it
    address = models.GenericIPAddressField(null=True)  # of the program
    expires = models.DateTimeField()
    # The decision: without a user nobody has decided yet.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True)
    approved = models.BooleanField(default=False)
    name = models.CharField(max_length=100, default="")  # of the token
    scopes = models.JSONField(default=list)  # of TokenScope
    days = models.PositiveIntegerField(default=0)  # until the token expires

    def __str__(self) -> str:
        return f"{self.device} ({self.user_code})"
