"""URL parameters of the audit log."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from endpoints.params import parameter, values
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from frontend.params.list_params import FIND
from frontend.params.notices import list_notices
from frontend.params.url_parameter import format_parameters, read_parameters, url_parameter
from projects.audit_actions import LABELS
from projects.audit_log import AuditFilter, Cursor
from projects.models import ActorKind

# Time ranges, in days; the first is the default.
RANGES: dict[str, Promise] = {
    "30": gettext_lazy("30 days"),
    "1": gettext_lazy("24 hours"),
    "7": gettext_lazy("7 days"),
    "90": gettext_lazy("90 days"),
    "all": pgettext_lazy("time range", "all"),
}
KINDS: dict[str, Promise] = {
    ActorKind.KEY: gettext_lazy("API keys"),
    ActorKind.OPERATOR: gettext_lazy("Operators"),
    ActorKind.SYSTEM: gettext_lazy("Flamewatch"),
    ActorKind.VISITOR: gettext_lazy("Not signed in"),
}


def _parse_who(text: str) -> str:
    if text not in KINDS:
        values.count(text, most=2**63 - 1)
    return text


def _parse_cursor(text: str) -> str:
    Cursor.parse(text)
    return text


WHO = Parameter("who", "Person (number) or kind of actor", _parse_who, "")
ACTION = parameter.choice("action", "Action", ["", *LABELS])
DAYS = parameter.choice("days", "Time range in days", [*RANGES])
OLDER = Parameter("older", "Position: entries before it", _parse_cursor, "")
ENTRY = Parameter("entry", "Entry with details", partial(values.count, most=2**63 - 1), 0)


@dataclass(frozen=True, slots=True)
class AuditQuery:
    find: str = url_parameter(FIND)
    actor: str = url_parameter(WHO)
    action: str = url_parameter(ACTION)
    days: str = url_parameter(DAYS)
    older: str = url_parameter(OLDER)
    entry: int = url_parameter(ENTRY, is_display_only=True)

    def address(self, **changed: str | int) -> str:
        """Return the query string with some parameters changed, on the first page unless given."""
        query = replace(self, **({"older": "", "entry": 0} | changed))  # type: ignore[arg-type]
        return f"?{urlencode(format_parameters(query))}"

    @property
    def is_filtered(self) -> bool:
        return bool(self.find or self.actor or self.action)

    def build_filter(self, project: int, now: datetime) -> AuditFilter:
        """Return the filter for a project (its pk)."""
        is_kind = self.actor in KINDS
        since = datetime.min.replace(tzinfo=now.tzinfo)
        return AuditFilter(
            project=project,
            since=since if self.days == "all" else now - timedelta(days=int(self.days)),
            actor=int(self.actor) if self.actor and not is_kind else None,
            kind=ActorKind(self.actor) if is_kind else None,
            action=self.action,
            text=self.find,
        )


def read(reader: LenientReader) -> tuple[AuditQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one, which is left out."""
    return read_parameters(AuditQuery, reader), list_notices(reader)
