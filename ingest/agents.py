"""Identity of the agent that sent a request, from its headers or from its key and address."""

from collections.abc import Mapping
from dataclasses import replace

from projects.credentials.authentication import Access
from projects.models import Delivery
from projects.profile_types import ProfileType
from projects.registration.registry import FILE_IMPORT, AgentSeen, identity_of


def agent_seen(
    access: Access,
    headers: Mapping[str, str],
    peer: str,
    types: frozenset[ProfileType],
    instance: str = "",
    delivery: Delivery = Delivery.PUSH,
) -> AgentSeen:
    """Return the agent; `instance` is its label, for agents that do not identify themselves."""
    user_agent = headers.get("user-agent", "")
    identity = headers.get("x-flamewatch-agent", "")
    sender = f"{user_agent}\n{instance}" if instance else user_agent
    return AgentSeen(
        identity=identity_of(identity, key=access.key, user_agent=sender, peer=peer),
        hostname=headers.get("x-flamewatch-host", "") or instance,
        user_agent=user_agent,
        types=types,
        delivery=delivery,
    )


def file_sender(access: Access, headers: Mapping[str, str], peer: str) -> AgentSeen:
    """Return the agent that stands for a person or script that imports files."""
    agent = agent_seen(access, headers, peer, frozenset(), delivery=Delivery.FILE)
    return replace(agent, user_agent=f"{FILE_IMPORT} {agent.user_agent}".rstrip())
