"""Work like that of a service, with a different mixture per number: python series.py <number>

`flamewatch-run --once` profiles it for the samples python-wall-00 to -19.
"""

import ast
import inspect
import json
import re
import sys
import textwrap
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

SECONDS = 1.0


@dataclass
class Order:
    number: int
    tags: list[str] = field(default_factory=list)

    def price(self) -> float:
        return sum(len(tag) * self.number for tag in self.tags) / 7


def orders(count: int) -> list[Order]:
    return [Order(i, [f"tag-{i % k}" for k in (3, 5, 7)]) for i in range(1, count)]


def as_json() -> None:
    text = json.dumps([vars(order) for order in orders(200)], indent=1)
    for entry in json.loads(text):
        Order(**entry).price()


def parsed() -> None:
    for node in ast.walk(ast.parse(inspect.getsource(textwrap))):
        ast.unparse(node) if isinstance(node, ast.Return) else None


def packed() -> None:
    words = re.findall(r"[a-z]+", inspect.getsource(re) * 2)
    zlib.decompress(zlib.compress(" ".join(sorted(words)).encode(), 9))


def nested(depth: int = 9) -> int:
    return nested(depth - 1) + 1 if depth else len(sorted(orders(300), key=Order.price))


def waiting() -> None:
    time.sleep(0.02)


JOBS: list[Callable[[], object]] = [as_json, parsed, packed, nested, waiting]


def main(number: int) -> None:
    end, turn = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        JOBS[(turn * (number % 4 + 1) + turn // 3) % len(JOBS)]()
        turn += 1


if __name__ == "__main__":
    main(int(sys.argv[1]))
