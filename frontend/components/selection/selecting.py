"""Template context of the fields that select profiles (frontend/parts/picker.html)."""

from frontend.components.selection.picker import picker
from frontend.components.selection.range_menu import page_range_menu
from frontend.components.selection.restriction_chips import restriction_chips
from frontend.page_query import PageQuery
from frontend.params.page_links import get_carried
from frontend.text import display_names
from profiles.query import OptionsResult, Selection


def selection_context(
    page_query: PageQuery, options: OptionsResult, page: str
) -> dict[str, object]:
    """Return the selection, its menus and its names, for a page of a single selection."""
    return {
        "selection": page_query.selection,
        "range": page_range_menu(page_query),
        "carried": get_carried(page_query.params),
        "picker": picker(page_query.params, page_query.services, options, page_query.now),
        "restrictions": restriction_chips(page_query.params, page),
        **name_context(page_query.selection),
    }


def name_context(selection: Selection) -> dict[str, object]:
    """Return the names of the service and type that a page shows."""
    return {
        "service": selection.service,
        "type": display_names.type_name(selection.type),
        "type_words": display_names.type_words(selection.type),
    }
