"""Template tags for numbers of bytes."""

from django import template
from django.conf import settings

from common.amounts import bytes_text

register = template.Library()
register.filter("bytes", bytes_text)


@register.simple_tag
def upload_limit() -> int:
    """Return FLAMEWATCH_MAX_UPLOAD_BYTES."""
    return int(settings.MAX_UPLOAD_BYTES)
