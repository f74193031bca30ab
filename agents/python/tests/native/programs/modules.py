"""Module bodies and exec'd code that run once, for less than a sampling period, and are freed.

Prints the CPU time by function below this program's own frames, and the lines.
"""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

MODULES = 150
# A body of two statements, 2 ms each: it is often freed before the sampler thread drains the
# sample.
BODY = """import time
{imports}
end = time.thread_time() + 0.002
while time.thread_time() < end:
    sum(range(100))
"""


def write_modules(folder: Path) -> None:
    """Write chains of three modules that import each other."""
    for n in range(MODULES):
        imports = f"import once_{n + 1}" if n % 3 < 2 else ""
        (folder / f"once_{n}.py").write_text(BODY.format(imports=imports))


def run() -> None:
    for n in range(0, MODULES, 3):
        __import__(f"once_{n}")
    for n in range(50):
        exec(compile(BODY.format(imports=""), f"<made {n}>", "exec"), {})


with tempfile.TemporaryDirectory() as folder:
    write_modules(Path(folder))
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    _native.start("cpu")
    run()
    raw = _native.stop()

seen: Counter[str] = Counter()
lines: Counter[int] = Counter()
for stack in read_stacks(raw):
    kinds = {"body" for f in stack.frames if Path(f.file).name.startswith("once_")}
    kinds |= {"made" for f in stack.frames if f.file.startswith("<made")}
    kinds |= {"freed" for f in stack.frames if f.function == "[freed code]"}
    seen.update(dict.fromkeys([*kinds, "all"], stack.value))
    lines.update(f.line for f in stack.frames if Path(f.file).name.startswith("once_"))
print(json.dumps({"seen": seen, "lines": sorted(lines), "counts": raw["counts"]}))
