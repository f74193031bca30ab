"""Links to the commits between two versions."""

import pytest

from projects.commit_ranges import build_compare_url

GITHUB = "https://github.com/acme/shop/blob/{version}/{file}#L{line}"


@pytest.mark.parametrize(
    ("template", "url"),
    [
        (GITHUB, "https://github.com/acme/shop/compare/1.4...1.5"),
        (
            "https://git.example.org:8443/acme/shop/blob/v{version}/src/{file}",
            "https://git.example.org:8443/acme/shop/compare/v1.4...v1.5",
        ),
        (
            "https://gitlab.com/acme/teams/shop/-/blob/{version}/{file}#L{line}",
            "https://gitlab.com/acme/teams/shop/-/compare/1.4...1.5",
        ),
        (
            "https://codeberg.org/acme/shop/src/commit/{version}/{file}#L{line}",
            "https://codeberg.org/acme/shop/compare/1.4...1.5",
        ),
        (
            "https://codeberg.org/acme/shop/src/tag/{version}/{file}",
            "https://codeberg.org/acme/shop/compare/1.4...1.5",
        ),
        ("https://github.com/acme/shop/blob/main/{file}#L{line}", ""),
        ("https://code.example.org/browse?file={file}&at={version}", ""),
        ("https://{version}.example.org/acme/shop/blob/x/{file}", ""),
        ("", ""),
    ],
)
def test_comparison_follows_from_the_template(template: str, url: str) -> None:
    assert build_compare_url(template, "1.4", "1.5") == url


@pytest.mark.parametrize(("base", "head"), [("", "1.5"), ("1.4", ""), ("", "")])
def test_both_versions_are_needed(base: str, head: str) -> None:
    assert build_compare_url(GITHUB, base, head) == ""


def test_versions_are_escaped() -> None:
    url = build_compare_url(GITHUB, '1"><script>', "release/1.5?x#y{file}")
    assert url == (
        "https://github.com/acme/shop/compare/1%22%3E%3Cscript%3E...release%2F1.5%3Fx%23y%7Bfile%7D"
    )


def test_output_of_git_describe_names_its_commit() -> None:
    template = "https://github.com/acme/shop/blob/v{version}/{file}"
    url = build_compare_url(template, "1.4", "1.4-12-g8d3f0a1")
    assert url == "https://github.com/acme/shop/compare/v1.4...8d3f0a1"
