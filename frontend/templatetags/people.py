"""How people are shown."""

import re

from django import template

from projects.models import User

register = template.Library()


@register.filter
def shown_name(user: User) -> str:
    """The person's full name, or what stands before the @ of the address."""
    return user.get_full_name() or user.email.partition("@")[0]


@register.filter
def initials(user: User) -> str:
    """One or two letters for an avatar: "Mara Lindqvist" gives ML, "alice@…" A."""
    words = [word for word in re.split(r"[\W_]+", shown_name(user)) if word]
    return "".join(word[0] for word in [*words[:1], *words[1:][-1:]]).upper()
