"""OpenID provider of django-allauth with PKCE, a nonce, and signatures that are always checked."""

import hashlib
import secrets
from typing import Any, cast

from allauth.account.models import EmailAddress
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from allauth.socialaccount.providers.oauth2.utils import generate_code_challenge
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest


class StrictOpenIdAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    nonce = ""  # of the attempt that the callback belongs to

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the provider's discovery document. Raise OAuth2Error if it is another issuer's."""
        config = cast("dict[str, Any]", super().openid_config)
        issuer = self.get_provider().app.settings["issuer"]
        if config.get("issuer") != issuer:
            raise OAuth2Error(f"The discovery document has not the issuer {issuer}.")
        return config

    def get_access_token_data(
        self,
        request: HttpRequest,
        app: SocialApp,
        client: OAuth2Client,
        pkce_code_verifier: str | None = None,
    ) -> dict[str, Any]:
        self.nonce = derive_nonce(pkce_code_verifier or "")
        return cast(
            "dict[str, Any]",
            super().get_access_token_data(request, app, client, pkce_code_verifier),
        )

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        """Check the ID token, and that the user info is of the same person."""
        encoded = kwargs["response"].get("id_token")
        if not encoded:
            raise OAuth2Error("The provider sent no ID token.")
        claims = self._decode_id_token(app, encoded)
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), self.nonce.encode()):
            raise OAuth2Error("The ID token has another nonce.")
        data = {"id_token": claims}
        if "userinfo_endpoint" in self.openid_config:
            data["userinfo"] = self._fetch_user_info(token.token)
            if data["userinfo"].get("sub") != claims.get("sub"):
                raise OAuth2Error("The user info is of another person than the ID token.")
        if not claims.get("sub"):
            raise OAuth2Error("The ID token has no subject.")
        return self.get_provider().sociallogin_from_response(request, data)

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        config = self.openid_config
        try:
            return cast(
                "dict[str, Any]",
                jwtkit.verify_and_decode(
                    credential=id_token,
                    keys_url=config["jwks_uri"],
                    issuer=config["issuer"],
                    audience=app.client_id,
                    lookup_kid=jwtkit.lookup_kid_jwk,
                ),
            )
        except (KeyError, TypeError, ValueError) as error:  # a token or key without what it needs
            raise OAuth2Error("Invalid ID token") from error


class StrictOpenIdProvider(OpenIDConnectProvider):  # type: ignore[misc]
    oauth2_adapter_class = StrictOpenIdAdapter

    def get_pkce_params(self) -> dict[str, str]:
        """Return the parameters of PKCE, and the nonce, which wins over one in the request."""
        params = cast("dict[str, str]", generate_code_challenge())
        return params | {"nonce": derive_nonce(params["code_verifier"])}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        """Return the address; some providers send the claim email_verified as a text."""
        addresses = cast("list[EmailAddress]", super().extract_email_addresses(data))
        for address in addresses:
            address.verified = address.verified in (True, "true")
        return addresses


def derive_nonce(code_verifier: str) -> str:
    """Return the nonce of an attempt, whose code verifier is in the session only."""
    return hashlib.sha256(b"nonce:" + code_verifier.encode()).hexdigest()


provider_classes = [StrictOpenIdProvider]
