"""Links from lines to a repository, by the owner's link template."""

import pytest

from frontend.components.source_links import InvalidLinkTemplate, check_pattern, source_link

PATTERN = "https://git.example.org/shop/blob/{version}/{file}#L{line}"


def test_a_link_has_file_line_and_version() -> None:
    link = source_link(PATTERN, "/app/", "/app/shop/tax.py", 12, "2.31.0")
    assert link == "https://git.example.org/shop/blob/2.31.0/shop/tax.py#L12"


def test_names_are_escaped_in_links() -> None:
    link = source_link(PATTERN, "", 'a b/"><x>?#{line}.py', 3, "../../evil")
    assert link == (
        "https://git.example.org/shop/blob/..%2F..%2Fevil/a%20b/%22%3E%3Cx%3E%3F%23%7Bline%7D.py#L3"
    )


@pytest.mark.parametrize(
    ("pattern", "prefix", "file"),
    [
        ("", "", "/app/a.py"),
        (PATTERN, "", ""),
        (PATTERN, "/app/", "/usr/lib/python3.11/json/__init__.py"),
        ("javascript:alert({file})", "", "/app/a.py"),
    ],
)
def test_without_a_target_there_is_no_link(pattern: str, prefix: str, file: str) -> None:
    assert source_link(pattern, prefix, file, 1, "1") == ""


@pytest.mark.parametrize(
    "pattern",
    [
        "javascript:alert(1)//{file}",
        "//git.example.org/{file}",
        "https://git.example.org/",
        "https://git.example.org/{file}/{secret}",
        "https://git.example.org/{file.__class__}",
        "https://git.example.org/{file}{",
        "https://git.example.org/{file:>999999999}",
        "https://git.example.org/{file}/{0}",
    ],
)
def test_an_invalid_pattern_is_rejected(pattern: str) -> None:
    with pytest.raises(InvalidLinkTemplate):
        check_pattern(pattern)
