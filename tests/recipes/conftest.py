"""Copy of the repository for each recipe."""

from pathlib import Path

import pytest

from tests.recipes.scratch_copy import ScratchCopy


@pytest.fixture
def copy(tmp_path: Path) -> ScratchCopy:
    return ScratchCopy.create(tmp_path)
