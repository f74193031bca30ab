"""Code that a program exchanges for the token that a person has allowed (RFC 6749, 4.1)."""

from django.conf import settings
from django.db import models


class AuthorizationCode(models.Model):
    """Open until the program takes its token, or until it expires; a person's newest one only."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    code_hash = models.CharField(max_length=64, unique=True)  # SHA-256, hexadecimal
    client_hash = models.CharField(max_length=64)  # SHA-256 of the program's client ID
    redirect_uri = models.CharField(max_length=500)
    challenge = models.CharField(max_length=43)  # PKCE: base64url of a SHA-256
    expires = models.DateTimeField()
    name = models.CharField(max_length=100)  # of the token
    days = models.PositiveIntegerField()  # until the token expires

    def __str__(self) -> str:
        return self.name
