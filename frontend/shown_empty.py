"""Nothing to show, with links to what to do about it on a page."""

from dataclasses import dataclass

from frontend.empty import Empty


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    url: str
    primary: bool


@dataclass(frozen=True, slots=True)
class ShownEmpty:
    why: Empty
    links: tuple[Link, ...]


def with_links(nothing: Empty, url: str) -> ShownEmpty:
    """`url`: of the page, without parameters."""
    links = tuple(
        Link(action.name, f"{url}?{action.asked.parameters()}", action.primary)
        for action in nothing.actions
    )
    return ShownEmpty(nothing, links)
