"""Exceptions for invalid requests; error_responses.py maps them to responses."""


class BadField(Exception):
    """Invalid field of a request; `field` is its JSON path."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self._reason = field, reason

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.field, self._reason)


class BadRequest(Exception):
    """Malformed request."""


class NoKey(Exception):
    """Request without an API key."""


class WrongScope(Exception):
    """Valid key without the scope that the request needs."""


class KeyRevoked(Exception):
    """Upload under a name whose API key was revoked, or expired, after the name was issued."""

    def __init__(self) -> None:
        super().__init__(
            "The API key to which this name was issued has been revoked or has expired; send a "
            "handshake with another key."
        )


class PlainHttp(Exception):
    """API request over plain HTTP to a server whose public URL is https."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"This server takes API requests over https only: use {url}. The key of this request"
            " was sent unencrypted: revoke it, and create another in the project's settings. (A"
            " proxy in front of the server has to send X-Forwarded-Proto: https, and to be in"
            " FLAMEWATCH_TRUSTED_PROXIES.)"
        )


class NotFound(Exception):
    """Object that does not exist, has expired or belongs to another project than the key."""


class ForeignOrigin(Exception):
    """Request from a page of another site."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"Pages of {origin[:200]} may not use this server: only those of FLAMEWATCH_URL may."
        )


class UnknownPath(Exception):
    """Path that no API and no page has."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"No such path: {path[:200]!r}. This server speaks Cloud Profiler's API v2 (/v2/),"
            " Pyroscope's (/ingest, /push.v1.PusherService/Push, /querier.v1.QuerierService/),"
            " OpenTelemetry profiles (/v1development/profiles), the Model Context Protocol (/mcp)"
            " and its own query API (/api/v1/)."
        )


class UnknownProcedure(Exception):
    """Procedure of a Connect service that is not implemented here."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name[:200]} is not supported.")


class WrongMethod(Exception):
    """Method that the path does not support; `allowed` are those that it does."""

    def __init__(self, *allowed: str) -> None:
        super().__init__(f"This URL supports {' and '.join(allowed)} only.")
        self.allowed = allowed


class BodyTooLarge(Exception):
    """Request body over a limit; `limit` is the name of the setting."""

    def __init__(self, limit: str, allowed: int, value: int | None = None) -> None:
        sent = "more" if value is None else f"{value:,}"
        super().__init__(f"{limit} allows {allowed:,} bytes; this request has {sent}.")


class TooManyLabelValues(Exception):
    """Profile label that already has the allowed number of distinct values today.

    Without a name: all labels of the project together have the allowed number.
    """

    def __init__(self, allowed: int, name: str = "") -> None:
        super().__init__(
            f"FLAMEWATCH_MAX_LABEL_VALUES allows {allowed:,} distinct values of a label per day, "
            f"and the label {name!r} has reached them. Use a label with fewer values."
            if name
            else f"A project may have {allowed:,} distinct values of all its labels per day, and "
            f"this one has reached them. Use fewer labels, or labels with fewer values."
        )


class TooManyAnnotations(Exception):
    """Annotation of a project that already has the allowed number, none of them replaceable."""


class Overloaded(Exception):
    """Upload that exceeds the memory budget of the project or of all projects together."""


class Throttled(Exception):
    """Handshake without a capture request; the agent retries after `retry_after` seconds."""

    def __init__(self, retry_after: float, reason: str = "") -> None:
        super().__init__(reason or f"Nothing to capture now (retry in {retry_after:.0f} s).")
        self.retry_after = retry_after


class NotAcceptable(Exception):
    """Accept header without any media type that is available."""


class TooManyQueries(Exception):
    """Query above the limit of a project or person for a minute; resets in `resets_in` seconds."""

    def __init__(self, allowed: int, resets_in: float, tenant: str = "project") -> None:
        super().__init__(
            f"FLAMEWATCH_QUERIES_PER_MINUTE allows {allowed:,} queries per minute and {tenant} "
            f"(retry in {resets_in:.0f} s)."
        )
        self.resets_in = resets_in


class QueryTooSlow(Exception):
    """Query whose result was not ready before the deadline."""

    def __init__(self, seconds: float, waited_for: str = "") -> None:
        advice = "Select a shorter range, fewer zones or versions, or fewer stacks."
        limit = f"{seconds:g} s (FLAMEWATCH_QUERY_SECONDS)"
        super().__init__(f"Query timed out after {limit}. {waited_for or advice}")
