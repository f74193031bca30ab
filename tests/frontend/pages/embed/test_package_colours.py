"""Packages and their colours: those of embedded images are those of the console's modules.

packages.json has cases that the modules pass too (packages.test.js and package-colours.test.js of
tests/frontend/js/flame-graph/packages).
"""

import json
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from frontend.pages.embed.package_colours import PACKAGE_TOKENS, PackageColours
from frontend.pages.embed.packages import PackageCollector, find_package
from frontend.pages.embed.theme import THEMES, TOKENS
from profiles.engine.calltree.top import top
from profiles.query import FunctionRow
from tests.golden.make import tree_of
from tests.golden.queries import QUERIES
from tests.node import run_module
from tests.paths import STATIC

CASES = json.loads((Path(__file__).parent / "packages.json").read_text())
SAMPLES = {query.sample.name: query.sample for query in QUERIES}
Selection = Sequence[FunctionRow]
# For each function of a selection: name, path and kind of its package, and its token.
SCRIPT = """
import { readFileSync } from 'node:fs';
import {
  PackageColours,
  PACKAGE_TOKENS,
} from './frontend/static/flame-graph/packages/package-colours.js';
import { packageOf } from './frontend/static/flame-graph/packages/packages.js';
const found = JSON.parse(readFileSync(0, 'utf8')).map((functions) => {
  const column = (at) => functions.map((row) => row[at]);
  const index = functions.map((_, i) => i);
  const colours = new PackageColours({
    ...{ names: column(0), files: column(1), name: index, file: index },
    ...{ self: column(2), total: column(3) },
  });
  return functions.map(([name, file]) => {
    const packaged = packageOf(name, file);
    const token = PACKAGE_TOKENS[colours.slotOf(packaged)];
    return [packaged.name, packaged.path, packaged.kind, token];
  });
});
console.log(JSON.stringify(found));
"""
# Parts of names and files, for functions of which no profile has the like.
NAMES = (
    *("main", "net/http", "github.com/", "acme.dev/shop/v2", "gopkg.in/yaml%2ev3", "runtime"),
    *(".", "/", "::", ".(*conn)", "(", "<", "[", "]", ">", "\n", "+0x1F", "serve", "Rule", "$"),
    *("com.acme.", "java.util.", "org.apache.", "(idle)", "&mut ", "core", "é", "\u2028", "_C", ""),
)
FILES = (
    *("/", "/app/", "/src/", "/usr/local/go/src/", "/home/dev/", "C:\\", "\\", "file://", "node:"),
    *("go/pkg/mod/", "/vendor/", "@v1.2.0/", "@v2", "net/http", "github.com/a/b", "runtime", "v2"),
    *("/site-packages/", "/dist-packages/", "google", "/cloud/", "numpy.libs", "/python3.11/"),
    *("/node_modules/", "@acme", "express", "/registry/src/", "index-1/", "serde-1.0", "/rustc/"),
    *("/library/std/", "<frozen", "<string", "[kernel", ".so", ".so.6", ".py", ".go", ".s", ".js"),
    *(".ts", ".java", ".kt", ".rs", ".c", ".rb", ".", "\n", "\u2028", "é", "😀", "x", "views", ""),
)


def tokens_of(functions: Selection) -> list[str]:
    colours, collector = PackageColours(functions), PackageCollector()
    return [
        colours.package_token(collector.find_package(each.name, each.file)) for each in functions
    ]


def in_browser(selections: Iterable[Selection]) -> list[list[list[str]]]:
    rows = [
        [(each.name, each.file, each.self, each.total) for each in functions]
        for functions in selections
    ]
    found: list[list[list[str]]] = json.loads(run_module(SCRIPT, stdin=json.dumps(rows)))
    return found


def assert_the_same(selections: Sequence[Selection]) -> None:
    for functions, expected in zip(selections, in_browser(selections), strict=True):
        tokens = tokens_of(functions)
        for each, token, there in zip(functions, tokens, expected, strict=True):
            assert [*find_package(each.name, each.file), token] == there, each


@pytest.mark.parametrize(("name", "file", "kind", "package"), CASES["packages"])
def test_a_function_has_a_package(name: str, file: str, kind: str, package: str) -> None:
    found = find_package(name, file)
    assert (found.kind, found.name) == (kind, package)


@pytest.mark.parametrize("case", CASES["selections"], ids=lambda case: case["name"])
def test_the_packages_of_a_selection_have_colours(case: dict[str, Any]) -> None:
    functions = case["functions"]
    rows = [FunctionRow(name, file, own, total, 1) for name, file, own, total, _ in functions]
    assert tokens_of(rows) == [token for *_, token in functions]


def test_functions_of_the_sample_profiles_have_the_colours_of_the_console() -> None:
    selections = [
        [FunctionRow(cost.name, cost.file, cost.self, cost.total, 1) for cost in top(tree_of(each))]
        for each in SAMPLES.values()
    ]
    assert sum(map(len, selections)) > 1000
    assert_the_same(selections)


def test_any_functions_have_the_colours_of_the_console() -> None:
    chosen = random.Random(7)

    def text(parts: Sequence[str]) -> str:
        return "".join(chosen.choices(parts, k=chosen.randrange(1, 7)))

    def functions() -> Selection:
        # Each file once: those of several packages are no files of real programs.
        files = dict.fromkeys(text(FILES) for _ in range(60))
        values = [(chosen.randrange(-3, 30), chosen.choice([0, 0, 5, 200])) for _ in files]
        return [
            FunctionRow(text(NAMES), file, own, own + below, 1)
            for file, (own, below) in zip(files, values, strict=True)
        ]

    assert_the_same([functions() for _ in range(300)])


def test_the_colours_are_those_of_the_stylesheet() -> None:
    css = (STATIC / "flamewatch.css").read_text()
    pairs = re.findall(r"^ +--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);$", css, re.MULTILINE)
    in_css = {token: (light, dark) for token, light, dark in pairs}
    assert {token: in_css.get(token) for token in TOKENS} == TOKENS
    assert set(PACKAGE_TOKENS) <= set(TOKENS)


def test_labels_on_highlighted_nodes_have_the_ink_of_the_console() -> None:
    script = """
import { inkOn } from './frontend/static/flame-graph/graph/palette.js';
const rgb = (hex) => `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))})`;
console.log(JSON.stringify(process.argv.slice(1).map((hex) => inkOn(rgb(hex)))));
"""
    fills = [theme.highlight for theme in THEMES.values()]
    assert json.loads(run_module(script, *fills)) == [
        theme.highlight_ink for theme in THEMES.values()
    ]
