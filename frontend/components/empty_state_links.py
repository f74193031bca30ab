"""Empty states whose actions are links on a page."""

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
    """Add a link for each action of an empty state; `url` is the page's, without a query string."""
    links = tuple(
        Link(action.name, f"{url}?{action.asked.parameters()}", action.primary)
        for action in nothing.actions
    )
    return EmptyStateLinks(nothing, links)
