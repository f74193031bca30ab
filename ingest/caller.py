"""Sender of a request, whatever its transport, and the agent that it stands for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.http import HttpRequest

from common.asgi import Scope, get_scope
from common.client_address import client_address
from endpoints import credentials
from projects.credentials.authentication import Access
from projects.models import Delivery
from projects.profile_types import ProfileType
from projects.registration.registry import FILE_IMPORT, AgentSeen, derive_identity


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
    def from_http(cls, request: HttpRequest) -> "Caller":
        credential = credentials.key_text(request.headers, request.GET)
        return cls(credential, request.headers, client_address(request), get_scope(request))

    async def authenticate(self, other_credential: str = "") -> Access:
        """Authenticate the credential, or the other one if the caller sent none in a header.

        Raise NoKey without any, and KeyRejected for an invalid one.
        """
        credential = self.credential or other_credential
        return await credentials.access(credential, self.scope, self.peer)

    def describe_agent(
        self,
        access: Access,
        types: frozenset[ProfileType],
        instance: str = "",
        delivery: Delivery = Delivery.PUSH,
    ) -> AgentSeen:
        """Return the agent, identified by its headers or else by its key and address.

        `instance` is its label, for agents that do not identify themselves.
        """
        user_agent = self.headers.get("user-agent", "")
        identity = self.headers.get("x-flamewatch-agent", "")
        sender = f"{user_agent}\n{instance}" if instance else user_agent
        return AgentSeen(
            identity=derive_identity(identity, key=access.key, user_agent=sender, peer=self.peer),
            hostname=self.headers.get("x-flamewatch-host", "") or instance,
            user_agent=user_agent,
            types=types,
            delivery=delivery,
        )

    def describe_file_sender(self, access: Access) -> AgentSeen:
        """Return the agent that stands for a person or script that imports files."""
        agent = self.describe_agent(access, frozenset(), delivery=Delivery.FILE)
        return replace(agent, user_agent=f"{FILE_IMPORT} {agent.user_agent}".rstrip())
