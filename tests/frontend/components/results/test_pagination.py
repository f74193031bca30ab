"""Pagination of long lists."""

from frontend.components.results.pagination import Pages, paginate


def test_a_page_beyond_the_last_is_the_last() -> None:
    assert paginate(41, 20, 99) == Pages(page=3, pages=3, first=40, behind=60)


def test_an_empty_list_has_one_page() -> None:
    assert paginate(0, 20, 1) == Pages(page=1, pages=1, first=0, behind=20)
