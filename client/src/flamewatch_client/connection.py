"""HTTP requests to the API of a server."""

import json
import shutil
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import IO, Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from flamewatch_client.errors import RequestFailed

Pairs = Sequence[tuple[str, str]]
T = TypeVar("T")
_CHUNK = 2**20
TOKEN_PREFIX = "fwp_"  # noqa: S105  it is public


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: it would carry the token to another address."""

    def redirect_request(self, *_args: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class ServerConnection:
    url: str
    token: str
    project: str = ""
    ca_file: str = ""
    timeout: float = 60.0  # seconds

    def get(self, path: str, pairs: Pairs = ()) -> Any:
        return self.read_json("GET", path, pairs)

    def change(self, method: str, path: str, body: object = None) -> Any:
        """Send a request that changes something; return its document, None without one."""
        data = None if body is None else json.dumps(body).encode()
        return self.read_json(method, path, (), data)

    def read_json(self, method: str, path: str, pairs: Pairs, body: bytes | None = None) -> Any:
        """Return the document of a response, None without one."""
        try:
            return json.loads(self.send(method, path, pairs, body) or b"null")
        except ValueError:
            raise RequestFailed(f"{self.url} is not a Flamewatch server.") from None

    def project_path(self, resource: str) -> str:
        """Return the path of a resource of the selected project."""
        return f"projects/{quote(self._find_project(), safe='')}/{resource}"

    def send(self, method: str, path: str, pairs: Pairs = (), body: bytes | None = None) -> bytes:
        """Return the body of the response. Raise RequestFailed for every failure."""

        def read(response: HTTPResponse) -> bytes:
            return response.read()

        return self._request(method, path, pairs, body, read)

    def save(self, path: str, file: IO[bytes]) -> int:
        """Write the body of a response to a file; return its bytes. Raise RequestFailed."""

        def copy(response: HTTPResponse) -> int:
            length = response.headers.get("Content-Length")
            shutil.copyfileobj(response, file, _CHUNK)
            if length is not None and file.tell() != int(length):
                raise RequestFailed(
                    f"The connection ended after {file.tell():,} of {int(length):,} bytes. Try "
                    "again."
                )
            return file.tell()

        return self._request("GET", path, (), None, copy)

    def _request(
        self,
        method: str,
        path: str,
        pairs: Pairs,
        body: bytes | None,
        read: Callable[[HTTPResponse], T],
    ) -> T:
        query = f"?{urlencode(pairs)}" if pairs else ""
        kind = "application/octet-stream" if path.endswith(":import") else "application/json"
        headers = {
            "Authorization": f"Bearer {self.token}",
            "User-Agent": "flamewatch-client",
            "Content-Type": kind,
        }
        address = f"{check_url(self.url)}/api/v1/{path}{query}"
        request = urllib.request.Request(  # noqa: S310  check_url allows http and https only
            address, data=body, method=method, headers=headers
        )
        try:
            return self._fetch(request, read)
        except urllib.error.HTTPError as error:
            raise RequestFailed(_describe(error)) from None

    def post_form(self, path: str, pairs: Pairs) -> dict[str, Any]:
        """Return the document of an OAuth endpoint, also that of an error, which has `error`.

        Send no token. Raise RequestFailed if there is no document.
        """
        request = urllib.request.Request(  # noqa: S310  check_url allows http and https only
            f"{check_url(self.url)}{path}",
            data=urlencode(pairs).encode(),
            headers={"User-Agent": "flamewatch-client"},
        )
        try:
            body = self._fetch(request, lambda response: response.read())
        except urllib.error.HTTPError as error:
            body = error.read()
        try:
            document = json.loads(body)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise RequestFailed(f"{self.url}{path} does not respond as a Flamewatch server does.")
        return document

    def _fetch(self, request: urllib.request.Request, read: Callable[[HTTPResponse], T]) -> T:
        """Raise HTTPError for a status of failure, RequestFailed if there is no response."""
        try:
            with self._opener().open(request, timeout=self.timeout) as response:
                return read(response)
        except urllib.error.HTTPError:
            raise
        except HTTPException as error:
            raise RequestFailed(f"The connection to {self.url} broke: {error!r}.") from None
        except ValueError as error:
            raise RequestFailed(f"The request cannot be sent: {error}.") from None
        except OSError as error:
            cause = error.reason if isinstance(error, urllib.error.URLError) else error
            raise RequestFailed(self._explain(cause)) from None

    def _opener(self) -> urllib.request.OpenerDirector:
        try:
            context = ssl.create_default_context(cafile=self.ca_file or None)
        except OSError as error:
            raise RequestFailed(f"Cannot read the CA file {self.ca_file}: {error}.") from None
        return urllib.request.build_opener(
            _NoRedirects, urllib.request.HTTPSHandler(context=context)
        )

    def _explain(self, cause: object) -> str:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"The certificate of {self.url} is not trusted: {cause.verify_message}. If a CA of "
                "your own has signed it, pass its certificate with --ca-file."
            )
        if isinstance(cause, TimeoutError):
            return f"{self.url} did not respond within {self.timeout:g} s. Raise --timeout."
        reason = (cause.strerror if isinstance(cause, OSError) else None) or cause
        return (
            f"No server responds at {self.url}: {reason}. Check --url, or FLAMEWATCH_URL, "
            "and whether the server runs."
        )

    def _find_project(self) -> str:
        if self.project:
            return self.project
        if not self.token.startswith(TOKEN_PREFIX):
            return "-"  # the project of the API key
        names = [row["project"] for row in self.get("projects")["rows"]]
        if len(names) == 1:
            return str(names[0])
        listed = f" Yours are {', '.join(names[:20])}." if names else " You have none."
        raise RequestFailed(f"Name a project with --project or FLAMEWATCH_PROJECT.{listed}")


def check_url(text: str) -> str:
    """Return the URL of a server without a slash at its end. Raise RequestFailed."""
    address = urlsplit(text.rstrip("/"))
    if address.scheme not in {"http", "https"} or not address.netloc:
        raise RequestFailed(f"{text or 'The URL'}: the URL has to begin with http:// or https://.")
    if address.path or address.query or address.fragment or "@" in address.netloc:
        host = address.netloc.rpartition("@")[2]
        raise RequestFailed(f"Use the server's URL without a path: {address.scheme}://{host}")
    return text.rstrip("/")


def _describe(error: urllib.error.HTTPError) -> str:
    try:
        message = str(json.load(error)["error"]["message"])
    except (ValueError, KeyError, TypeError, OSError):
        message = f"The server responded with {error.code} {error.reason}."
        if 300 <= error.code < 400:
            message += f" Use the address to which it redirects: {error.headers.get('Location')}"
    if error.code == 401:
        message += " Run `flamewatch login`, or set FLAMEWATCH_TOKEN."
    return message
