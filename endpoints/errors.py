"""What can be wrong with a request; refusals.py says how each is answered."""


class BadField(Exception):
    """A field of the request cannot be used; `field` is its JSON path."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field


class BadRequest(Exception):
    """The request as a whole cannot be read."""


class NoKey(Exception):
    """The request carries no API key."""


class WrongScope(Exception):
    """The key is good, but may not do this."""


class NotFound(Exception):
    """There is no such thing for this key: it never was, has expired, or is another's."""


class WrongMethod(Exception):
    """The address exists, but not for this method."""

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This address takes {allowed} only.")
        self.allowed = allowed


class BodyTooLarge(Exception):
    """A request's body passes a limit; `limit` is the name of the setting."""

    def __init__(self, limit: str, allowed: int, value: int | None = None) -> None:
        sent = "more" if value is None else f"{value:,}"
        super().__init__(f"{limit} allows {allowed:,} bytes; this request has {sent}.")


class TooManyLabelValues(Exception):
    """A label of profiles has had as many values today as are allowed."""

    def __init__(self, name: str, allowed: int) -> None:
        super().__init__(
            f"FLAMEWATCH_MAX_LABEL_VALUES allows {allowed:,} values of a label a day; "
            f"the label {name!r} has had as many."
        )


class Overloaded(Exception):
    """The server is busy with as much as it has memory for."""


class Throttled(Exception):
    """Nothing to do now; the agent is to come back after so many seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("No profile is wanted now; ask again after the delay.")
        self.retry_after = retry_after


class NotAcceptable(Exception):
    """Nothing of what the header Accept names can be answered."""


class TooManyQueries(Exception):
    """A key asked as often as it may in a minute; in `resets_in` seconds it may again."""

    def __init__(self, allowed: int, resets_in: float) -> None:
        super().__init__(
            f"FLAMEWATCH_QUERIES_PER_MINUTE allows {allowed:,} queries a minute of one key; "
            f"ask again in {resets_in:.0f} s."
        )
        self.resets_in = resets_in


class QueryTooSlow(Exception):
    """The answer was not ready in time."""

    def __init__(self, seconds: float, waited_for: str = "") -> None:
        ask = "ask for a shorter range, fewer zones or versions, or a part of the stacks."
        super().__init__(
            f"FLAMEWATCH_QUERY_SECONDS allows {seconds:g} s, and the answer was not ready"
            + (f". {waited_for}" if waited_for else f"; {ask}")
        )
