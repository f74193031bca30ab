"""Services that an API key may send and read."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.translation import gettext as _

from projects.models.api_key import MAX_ALLOWED_SERVICES

ANY_TEXT = "*"  # in an allowed service: any text, also none
_NAME = re.compile(r"[a-z0-9*]([-a-z0-9_.*]{0,253}[a-z0-9*])?")
_MOST_IN_MESSAGE = 5


class ServiceNotAllowed(Exception):
    """Service that is not among the allowed services of a key."""


@dataclass(frozen=True, slots=True)
class AllowedServices:
    """Names of services, in which `*` stands for any text; without names, all are allowed."""

    names: tuple[str, ...] = ()
    key: str = ""  # prefix of the key, for messages

    def allows(self, service: str) -> bool:
        # The characters that fnmatchcase treats specially besides * cannot be in these names.
        return not self.names or any(fnmatchcase(service, name) for name in self.names)

    def require(self, service: str) -> None:
        """Raise ServiceNotAllowed for a service that the key may not use; "" is no service."""
        if self.allows(service):
            return
        named = ", ".join(self.names[:_MOST_IN_MESSAGE])
        more = len(self.names) - _MOST_IN_MESSAGE
        allowed = f"{named} and {more} more" if more > 0 else named
        subject = f"not for {service[:100]}" if service else "and the request names no service"
        raise ServiceNotAllowed(
            f"The API key {self.key}… is for {allowed} only, {subject}. Use another key, or change"
            " the allowed services of this one in the project's settings."
        )

    def condition(self, field: str) -> Q:
        """Return the condition that a field of rows names an allowed service."""
        if not self.names:
            return Q()
        exact = [name for name in self.names if ANY_TEXT not in name]
        condition = Q(**{f"{field}__in": exact})
        for name in self.names:
            if ANY_TEXT in name:
                parts = ".*".join(re.escape(part) for part in name.split(ANY_TEXT))
                condition |= Q(**{f"{field}__regex": f"^{parts}$"})
        return condition


ALL_SERVICES = AllowedServices()


def clean_services(names: Iterable[str]) -> list[str]:
    """Return the names without repetitions, in their order.

    Raise ValidationError for what is no name of a service and has no `*` in place of a part of one,
    and above MAX_ALLOWED_SERVICES names.
    """
    found = list(dict.fromkeys(names))
    for name in found:
        if not _NAME.fullmatch(name):
            raise ValidationError(
                _("“%(name)s” is no service name; * stands for any text in one.")
                % {"name": name[:60]}
            )
    if len(found) > MAX_ALLOWED_SERVICES:
        raise ValidationError(
            _("Allowed services: %(count)d; the limit is %(allowed)d. Use * for several.")
            % {"count": len(found), "allowed": MAX_ALLOWED_SERVICES}
        )
    return found
