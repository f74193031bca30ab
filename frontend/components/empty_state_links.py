"""Nothing to show, with links to what to do about it on a page."""

from dataclasses import dataclass

from frontend.components.empty_state import EmptyState


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    url: str
    primary: bool


@dataclass(frozen=True, slots=True)
class EmptyStateLinks:
    why: EmptyState
    links: tuple[Link, ...]


def with_links(nothing: EmptyState, url: str) -> EmptyStateLinks:
    """`url`: of the page, without parameters."""
    links = tuple(
        Link(action.name, f"{url}?{action.asked.parameters()}", action.primary)
        for action in nothing.actions
    )
    return EmptyStateLinks(nothing, links)
