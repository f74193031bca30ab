"""A long list in pages."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pages:
    """`page` of `pages`, from one: rows `first` to `behind` of the list."""

    page: int
    pages: int
    first: int
    behind: int

    @property
    def previous(self) -> int:
        return self.page - 1

    @property
    def next(self) -> int:
        return self.page + 1


def pages_of(rows: int, size: int, page: int) -> Pages:
    """The page that is asked for, or the last that there is."""
    pages = max(1, -(-rows // size))
    page = min(max(1, page), pages)
    return Pages(page, pages, (page - 1) * size, page * size)
