"""Settings of django-allauth for the configured providers of single sign-on."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OpenIdConnectClient:
    """This server as a client of an OpenID provider; without an issuer there is none."""

    provider_id: str  # part of the callback's URL, and stored with each connected account
    name: str
    issuer: str
    client_id: str
    secret: str
    trusts_email: bool = False

    def to_app(self) -> dict[str, Any]:
        return {
            "provider_id": self.provider_id,
            "name": self.name,
            "client_id": self.client_id,
            "secret": self.secret,
            "settings": {
                "issuer": self.issuer,
                "server_url": f"{self.issuer.rstrip('/')}/.well-known/openid-configuration",
                "verified_email": self.trusts_email,
            },
        }


def build(
    *, oidc: OpenIdConnectClient, google: OpenIdConnectClient, github: tuple[str, str]
) -> dict[str, Any]:
    """Return SOCIALACCOUNT_PROVIDERS with those that are configured; empty without any."""
    providers: dict[str, Any] = {}
    apps = [client.to_app() for client in (oidc, google) if client.issuer]
    if apps:
        providers["openid_connect"] = {"APPS": apps}
    client_id, secret = github
    if client_id:
        app = {
            "client_id": client_id,
            "secret": secret,
            "settings": {"oauth_pkce_enabled": True},
        }
        providers["github"] = {"APPS": [app]}
    return providers
