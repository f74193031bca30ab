"""Saved views of a project: create, rename and delete."""

from urllib.parse import urlsplit

from django.db import transaction
from django.db.models.functions import Lower
from django.utils.translation import gettext as _

from projects import account_limits, audit
from projects.models import Project, SavedView, User, ViewPage

MAX_NAME = 100  # characters
MAX_QUERY = 8_000  # characters: more than browsers and proxies accept in a URL
# Parameters that a refresh adds to a request; they are no part of the page's state.
_REFRESH = ("seen=",)


class InvalidView(Exception):
    """Name or address that cannot be saved; the text gives the reason."""


def list_views(project: Project) -> list[SavedView]:
    """Return the saved views of a project, by name."""
    views = SavedView.objects.filter(project=project).select_related("created_by")
    return list(views.order_by(Lower("name"), "name"))


def create(
    project: Project,
    name: str,
    address: str,
    *,
    actor: User,
    origin: audit.Origin = audit.NO_CLIENT,
) -> SavedView:
    """Save an address of one of the project's pages: its path and its query.

    Raise InvalidView, or account_limits.LimitReached if the project has as many as it may.
    """
    page, query = _parse(project, address)
    valid = _validate_name(project, name)
    with transaction.atomic():
        account_limits.require_saved_view(project)
        view, is_new = SavedView.objects.get_or_create(
            project=project,
            name=valid,
            defaults={"page": page, "query": query, "created_by": actor},
        )
        if not is_new:  # saved by somebody else since it was checked
            raise InvalidView(_duplicate(valid))
        audit.record(project, "view.create", actor=actor, origin=origin, target=valid, name=valid)
    return view


def rename(
    view: SavedView, name: str, *, actor: User, origin: audit.Origin = audit.NO_CLIENT
) -> None:
    """Give a view another name. Raise InvalidView."""
    valid = _validate_name(view.project, name, but=view.pk)
    if valid == view.name:
        return
    before, view.name = view.name, valid
    with transaction.atomic():
        view.save(update_fields=["name"])
        audit.record(
            view.project,
            "view.rename",
            actor=actor,
            origin=origin,
            target=valid,
            name=valid,
            before=before,
        )


def delete(
    view: SavedView, *, actor: User | None = None, origin: audit.Origin = audit.NO_CLIENT
) -> None:
    with transaction.atomic():
        view.delete()
        audit.record(
            view.project,
            "view.delete",
            actor=actor,
            origin=origin,
            target=view.name,
            name=view.name,
        )


def _parse(project: Project, address: str) -> tuple[ViewPage, str]:
    """Return the page and the query of an address. Raise InvalidView for any other address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        raise InvalidView(_("This page cannot be saved as a view.")) from None
    page = parts.path.removeprefix(f"/p/{project.project_id}/")
    if parts.scheme or parts.netloc or page not in ViewPage.values:
        raise InvalidView(_("This page cannot be saved as a view."))
    if len(parts.query) > MAX_QUERY:
        sentence = _("The address of this page has more than %(n)d characters.")
        raise InvalidView(sentence % {"n": MAX_QUERY})
    pairs = [pair for pair in parts.query.split("&") if not pair.startswith(_REFRESH)]
    return ViewPage(page), "&".join(pairs)


def _validate_name(project: Project, name: str, but: int | None = None) -> str:
    valid = " ".join(name.split())
    if not valid:
        raise InvalidView(_("Enter a name for the view."))
    if len(valid) > MAX_NAME:
        raise InvalidView(_("The name may have %(n)d characters.") % {"n": MAX_NAME})
    same = SavedView.objects.filter(project=project, name=valid).values_list("pk", flat=True)
    if any(pk != but for pk in same):
        raise InvalidView(_duplicate(valid))
    return valid


def _duplicate(name: str) -> str:
    return _("A view with the name “%(name)s” already exists.") % {"name": name}
