"""Template filters for users."""

import re

from django import template

from projects.models import User

register = template.Library()


@register.filter
def display_name(user: User) -> str:
    """Return the user's full name, or the part of the email address before the @."""
    return user.get_full_name() or user.email.partition("@")[0]


@register.filter
def initials(user: User) -> str:
    """Return one or two letters for an avatar: "Mara Lindqvist" gives ML, "alice@…" A."""
    words = [word for word in re.split(r"[\W_]+", display_name(user)) if word]
    return "".join(word[0] for word in [*words[:1], *words[1:][-1:]]).upper()
