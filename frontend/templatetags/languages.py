"""Language tags of HTML for the languages of the settings."""

from django import template
from django.utils.translation import to_locale

register = template.Library()


@register.filter
def html_language(code: str) -> str:
    """Return the tag for an attribute `lang`: `zh-Hans` for Django's `zh-hans`."""
    return to_locale(code).replace("_", "-")
