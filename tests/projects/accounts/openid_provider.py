"""Small OpenID provider over loopback HTTP, to send what an attacker would.

Discovery, keys, tokens and user info; `claims`, `user_info` and `discovery` can be changed by a
test. tests/identity_provider has a real one.
"""

import hashlib
import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID = "flamewatch"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
# Responses of GitHub's REST API (2022-11-28), of a person whose profile shows no address. OAuth
# tokens come as a form unless the client accepts JSON.
GITHUB_USER = {
    "login": "octocat",
    "id": 583231,
    "node_id": "MDQ6VXNlcjU4MzIzMQ==",
    "avatar_url": "https://avatars.githubusercontent.com/u/583231?v=4",
    "gravatar_id": "",
    "url": "https://api.github.com/users/octocat",
    "html_url": "https://github.com/octocat",
    "type": "User",
    "user_view_type": "private",
    "site_admin": False,
    "name": "The Octocat",
    "company": "@github",
    "blog": "",
    "location": "San Francisco",
    "email": None,
    "hireable": None,
    "bio": None,
    "twitter_username": None,
    "public_repos": 8,
    "followers": 20000,
    "created_at": "2011-01-25T18:44:36Z",
    "updated_at": "2024-10-22T11:28:43Z",
    "two_factor_authentication": True,
    "plan": {"name": "free", "space": 976562499, "collaborators": 0, "private_repos": 10000},
}
GITHUB_EMAILS = [
    {
        "email": "octocat@github.example",
        "primary": False,
        "verified": True,
        "visibility": None,
    },
    {
        "email": "octocat@acme.example",
        "primary": True,
        "verified": True,
        "visibility": "private",
    },
]
GITHUB_TOKENS = {"access_token": "gho_1", "token_type": "bearer", "scope": "user:email"}
# Claims of Google's ID tokens beside those of every provider.
GOOGLE_CLAIMS = {
    "azp": "at-google",
    "at_hash": "HK6E_P6Dh8Y93mRNtsDB1Q",
    "hd": "acme.example",
    "name": "Mara Example",
    "given_name": "Mara",
    "family_name": "Example",
    "picture": "https://lh3.googleusercontent.com/a/1=s96-c",
}


@dataclass
class OpenIdProvider:
    url: str = ""
    key: rsa.RSAPrivateKey = KEY
    person: dict[str, Any] = field(
        default_factory=lambda: {
            "sub": "7001",
            "email": "Mara@acme.example",
            "email_verified": True,
        }
    )
    claims: dict[str, Any] = field(default_factory=dict)  # instead of those of the ID token
    user_info: dict[str, Any] = field(default_factory=dict)
    discovery: dict[str, Any] = field(default_factory=dict)
    github_emails: list[dict[str, Any]] = field(default_factory=lambda: GITHUB_EMAILS)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorize(self, address: str) -> str:
        """Sign the person in, as a browser would; return the query of the callback."""
        request = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        code = f"code-{len(self.codes)}"
        self.codes[code] = request
        return f"?code={code}&state={request['state']}"

    def issue(self, form: dict[str, str]) -> dict[str, Any] | None:
        """Return the tokens of a code, once and with its verifier only."""
        request = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
        if request is None or request.get("code_challenge") != challenge:
            return None
        google = GOOGLE_CLAIMS if request["client_id"] == "at-google" else {}
        claims = {
            **google,
            "iss": self.url,
            "aud": request["client_id"],
            "exp": time.time() + 60,
            "nonce": request.get("nonce"),
            **self.person,
            **self.claims,
        }
        present = {name: value for name, value in claims.items() if value is not None}
        token = jwt.encode(present, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "token", "token_type": "Bearer", "id_token": token}

    def document(self, path: str) -> object:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "jwks_uri": f"{self.url}/keys",
            } | self.discovery
        if path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
            return {"keys": [public | {"kid": "1", "alg": "RS256", "use": "sig"}]}
        if path == "/user":
            return GITHUB_USER
        if path == "/user/emails":
            return self.github_emails
        return self.person | self.user_info


@contextmanager
def serve_provider() -> Iterator[OpenIdProvider]:
    provider = OpenIdProvider()

    class ProviderHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.respond(200, provider.document(urlsplit(self.path).path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            tokens = provider.issue(form)
            if self.path == "/github/token" and tokens:
                self.respond_github_tokens()
            else:
                self.respond(200 if tokens else 400, tokens or {"error": "invalid_grant"})

        def respond_github_tokens(self) -> None:
            if self.headers.get("Accept") == "application/json":
                self.respond(200, GITHUB_TOKENS)
            else:
                form = urlencode(GITHUB_TOKENS).encode()
                self.respond_bytes(200, form, "application/x-www-form-urlencoded; charset=utf-8")

        def respond(self, status: int, document: object) -> None:
            self.respond_bytes(status, json.dumps(document).encode(), "application/json")

        def respond_bytes(self, status: int, body: bytes, content_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), ProviderHandler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
