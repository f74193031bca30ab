"""Client of the two API calls of an agent: the handshake and the upload of a profile."""

from collections.abc import Mapping

from flamewatch.capture.profile_types import ProfileType
from flamewatch.config import Config
from flamewatch.log import one_line
from flamewatch.transport import messages
from flamewatch.transport.identity import USER_AGENT, Identity
from flamewatch.transport.messages import Assignment, ErrorResponse, InvalidResponse
from flamewatch.transport.wire import Connection, Response

PARKED_SECONDS = 120.0  # servers park a handshake for about 50 s
UPLOAD_SECONDS = 60.0


class Client:
    """API client of one agent. Both calls may raise `Unreachable` or `InvalidResponse`."""

    def __init__(self, config: Config, identity: Identity, environ: Mapping[str, str]) -> None:
        self._config, self._identity = config, identity
        headers = {
            "Authorization": f"Bearer {config.key}",
            "User-Agent": USER_AGENT,
            "X-Flamewatch-Agent": identity.agent,
            "X-Flamewatch-Host": identity.host,
        }
        self.connection = Connection(config.url, headers, environ)

    def handshake(self, types: tuple[ProfileType, ...]) -> Assignment | ErrorResponse:
        """Wait until the server requests a profile or sends an error response."""
        path, body = messages.create_path(self._config), messages.create_body(self._config, types)
        response = self.connection.request("POST", path, body, PARKED_SECONDS)
        if response.status == 200:
            return messages.read_assignment(response.body, types)
        return _error_response(response)

    def upload(self, assignment: Assignment, profile: bytes) -> ErrorResponse | None:
        """Upload a profile. Return None when the server has stored it."""
        body = messages.upload_body(self._config, self._identity.host, assignment, profile)
        path = messages.upload_path(assignment)
        response = self.connection.request("PATCH", path, body, UPLOAD_SECONDS)
        return None if response.status == 200 else _error_response(response)


def _error_response(response: Response) -> ErrorResponse:
    # Following a redirect would send the key to whatever address it names.
    if 300 <= response.status < 400:
        location = one_line(response.location or "nowhere", 100)
        raise InvalidResponse(
            f"it redirects to {location}; set FLAMEWATCH_URL to the server's address"
        )
    if response.status < 400:
        raise InvalidResponse(f"unexpected status {response.status}")
    return messages.read_error_response(response.status, response.body, response.retry_after)
