"""Program that creates and destroys subinterpreters, which run code of their own."""

import threading
import time
from importlib import import_module
from typing import Any

from host_apps import burn

INSIDE = """
import flamewatch, time
flamewatch.start()
assert flamewatch.status()["state"] == "off", flamewatch.status()
def inside():
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        sum(range(300))
inside()
"""


def interpreters() -> Any:
    for name in ("_xxsubinterpreters", "_interpreters"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise SystemExit("this Python has no subinterpreters")


def run_others() -> None:
    module = interpreters()
    while True:
        other = module.create()
        module.run_string(other, INSIDE)
        module.destroy(other)
        print("alive")


threading.Thread(target=run_others, daemon=True).start()
while True:
    burn()
    time.sleep(0.02)
