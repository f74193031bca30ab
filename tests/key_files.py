"""Tokens that Cloud Profiler's agents sign with a key file."""

import base64
import json
import time
from collections.abc import Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

GOOGLES_TOKEN_URL = "https://oauth2.googleapis.com/token"
SCOPE = "https://www.googleapis.com/auth/monitoring.write"


def claims_of(file: Mapping[str, str], **changed: Any) -> dict[str, Any]:
    """Return the claims of the Python agent's token; the value None removes a claim."""
    now = int(time.time())
    claims = {
        "iss": file["client_email"],
        "iat": now,
        "exp": now + 3600,
        "aud": GOOGLES_TOKEN_URL,
        "scope": SCOPE,
    }
    return {name: value for name, value in (claims | changed).items() if value is not None}


def signed(file: Mapping[str, str], algorithm: str = "RS256", **changed: Any) -> str:
    """Return the token that the agents for Python, Go and Node.js sign with a key file."""
    return jwt.encode(
        claims_of(file, **changed),
        file["private_key"],
        algorithm,
        headers={"kid": file["private_key_id"]},
    )


def signed_by_java(file: Mapping[str, str]) -> str:
    """Return the token of the Java agent: its parts are padded base64url, and signed as padded."""
    now = int(time.time())
    header = {"alg": "RS256", "typ": "JWT", "kid": file["private_key_id"]}
    claims = {
        "iss": file["client_email"],
        "sub": file["client_email"],
        "aud": "https://profiler.example.com:443/",
        "iat": now,
        "exp": now + 3600,
    }
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()) for part in (header, claims)]
    key = load_pem_private_key(file["private_key"].encode(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    signature = key.sign(b".".join(parts), padding.PKCS1v15(), SHA256())
    return b".".join([*parts, base64.urlsafe_b64encode(signature)]).decode()
