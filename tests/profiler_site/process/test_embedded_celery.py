"""Embedded Celery: the first rollup of a server is not lost."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # a process that imports the server

# The in-memory broker asks for a queue, and then adds it, without a lock. A worker that is slow
# between the two would replace the queue that has a message by then.
_PROGRAM = """
import threading
import time
from queue import Queue

import django
from kombu.transport.memory import Channel

django.setup()

import profiles.tasks
from profiler_site.process.embedded_celery import EmbeddedCelery

has_run = threading.Event()

def new_queue(self, queue, **_options):
    if queue not in self.queues:
        if threading.current_thread().name == "celery-worker":
            time.sleep(1)
        self.queues[queue] = Queue()

def find_projects(now):
    has_run.set()
    return []

Channel._new_queue = new_queue
profiles.tasks.find_projects_with_hours = profiles.tasks.find_projects_with_days = find_projects
celery = EmbeddedCelery()
celery.start()
print(has_run.wait(20))
celery.stop()
"""


def test_first_rollup_runs_even_if_the_worker_is_slow_to_declare_its_queue() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "True\n", done.stderr
