"""Template tag for inline SVG icons (16 px, stroke 1.5): `{% icon "copy" %}`."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_DRAWINGS = {
    "bell": '<path d="M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3zM6.5 14h3"/>',
    "mute": '<path d="M4 11V7a4 4 0 0 1 6.5-3.1M12 8v3l1 1.5H5M2.5 2.5l11 11"/>',
    "pause": '<path d="M5.5 3.5v9M10.5 3.5v9"/>',
    "bookmark": '<path d="M4 2.5h8v11l-4-3-4 3z"/>',
    "capture": '<circle cx="8" cy="8" r="6"/><circle cx="8" cy="8" r="2.5"/>',
    "options": '<path d="M2.5 5h6M12.5 5h1M2.5 11h1M7.5 11h6"/><circle cx="10.5" cy="5" r="1.7"/>'
    '<circle cx="5.5" cy="11" r="1.7"/>',
    "share": '<circle cx="4" cy="8" r="1.8"/><circle cx="12" cy="4" r="1.8"/>'
    '<circle cx="12" cy="12" r="1.8"/><path d="m5.7 7.2 4.6-2.4M5.7 8.8l4.6 2.4"/>',
    "chain": '<path d="M6.5 9.5a3 3 0 0 0 4.2 0l2-2a3 3 0 0 0-4.2-4.2l-.8.8M9.5 6.5a3 3 0 0 0-4.2 0'
    'l-2 2a3 3 0 0 0 4.2 4.2l.8-.8"/>',
    "check": '<path d="m3.5 8.5 3 3 6-7"/>',
    "chevron": '<path d="m4 6 4 4 4-4"/>',
    "clock": '<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.5 1.5"/>',
    "compare": '<path d="M8 2v12M5 5 2 8l3 3M11 5l3 3-3 3"/>',
    "copy": '<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/>'
    '<path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2"/>',
    "cross": '<path d="m4 4 8 8M12 4l-8 8"/>',
    "download": '<path d="M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11"/>',
    "info": '<circle cx="8" cy="8" r="6.5"/><path d="M8 7.2v4M8 4.8v.1"/>',
    "key": '<circle cx="5.5" cy="10.5" r="2.8"/><path d="m7.6 8.4 5.4-5.4M11 5l1.8 1.8"/>',
    "mail": '<rect x="2" y="3.5" width="12" height="9" rx="1.5"/><path d="m2.5 5 5.5 4 5.5-4"/>',
    "note": '<path d="M3 2.5h10v8H8.5L5 13.5v-3H3zM5.5 5.5h5M5.5 7.8h3"/>',
    "person": '<circle cx="8" cy="5.5" r="2.5"/><path d="M3 13.5c.6-2.6 2.4-4 5-4s4.4 1.4 5 4"/>',
    "plus": '<path d="M8 3v10M3 8h10"/>',
    "refresh": '<path d="M13 8a5 5 0 1 1-1.6-3.7L13 5.7M13 2.5v3.2H9.8"/>',
    "search": '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3 3"/>',
    "shield": '<path d="M8 2 3 4v3.5c0 3 2 5.2 5 6.5 3-1.3 5-3.5 5-6.5V4z"/>',
    "sun": '<circle cx="8" cy="8" r="3"/><path d="M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1'
    'M12 12l1 1M3 13l1-1M12 4l1-1"/>',
    "swap": '<path d="M3 5.5h10M10 2.5l3 3-3 3M13 10.5H3M6 7.5l-3 3 3 3"/>',
    "warning": '<path d="M8 2 1.5 13.5h13zM8 6.5v3M8 11.5v.1"/>',
}


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """Render an icon hidden from screen readers: its control has a text or an aria-label."""
    return format_html(
        '<svg class="icon{}" viewBox="0 0 16 16" aria-hidden="true">{}</svg>',
        f" {extra}" if extra else "",
        mark_safe(_DRAWINGS[name]),  # noqa: S308  a constant of ours
    )
