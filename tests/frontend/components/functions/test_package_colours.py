"""Packages and their colours; packages.json has the cases."""

import copy
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from frontend.components.functions.package_colours import PACKAGE_TOKENS, PackageColours
from frontend.components.functions.packages import find_package, split_function
from frontend.pages.embed.theme import LESS, MORE, THEMES, TOKENS
from frontend.text.display_names import SplitName, split_name
from profiles.query import FunctionRow
from tests.node import run_module
from tests.paths import STATIC

CASES = json.loads((Path(__file__).parent / "packages.json").read_text())
Selection = Sequence[FunctionRow]
LETTERS = "abcdefghijkl"
SITE = "/x/site-packages"


def tokens_of(functions: Selection) -> list[str]:
    colours = PackageColours(functions)
    return [colours.find_token(each.name, each.file) for each in functions]


def row(name: str, file: str, own: int, total: int | None = None) -> FunctionRow:
    return FunctionRow(name, file, own, own if total is None else total, 1)


def document_of(frames: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the columns of a tree that packages are added to."""
    indexes = list(range(len(frames)))
    return {
        "names": [name for name, _ in frames],
        "files": [file for _, file in frames],
        "frames": {"name": indexes, "file": indexes},
    }


@pytest.mark.parametrize(("name", "file", "kind", "package"), CASES["packages"])
def test_package_is_derived_from_name_and_file(
    name: str, file: str, kind: str, package: str
) -> None:
    found = find_package(name, file).package
    assert (found.kind, found.name) == (kind, package)


@pytest.mark.parametrize("case", CASES["selections"], ids=lambda case: case["name"])
def test_packages_of_a_selection_have_the_expected_colours(case: dict[str, Any]) -> None:
    functions = case["functions"]
    rows = [row(name, file, own, total) for name, file, own, total, _ in functions]
    assert tokens_of(rows) == [token for *_, token in functions]


def test_packages_of_equal_names_differ_in_their_paths() -> None:
    one = find_package("github.com/a/logfmt.F", "github.com/a/logfmt@v1.0.0/x.go").package
    other = find_package("github.com/b/logfmt.F", "github.com/b/logfmt@v1.0.0/x.go").package
    assert one.name == other.name
    assert one.path != other.path


@pytest.mark.parametrize(("name", "file", "leaf"), CASES["leaves"])
def test_a_list_splits_a_name_after_its_package(name: str, file: str, leaf: str) -> None:
    package, prefix = find_package(name, file)
    assert name == prefix + leaf
    if prefix:
        assert split_function(name, file) == SplitName(f"{package.name}\u00a0·\u00a0", leaf)
    else:
        assert split_function(name, file) == split_name(name)


def test_largest_packages_have_own_colours_and_others_share_one_per_kind() -> None:
    own = [row("f", f"/app/own_{letter}/y.py", 100 - i) for i, letter in enumerate(LETTERS)]
    libraries = [row("f", f"{SITE}/{letter}/y.py", 100 - i) for i, letter in enumerate(LETTERS)]
    tokens = tokens_of([*own, *libraries])
    for kind, found, count in (("own", tokens[:12], 4), ("lib", tokens[12:], 8)):
        assert set(found[:count]) == {f"{kind}-{i + 1}" for i in range(count)}
        assert set(found[count:]) == {f"{kind}-rest"}


def test_package_with_a_large_total_has_its_own_colour() -> None:
    rows = [row("f", f"{SITE}/{letter}/y.py", 100 - i) for i, letter in enumerate(LETTERS)]
    tokens = tokens_of([*rows, row("serve", f"{SITE}/grpc/y.py", 0, 900)])
    assert tokens[-1] != "lib-rest"
    assert tokens[-2] == "lib-rest"


def test_a_package_keeps_its_colour_when_its_rank_changes() -> None:
    def tokens(values: Sequence[int]) -> list[str]:
        pairs = zip(LETTERS, values, strict=False)
        return tokens_of([row("f", f"{SITE}/{letter}/y.py", value) for letter, value in pairs])

    assert tokens([5, 4, 3, 2, 1]) == tokens([1, 2, 3, 4, 5])


def test_a_tree_gets_the_packages_of_its_frames_with_their_shares_of_the_selection() -> None:
    site, shop = f"{SITE}/django/x.py", "/app/shop/x.py"
    rows = [row("main", shop, 2), row("get", site, 5), row("apply", shop, 1), row("idle", "", 0)]
    colours = PackageColours(rows)
    go = ("acme.dev/café😀/pricing.Match", "/src/pricing/rule.go")
    document = document_of([("main", shop), go, ("get", site)])
    colours.add_columns(document, lambda: None)
    assert document["frames"]["package"] == [1, 2, 0]
    assert document["frames"]["prefix"] == [0, len("acme.dev/café😀/pricing.") + 1, 0]  # UTF-16
    assert document["packages"] == [
        {
            **{"name": "django", "path": "django", "kind": "library"},
            **{"colour": colours.find_token("get", site), "self": 5, "area": 5},
        },
        {
            **{"name": "shop", "path": "shop", "kind": "own"},
            **{"colour": colours.find_token("main", shop), "self": 3, "area": 3},
        },
        {
            **{"name": "café😀/pricing", "path": "acme.dev/café😀/pricing", "kind": "own"},
            **{"colour": "own-rest", "self": 0, "area": 0},
        },
    ]


def test_callers_and_callees_of_a_function_share_their_packages() -> None:
    shop = "/app/shop/x.py"
    callers, callees = document_of([("main", shop)]), document_of([("memcpy", "/x/libc.so.6")])
    document: dict[str, Any] = {"callers": callers, "callees": callees}
    PackageColours(()).add_columns(document, lambda: None)
    assert [callers["frames"]["package"], callees["frames"]["package"]] == [[0], [1]]
    assert [package["name"] for package in document["packages"]] == ["shop", "native"]


def test_the_graph_on_the_sign_in_page_has_the_packages_of_its_functions() -> None:
    example = json.loads((STATIC / "flame-graph/example.json").read_text())
    names, files, frames = example["names"], example["files"], example["frames"]
    sums = [0] * len(frames["name"])
    totals = [0] * len(sums)
    open_nodes: list[int] = []
    for frame, depth, own in zip(example["frame"], example["depth"], example["self"], strict=True):
        del open_nodes[depth:]
        open_nodes.append(frame)
        sums[frame] += own
        for above in open_nodes:
            totals[above] += own
    functions = [
        row(names[name], files[file], own, total)
        for name, file, own, total in zip(frames["name"], frames["file"], sums, totals, strict=True)
    ]
    expected = copy.deepcopy(example)
    PackageColours(functions).add_columns(expected, lambda: None)
    assert example == expected


def test_the_colours_are_those_of_the_stylesheet() -> None:
    css = (STATIC / "flamewatch.css").read_text()
    pairs = re.findall(r"^ +--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);$", css, re.MULTILINE)
    in_css = {token: (light, dark) for token, light, dark in pairs}
    assert {token: in_css.get(token) for token in TOKENS} == TOKENS
    assert set(PACKAGE_TOKENS) <= set(TOKENS)
    assert (f"--more: {MORE};", f"--less: {LESS};") == tuple(
        re.findall(r"--(?:more|less): #\w{6};", css)
    )


def test_labels_on_highlighted_nodes_have_the_ink_of_the_console() -> None:
    script = """
import { chooseInk } from './frontend/static/flame-graph/graph/palette.js';
const rgb = (hex) => `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))})`;
console.log(JSON.stringify(process.argv.slice(1).map((hex) => chooseInk(rgb(hex)))));
"""
    fills = [theme.highlight for theme in THEMES.values()]
    assert json.loads(run_module(script, *fills)) == [
        theme.highlight_ink for theme in THEMES.values()
    ]
