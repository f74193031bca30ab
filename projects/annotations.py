"""Create, change, delete and find annotations, within a limit per project."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from projects import audit
from projects.credentials.allowed_services import ALL_SERVICES, AllowedServices
from projects.models import Annotation, Project, User
from projects.models.annotation import MAX_LINK

MARKS = 100  # annotations at a time on one chart; the latest are shown
_MAX_TARGET = 100  # characters of a note in the audit log
_FUNCTIONS = 200  # annotations of functions on one page; the latest are shown


class AnnotationLimit(Exception):
    """Annotation beyond the limit of the project, whose other annotations people created."""

    def __init__(self, allowed: int) -> None:
        sentence = _(
            "FLAMEWATCH_MAX_ANNOTATIONS allows %(allowed)d notes per project, and people created"
            " all of them. Delete one first."
        )
        super().__init__(sentence % {"allowed": allowed})


@dataclass(frozen=True, slots=True)
class AnnotationFields:
    """Content of an annotation. Either `at` or `function` is set, `function` with `service`."""

    text: str
    at: datetime | None
    service: str = ""
    version: str = ""
    function: str = ""
    link: str = ""


def create(
    project: int,
    fields: AnnotationFields,
    *,
    actor: User | None = None,
    key: str = "",
    origin: audit.Origin = audit.NO_CLIENT,
) -> Annotation:
    """Create an annotation of the project with the pk `project`.

    In a project with the allowed number, the oldest one of an API key is deleted: deployments go on
    being marked, and what people wrote stays. Raise AnnotationLimit if there is none.
    """
    with transaction.atomic():
        owner = Project.objects.select_for_update(no_key=True).get(pk=project)
        _make_room(owner)
        row = Annotation.objects.create(
            project=owner, created_by=actor, created_key=key, **asdict(fields)
        )
        _record(row, "annotation.create", actor, key, origin)
    return row


def change(
    row: Annotation,
    fields: AnnotationFields,
    *,
    actor: User,
    origin: audit.Origin = audit.NO_CLIENT,
) -> None:
    for name, value in asdict(fields).items():
        setattr(row, name, value)
    with transaction.atomic():
        row.save(update_fields=[*asdict(fields)])
        _record(row, "annotation.change", actor, "", origin)


def delete(
    row: Annotation,
    *,
    actor: User | None = None,
    key: str = "",
    origin: audit.Origin = audit.NO_CLIENT,
) -> None:
    with transaction.atomic():
        _record(row, "annotation.delete", actor, key, origin)
        row.delete()


def list_page(
    project: int,
    service: str,
    start: datetime,
    end: datetime,
    size: int,
    after: int,
    *,
    allowed: AllowedServices = ALL_SERVICES,
) -> list[Annotation]:
    """Return annotations at a time in [start, end) and those of functions, in order of creation.

    `service` restricts them to a service, `allowed` to some services, with those of no service;
    `after` is a pk.
    """
    rows = Annotation.objects.filter(_match_range(start, end) | Q(at=None), project=project)
    if allowed.names:
        rows = rows.filter(Q(service="") | allowed.condition("service"))
    if service:
        rows = rows.filter(service__in=("", service))
    return list(rows.filter(pk__gt=after).order_by("pk")[:size])


def list_by_service(
    project: int, service: str, start: datetime, end: datetime
) -> Sequence[Annotation]:
    """Return the annotations at a time in [start, end) for a service, by time, at most MARKS."""
    return _latest(_filter_by_service(project, service).filter(_match_range(start, end)))


def with_functions(
    project: int, service: str, start: datetime, end: datetime
) -> tuple[Sequence[Annotation], Sequence[Annotation]]:
    """Return the annotations of `list_by_service`, and those of functions of the service.

    Both are read in one statement.
    """
    found = _filter_by_service(project, service).filter(_match_range(start, end) | Q(at=None))
    # NULLs first or last, as the database likes: both groups are within one bound.
    rows = list(found.order_by("-at", "-pk")[: settings.MAX_ANNOTATIONS])
    timed = [row for row in rows if row.at is not None]
    return timed[:MARKS][::-1], [row for row in rows if row.at is None][:_FUNCTIONS]


def link_problem(link: str) -> str:
    """Return why a link cannot be stored; "" if it can, or is empty."""
    if not link:
        return ""
    if len(link) > MAX_LINK:
        return _("has more than %(n)d characters") % {"n": MAX_LINK}
    try:
        parts = urlsplit(link)
        is_https = parts.scheme == "https" and bool(parts.hostname)
    except ValueError:
        is_https = False
    if not is_https or not link.isprintable() or " " in link:
        return _("must be an https URL")
    return ""


def _make_room(project: Project) -> None:
    allowed = settings.MAX_ANNOTATIONS
    rows = Annotation.objects.filter(project=project)
    excess = rows.count() - allowed + 1
    if excess <= 0:
        return
    replaceable = rows.exclude(created_key="").order_by("created", "pk")
    # More than one only after the limit was lowered.
    oldest = list(replaceable.select_related("project")[:excess])
    if len(oldest) < excess:
        raise AnnotationLimit(allowed)
    for row in oldest:
        delete(row, origin=audit.SYSTEM)


def _record(
    row: Annotation, action: str, actor: User | None, key: str, origin: audit.Origin
) -> None:
    audit.record(
        row.project,
        action,
        actor=actor,
        actor_key=key,
        origin=origin,
        target=row.text[:_MAX_TARGET],
        annotation=row.pk,
    )


def _filter_by_service(project: int, service: str) -> QuerySet[Annotation]:
    return Annotation.objects.filter(project=project, service__in=("", service))


def _match_range(start: datetime, end: datetime) -> Q:
    return Q(at__gte=start, at__lt=end)


def _latest(rows: QuerySet[Annotation]) -> list[Annotation]:
    return list(rows.order_by("-at", "-pk")[:MARKS])[::-1]
