"""Addresses of lists with something changed."""

from typing import Protocol

from django import template

register = template.Library()


class Query(Protocol):
    def address(self, **changed: str | int) -> str: ...


@register.simple_tag
def changed(query: Query, **values: str | int) -> str:
    """`{% changed query sort="last" %}`: what else is asked for stays."""
    return query.address(**values)
