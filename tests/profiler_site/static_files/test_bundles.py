"""Bundles of ES modules behave as the modules do."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from profiler_site.static_files.bundles import COMMON, BundleError, bundled
from tests.node import run_file
from tests.paths import ROOT, own_scripts

NAMED = re.compile(r"{% static '([^']+\.js)' %}")
UNITS = """
/** Units, as in `import { formatted } from './units.js'`. */
const SUFFIX = ' ms'; // no import('./nothing.js')
export const FACTOR = 1e3;
export function formatted(value) {
  return `${value * FACTOR}${SUFFIX}`;
}
"""


def run(folder: Path, files: Mapping[str, str], entry: str) -> str:
    """Write the files to the folder, run one of them under Node.js, and return its output."""
    (folder / "package.json").write_text('{"type": "module"}')
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return run_file(folder / entry)


def test_one_page_is_one_file(tmp_path: Path) -> None:
    sources = {
        "units.js": UNITS,
        "charts/axis.js": """import { FACTOR as scale, formatted } from '../units.js';
const SUFFIX = ' on the axis';
export class Axis {
  label = formatted(2) + SUFFIX + scale;
}
""",
        "charts/page.js": """import '../units.js';
import {
  Axis,
} from './axis.js';
console.log(new Axis().label);
""",
    }
    files = bundled(sources)
    assert files.keys() == {"charts/page.js", COMMON}
    assert run(tmp_path, files, "charts/page.js") == "2000 ms on the axis1000\n"


def test_pages_and_later_modules_share_the_state_of_a_module(tmp_path: Path) -> None:
    sources = {
        "state.js": "export const state = { calls: 0 };\nconsole.log('evaluated');\n",
        "a/page.js": """import { state } from '../state.js';
state.calls += 1;
import('../later/later.js').then(({ later }) => console.log(later(), state.calls));
""",
        "later/later.js": """import { state } from '../state.js';
export async function other() {}
export function later() {
  state.calls += 1;
  return typeof other;
}
""",
    }
    files = bundled(sources)
    assert files.keys() == {"a/page.js", "later/later.js", COMMON}
    assert run(tmp_path, files, "a/page.js") == "evaluated\nfunction 2\n"


def test_a_page_s_module_that_another_one_loads_later_has_its_exports(tmp_path: Path) -> None:
    sources = {
        "upload.js": "export const sent = () => 'sent';\n",
        "upload_page.js": "import { sent } from './upload.js';\nconsole.log(sent());\n",
        "drop.js": "import('./upload.js').then(({ sent }) => console.log(sent(), 'later'));\n",
    }
    files = bundled(sources)
    assert run(tmp_path, files, "drop.js") == "sent later\n"
    assert run(tmp_path, files, "upload_page.js") == "sent\n"


def test_a_worker_is_found_from_the_file_that_starts_it(tmp_path: Path) -> None:
    start = "export const url = new URL('./worker.js', import.meta.url).href;\n"
    page = "import { url } from './search/start.js';\nconsole.log(url);\n"
    sources = {"search/start.js": start, "search/worker.js": "1;\n", "a.js": page, "b.js": page}
    files = bundled(sources)
    assert "search/worker.js" in files
    assert run(tmp_path, files, "a.js").endswith("/search/worker.js\n")
    assert "from'./bundles/common.js'" in files["a.js"]


def test_a_script_that_is_no_module_stays_one() -> None:
    files = bundled({"early.js": "{\n  const dark = true; // now\n}\n"})
    assert files["early.js"] == "{const dark=true;}\n"


@pytest.mark.parametrize(
    "statement",
    [
        "import * as units from './units.js';",
        "import units from './units.js';",
        "export default 1;",
        "export { formatted } from './units.js';",
        "export let changing = 1;",
        "export const { a, b } = {};",
        "await import('./units.js');",
    ],
)
def test_other_statements_are_errors(statement: str) -> None:
    with pytest.raises(BundleError, match=re.escape(f"page.js: `{statement}` is not bundled")):
        bundled({"units.js": UNITS, "page.js": f"{statement}\n"})


def test_an_import_of_no_file_is_an_error() -> None:
    with pytest.raises(BundleError, match=r"page.js: there is no units.js"):
        bundled({"page.js": "import { formatted } from './units.js';\n"})


def test_an_import_of_a_name_that_is_not_exported_is_an_error() -> None:
    sources = {"units.js": UNITS, "page.js": "import { SUFFIX } from './units.js';\n"}
    with pytest.raises(BundleError, match=r"page.js: units.js exports no SUFFIX"):
        bundled(sources)


def test_modules_that_import_each_other_are_an_error() -> None:
    sources = {
        "page.js": "import './a.js';\n",
        "a.js": "import './b.js';\n",
        "b.js": "import './a.js';\n",
    }
    with pytest.raises(BundleError, match=r"each other: page.js → a.js → b.js → a.js"):
        bundled(sources)


def test_every_script_of_a_template_has_a_file() -> None:
    templates = (ROOT / "frontend" / "templates").rglob("*.html")
    named = {name for path in templates for name in NAMED.findall(path.read_text())}
    assert len(named) > 10
    files = bundled(own_scripts())
    assert {name for name in named if not name.startswith("vendor/")} <= files.keys()
