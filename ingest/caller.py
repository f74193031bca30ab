"""Sender of a request, whatever its transport."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import HttpRequest

from common.asgi import Scope, scope_of
from common.client_address import client_address
from endpoints import credentials
from ingest.uploads.requests import UploadRequest
from projects.credentials.authentication import Access


@dataclass(frozen=True, slots=True)
class Caller:
    """Credential, headers and address of the sender of a request.

    `headers` has names in lower case, or ignores their case.
    """

    credential: str  # API key or token; "" without one
    headers: Mapping[str, str]
    peer: str  # address; "" if it is unknown
    scope: Scope = field(default_factory=dict)  # of ASGI, see common.asgi.note_authenticated

    @classmethod
    def of_http(cls, request: HttpRequest) -> "Caller":
        credential = credentials.key_text(request.headers, request.GET)
        return cls(credential, request.headers, client_address(request), scope_of(request))

    @classmethod
    def of_upload(cls, request: UploadRequest) -> "Caller":
        credential = credentials.key_text(request.headers, request.query)
        return cls(credential, request.headers, request.peer, request.scope)

    async def access(self, other_credential: str = "") -> Access:
        """Authenticate the credential, or the other one if the caller sent none in a header.

        Raise NoKey without any, and KeyRejected for an invalid one.
        """
        return await credentials.access(self.credential or other_credential, self.scope)
