"""DiagnosisResult of `flamewatch doctor` about the block cache."""

from pathlib import Path

import pytest
from pytest_django import Settings

from profiler_site.diagnosis.installation_checks import check_block_cache
from profiler_site.diagnosis.result import Severity


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR, settings.BLOCK_CACHE_BYTES, settings.MIN_FREE_BYTES = tmp_path, 2**20, 0
    return tmp_path


def test_empty_cache_is_fine(folder: Path) -> None:
    result = check_block_cache()
    assert result.severity is Severity.OK
    assert result.text == "0 of 1,048,576 bytes in use."


def test_disk_that_is_too_small_is_a_warning(folder: Path, settings: Settings) -> None:
    settings.BLOCK_CACHE_BYTES = 2**60
    result = check_block_cache()
    assert result.severity is Severity.WARNING
    assert "1,152,921,504,606,846,976 of FLAMEWATCH_BLOCK_CACHE_BYTES" in result.text


def test_cache_that_is_off_is_named(folder: Path, settings: Settings) -> None:
    settings.BLOCK_CACHE_BYTES = 0
    result = check_block_cache()
    assert result.severity is Severity.OK
    assert "turns it off" in result.text
