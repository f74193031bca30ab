"""Vendored files are those listed in their README, unedited."""

import hashlib
import re

from tests.paths import STATIC

VENDOR = STATIC / "vendor"


def test_every_vendored_file_has_the_hash_its_readme_gives() -> None:
    rows = re.findall(
        r"^\| `([^`]+)` \|.*`([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text(), re.M
    )
    listed = dict(rows)
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.iterdir()
        if path.name != "README.md"
    }
    assert found == listed
