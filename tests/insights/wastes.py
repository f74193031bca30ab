"""Programs that waste CPU time in one way each; usage: python wastes.py NAME."""

import asyncio
import contextlib
import copy
import datetime
import importlib
import io
import json
import logging
import queue
import re
import ssl
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable

SECONDS = 0.8


def runs() -> bool:
    return time.monotonic() < END


def regex_compile() -> None:
    number = 0
    while runs():
        re.compile(f"a{number}b+|c{number}")
        number += 1


def json_round_trips() -> None:
    rows = [{"order": number} for number in range(100)]
    while runs():
        json.loads(json.dumps(rows))


def deepcopy() -> None:
    orders = {number: [number] * 5 for number in range(50)}
    while runs():
        copy.deepcopy(orders)


def date_parsing() -> None:
    while runs():
        datetime.datetime.strptime("2026-01-02 03:04 +0000", "%Y-%m-%d %H:%M %z")


def logging_in_loop() -> None:
    logger = logging.getLogger("shop")
    logger.addHandler(logging.StreamHandler(io.StringIO()))
    logger.propagate = False
    logger.setLevel(logging.INFO)
    while runs():
        logger.info("order %d of %s", 1, "shop")


def tracebacks() -> None:
    while runs():
        try:
            raise ValueError
        except ValueError:
            traceback.format_exc()


def imports() -> None:
    def handle() -> None:
        while runs():
            for name in ("colorsys", "quopri", "stringprep"):
                sys.modules.pop(name, None)
                importlib.import_module(name)

    thread = threading.Thread(target=handle)
    thread.start()
    thread.join()


def blocking_in_async() -> None:
    async def handle() -> None:
        while runs():
            subprocess.run(["/bin/true"], check=True)  # noqa: ASYNC221  the waste

    asyncio.run(handle())


def tls_contexts() -> None:
    while runs():
        ssl.create_default_context()


def run_threads(work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def lock_waits() -> None:
    lock = threading.Lock()

    def work() -> None:
        while runs():
            with lock:
                time.sleep(0.002)

    run_threads(work)


def logging_lock() -> None:
    class SlowStream(io.StringIO):
        def write(self, text: str) -> int:
            time.sleep(0.002)
            return len(text)

    logger = logging.getLogger("shop")
    logger.addHandler(logging.StreamHandler(SlowStream()))
    logger.propagate = False
    logger.setLevel(logging.INFO)

    def work() -> None:
        while runs():
            logger.info("order")

    run_threads(work)


def queue_workers() -> None:
    jobs: queue.Queue[int] = queue.Queue()

    def work() -> None:
        while runs():
            with contextlib.suppress(queue.Empty):
                jobs.get(timeout=0.1)

    run_threads(work)


def connection_pool() -> None:
    urllib3 = importlib.import_module("urllib3")  # compiles expressions: not in the other programs
    pool = urllib3.HTTPConnectionPool("127.0.0.1", maxsize=1, block=True)

    def work() -> None:
        while runs():
            connection = pool._get_conn()
            time.sleep(0.002)
            pool._put_conn(connection)

    run_threads(work)


def plain_work() -> None:
    total = 0
    while runs():
        total += sum(number * number for number in range(1000))


END = time.monotonic() + SECONDS
globals()[sys.argv[1]]()
