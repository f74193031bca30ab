"""Program that patches everything with gevent at its start, and works and sleeps in greenlets."""

from gevent import monkey

monkey.patch_all()

import time  # noqa: E402

import gevent  # noqa: E402
from host_apps import burn  # noqa: E402

import flamewatch  # noqa: E402


def work(job: str) -> None:
    with flamewatch.labels(job=job):
        while True:
            burn()
            time.sleep(0.001)


def beat() -> None:
    while True:
        time.sleep(0.1)
        print("alive")


gevent.joinall([gevent.spawn(work, "first"), gevent.spawn(work, "second"), gevent.spawn(beat)])
