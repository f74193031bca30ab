"""Exception for a quota that is reached, with its limit and the time until it resets."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.amounts import bytes_text, wait_text
from projects.usage.limits import LimitName

_SENTENCES = {
    LimitName.PROFILES_PER_MINUTE: gettext_lazy(
        "The project's limit of %(allowed)s profiles per minute is reached; it resets in %(wait)s."
    ),
    LimitName.PROFILES_PER_DAY: gettext_lazy(
        "The project's limit of %(allowed)s profiles per day is reached; it resets at midnight UTC,"
        " in %(wait)s."
    ),
    LimitName.NEW_DEPLOYMENTS_PER_DAY: gettext_lazy(
        "The project's limit of %(allowed)s new deployments per day is reached; it resets at"
        " midnight UTC, in %(wait)s. Existing deployments continue."
    ),
    LimitName.STORED_BYTES: gettext_lazy(
        "The project's limit of %(allowed)s of stored profiles is reached; the oldest are deleted"
        " in %(wait)s. The operator of the server can raise the limit or shorten the retention."
    ),
    LimitName.BYTES_PER_PROFILE: gettext_lazy(
        "The profile is larger than the project's limit of %(allowed)s per profile."
    ),
    LimitName.PARKED_HANDSHAKES: gettext_lazy(
        "The project's limit of %(allowed)s waiting agents is reached; try again in %(wait)s."
        " Agents that wait already continue. An admin can raise the limit."
    ),
}
IN_BYTES = {LimitName.STORED_BYTES, LimitName.BYTES_PER_PROFILE}


class QuotaReached(Exception):
    """Rejection by a quota of the project.

    `resets_in` is in seconds; None for a profile that is too large, where waiting does not help.
    `retry_after` is the time in seconds until the client should ask again; None for a default.
    """

    def __init__(
        self,
        limit: LimitName,
        allowed: int,
        resets_in: float | None,
        *,
        retry_after: float | None = None,
    ) -> None:
        self.limit, self.allowed, self.resets_in = limit, allowed, resets_in
        self.retry_after = retry_after
        super().__init__(limit, allowed, resets_in)

    def __str__(self) -> str:
        sentence = _SENTENCES[self.limit] % {
            "allowed": amount_text(self.limit, self.allowed),
            "wait": wait_text(self.resets_in or 0),
        }
        return f"{sentence} ({self.limit})"


def amount_text(limit: LimitName, amount: int) -> str:
    if limit in IN_BYTES:
        return bytes_text(amount)
    if limit is LimitName.RETENTION_DAYS:
        return _("%(n)d days") % {"n": amount}
    return f"{amount:,}"
