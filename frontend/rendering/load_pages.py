"""Loading of all pages when the server starts, which otherwise the first request would do."""

from pathlib import Path

from django.conf import settings
from django.template.loader import get_template
from django.urls import reverse
from django.utils import translation

_TEMPLATES = Path(__file__).parents[1] / "templates"


def load_pages() -> None:
    """Import all views, compile all templates and read the texts of the default language.

    They are cached for the process: this took 70 % of the first request's time.
    """
    import_views()
    for path in sorted(_TEMPLATES.rglob("*.html")):
        get_template(path.relative_to(_TEMPLATES).as_posix())
    with translation.override(settings.LANGUAGE_CODE):
        translation.gettext("Services")


def import_views() -> None:
    """Import the views of all URLs."""
    reverse("services", args=["any"])
