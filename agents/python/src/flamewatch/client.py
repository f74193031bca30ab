"""Client of the two API calls of an agent: the handshake and the upload of a profile."""

from collections.abc import Mapping

from flamewatch import messages
from flamewatch.config import Config
from flamewatch.identity import USER_AGENT, Identity
from flamewatch.log import one_line
from flamewatch.messages import Assignment, BadAnswer, Refusal
from flamewatch.profile_types import ProfileType
from flamewatch.wire import Answer, Connection

HELD_SECONDS = 120.0  # servers park a handshake for about 50 s
UPLOAD_SECONDS = 60.0


class Client:
    """API client of one agent. Both calls may raise `Unreachable` or `BadAnswer`."""

    def __init__(self, config: Config, identity: Identity, environ: Mapping[str, str]) -> None:
        self._config, self._identity = config, identity
        headers = {
            "Authorization": f"Bearer {config.key}",
            "User-Agent": USER_AGENT,
            "X-Flamewatch-Agent": identity.agent,
            "X-Flamewatch-Host": identity.host,
        }
        self.connection = Connection(config.url, headers, environ)

    def handshake(self, types: tuple[ProfileType, ...]) -> Assignment | Refusal:
        """Wait until the server requests a profile or answers with an error response."""
        path, body = messages.create_path(self._config), messages.create_body(self._config, types)
        answer = self.connection.request("POST", path, body, HELD_SECONDS)
        if answer.status == 200:
            return messages.read_assignment(answer.body, types)
        return _refusal(answer)

    def upload(self, assignment: Assignment, profile: bytes) -> Refusal | None:
        """Upload a profile. Return None when the server has stored it."""
        body = messages.upload_body(self._config, self._identity.host, assignment, profile)
        path = messages.upload_path(assignment)
        answer = self.connection.request("PATCH", path, body, UPLOAD_SECONDS)
        return None if answer.status == 200 else _refusal(answer)


def _refusal(answer: Answer) -> Refusal:
    # Following a redirect would send the key to whatever address it names.
    if 300 <= answer.status < 400:
        where = one_line(answer.location or "nowhere", 100)
        raise BadAnswer(f"it redirects to {where}; set FLAMEWATCH_URL to where the server is")
    if answer.status < 400:
        raise BadAnswer(f"it answered with status {answer.status}")
    return messages.read_refusal(answer.status, answer.body, answer.retry_after)
