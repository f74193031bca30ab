"""Line tables are decoded as the interpreter decodes them."""

import inspect
import json
import random
from types import CodeType, FunctionType

import pytest

from flamewatch.capture.line_table import find_line


def codes_of(module: object) -> list[CodeType]:
    found = [f.__code__ for _, f in inspect.getmembers(module, inspect.isfunction)]
    for _, cls in inspect.getmembers(module, inspect.isclass):
        found += [f.__code__ for f in vars(cls).values() if isinstance(f, FunctionType)]
    return found + [c for code in found for c in code.co_consts if isinstance(c, CodeType)]


@pytest.mark.parametrize("module", [inspect, json, json.decoder], ids=lambda m: m.__name__)
def test_every_instruction_has_the_line_that_the_interpreter_gives(module: object) -> None:
    codes = codes_of(module)
    assert codes
    for code in codes:
        theirs = [line or 0 for line, *_ in code.co_positions()]
        ours = [
            find_line(code.co_linetable, code.co_firstlineno, 2 * i) for i in range(len(theirs))
        ]
        assert ours == theirs, code.co_qualname


def test_lines_that_go_backwards_and_far_are_followed() -> None:
    source = "x = [\n" + "\n" * 3000 + "f(\n1,\n2),\ng()]\n" + "\n" * 70_000 + "y = 1"
    code = compile(source, "far.py", "exec")
    for start, end, line in code.co_lines():
        for offset in range(start, end, 2):
            assert find_line(code.co_linetable, code.co_firstlineno, offset) == (line or 0)


def test_a_function_that_has_not_begun_is_on_its_first_line() -> None:
    assert find_line(b"", 41, -2) == 41


def test_an_offset_outside_the_table_has_no_line() -> None:
    code = find_line.__code__
    assert find_line(code.co_linetable, code.co_firstlineno, 1 << 20) == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_table_that_was_cut_or_overwritten_is_read_without_an_error(seed: int) -> None:
    chance = random.Random(seed)
    whole = pytest.main.__code__.co_linetable
    cut = [whole[:n] for n in range(len(whole))]
    garbage = [chance.randbytes(chance.randrange(40)) for _ in range(500)]
    unending = [bytes([128 | 13 << 3, *[127] * 20])]
    for table in cut + garbage + unending:
        for offset in (0, 8, 1 << 16):
            assert find_line(table, 10, offset) >= 0
