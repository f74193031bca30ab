"""The agent of one process: its thread, and the resources that it has to release."""

import os
import time

from flamewatch import unpatched
from flamewatch.capture.sampler import Sampler
from flamewatch.config import Config
from flamewatch.process.bell import Bell
from flamewatch.process.counters import Counters
from flamewatch.process.status import Status
from flamewatch.process.worker import Worker
from flamewatch.transport.client import Client
from flamewatch.transport.identity import new_identity

SENDING_SHARE = 0.8  # share of the time limit of `stop()` that an upload may use


class Agent:
    """Agent that is started once and stopped once. A forked child creates its own from `config`."""

    def __init__(self, config: Config, sampler: Sampler) -> None:
        self.config, self.sampler = config, sampler
        self._identity = new_identity()
        self._counters = Counters()
        self._bell, self._ended = Bell(), Bell()
        self._client = Client(config, self._identity, os.environ)
        self._worker = Worker(config.url, self._client, sampler, self._counters, self._bell)

    def start(self, first_pause: float) -> None:
        """Start the worker thread. `first_pause`: seconds before the first handshake."""

        def run() -> None:
            try:
                self.sampler.stay_apart()
                self._worker.run(first_pause)
            finally:
                self._ended.ring()

        unpatched.start_thread(run)

    def stop(self, seconds: float) -> bool:
        """Stop the worker thread, whatever it is doing.

        Return False if that takes longer than `seconds`. A capture that is running ends early, and
        its profile is sent if the server accepts it within the time limit.
        """
        end = time.monotonic() + seconds
        self._bell.ring()
        if self._worker.busy:
            self._ended.wait(seconds * SENDING_SHARE)
        self._client.connection.interrupt()
        ended = self._ended.wait(max(end - time.monotonic(), 0.0))
        self.sampler.close()
        return ended

    def abandon(self) -> None:
        """Free the inherited resources in a forked child, which has no worker thread."""
        self._client.connection.close()
        self.sampler.after_fork()

    def status(self) -> Status:
        done, config = self._counters, self.config
        return Status(
            state=done.state,
            reason=done.reason,
            last_error=done.last_error,
            sampler=self.sampler.name,
            types=[str(kind) for kind in self._worker.types],
            server=config.url,
            service=config.service,
            version=config.version,
            zone=config.zone,
            agent=self._identity.agent,
            profiles_sent=done.profiles_sent,
            profiles_dropped=done.profiles_dropped,
            samples=done.samples,
            samples_dropped=done.samples_dropped,
            dropped_because=dict(done.dropped_because),
            errors=done.errors,
            cpu_seconds=done.cpu_ns / 1e9,
            memory_bytes=done.memory_bytes,
            next_try_in=max(0.0, done.next_try - time.monotonic()),
        )
