"""Template context of the fields that select profiles (frontend/parts/selecting.html)."""

from frontend.components.selection.picker import picker
from frontend.components.selection.range_menu import page_range_menu
from frontend.components.selection.restriction_chips import restriction_chips
from frontend.page_query import PageQuery
from frontend.params.page_links import carried_of
from frontend.text import display_names
from profiles.query import OptionsResult, Selection


def selecting_context(of: PageQuery, options: OptionsResult, page: str) -> dict[str, object]:
    """Return the selection, its menus and its names, for a page of a single selection."""
    return {
        "selection": of.selection,
        "range": page_range_menu(of),
        "carried": carried_of(of.params),
        "picker": picker(of.params, of.services, options, of.now),
        "restrictions": restriction_chips(of.params, page),
        **name_context(of.selection),
    }


def name_context(selection: Selection) -> dict[str, object]:
    """Return the names of the service and type that a page shows."""
    return {
        "service": selection.service,
        "type": display_names.type_name(selection.type),
        "type_words": display_names.type_words(selection.type),
    }
