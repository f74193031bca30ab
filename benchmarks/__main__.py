"""Run all benchmarks, or the named ones: `python -m benchmarks [name …]`."""

import importlib
import pkgutil
import sys

import benchmarks

# Names of benchmarks before they were renamed.
ALIASES = {"answers": "query_latency", "holding": "parked_agents"}


def names() -> list[str]:
    """List the benchmark modules that define `main`."""
    found = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in sorted(found)}
    return [name for name in modules if name != "__main__" and hasattr(modules[name], "main")]


def main(selected: list[str]) -> int:
    selected = [ALIASES.get(name, name) for name in selected]
    unknown = set(selected) - set(names())
    if unknown:
        print(f"No benchmark {', '.join(sorted(unknown))}; there are {', '.join(names())}.")
        return 2
    return max(
        int(importlib.import_module(f"benchmarks.{name}").main()) for name in selected or names()
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
