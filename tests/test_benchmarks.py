"""Names of benchmarks, and the modules that they run."""

import ast

import pytest

from benchmarks.__main__ import ALIASES, MODULES, WITHOUT_SERVER, main
from tests.paths import ROOT

FOLDER = ROOT / "benchmarks"


def is_benchmark(source: str) -> bool:
    names = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    return "main" in names


def test_each_module_with_main_has_a_name() -> None:
    modules = {
        ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        for path in FOLDER.rglob("*.py")
        if is_benchmark(path.read_text())
    }
    assert modules - {"__main__"} == {*MODULES.values()}
    assert {*ALIASES.values()} | WITHOUT_SERVER <= {*MODULES}


def test_named_benchmark_runs_with_its_options(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["blocks", "--help"]) == 0
    assert "--only" in capfd.readouterr().out


def test_unknown_name_is_rejected_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decoding"]) == 2
    assert "decode" in capsys.readouterr().out


def test_options_of_several_benchmarks_are_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blocks", "decode", "--only", "A"]) == 2
    assert "--only A" in capsys.readouterr().out
