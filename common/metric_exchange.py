"""Exchange of metrics between the processes of one machine, through files in a folder.

Each process has a slot, `web-0` or `worker-1`: the lowest free number of its role, which it holds
by a lock of the kernel until it ends. It writes its metrics to the file of the slot every few
seconds; the process that is scraped adds those of the others, with the slot as the label `process`.
A process that restarts takes a free slot, so that the label has few values, and its counters begin
at zero, as Prometheus expects.

The library's own mode for several processes is not used: it maps sparse files into memory, and a
write to them on a full disk would kill the process (docs/decisions/0026-metrics.md).
"""

import fcntl
import logging
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from prometheus_client import CollectorRegistry, Metric

from common.metrics import REGISTRY
from common.repeated_log import repeated_log

PERIOD_SECONDS = 5.0
_MAX_SLOTS = 1000  # of a role

log = logging.getLogger(__name__)


class _Slot(NamedTuple):
    name: str
    lock: int  # descriptor of the locked file
    owner: int  # process id: a forked process must not use the slot of its parent


class MetricExchange:
    """Metrics of this process and of the others that use the same folder."""

    def __init__(self, folder: Path, role: str, registry: CollectorRegistry) -> None:
        self._folder, self._role, self._registry = folder, role, registry
        self._slot: _Slot | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Publish every PERIOD_SECONDS, in a thread that ends with the process."""
        threading.Thread(target=self._publish_for_ever, name="metrics", daemon=True).start()

    def publish(self) -> None:
        """Write the metrics of this process to its file. Raise OSError."""
        with self._lock:
            name = self._own_slot().name
            families = [_to_json(family) for family in self._registry.collect()]
            unfinished = self._folder / f"{name}.new"
            unfinished.write_bytes(orjson.dumps(families))
            unfinished.replace(self._folder / f"{name}.json")

    def collect(self) -> list[Metric]:
        """Return the metrics of all processes, with the label `process`.

        Those of other processes are from their files, and PERIOD_SECONDS old at most. Raise OSError
        if this process cannot take a slot.
        """
        with self._lock:
            own = self._own_slot().name
        merged: dict[str, Metric] = {}
        for family in self._registry.collect():
            _add(merged, family, own)
        for name, families in self._others(own):
            for family in families:
                _add(merged, family, name)
        return list(merged.values())

    def _others(self, own: str) -> Iterator[tuple[str, list[Metric]]]:
        for path in sorted(self._folder.glob("*.json")):
            if path.stem != own and self._is_alive(path.stem):
                try:
                    yield path.stem, list(map(_from_json, orjson.loads(path.read_bytes())))
                except (OSError, ValueError, KeyError, TypeError) as error:
                    log.warning("Metrics of the process %s cannot be read: %s", path.stem, error)

    def _is_alive(self, name: str) -> bool:
        try:
            descriptor = os.open(self._folder / f"{name}.lock", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _own_slot(self) -> _Slot:
        """Return the slot of this process; take one if it has none. Raise OSError."""
        if self._slot is not None and self._slot.owner == os.getpid():
            return self._slot
        if self._slot is not None:
            os.close(self._slot.lock)  # of the parent, which keeps its own descriptor
            self._slot = None
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._slot = self._take_slot()
        return self._slot

    def _take_slot(self) -> _Slot:
        for number in range(_MAX_SLOTS):
            name = f"{self._role}-{number}"
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._folder / f"{name}.lock", flags, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            (self._folder / f"{name}.json").unlink(missing_ok=True)  # of a process that has ended
            return _Slot(name, descriptor, os.getpid())
        raise OSError(None, f"{_MAX_SLOTS} processes publish metrics in {self._folder} already")

    def _publish_for_ever(self) -> None:
        pause = threading.Event()
        has_failed = False
        while True:
            try:
                self.publish()
                has_failed = False
            except OSError as error:
                if not has_failed:
                    log.warning("Metrics of this process cannot be written: %s", error)
                has_failed = True
            pause.wait(PERIOD_SECONDS)


def _add(merged: dict[str, Metric], family: Metric, process: str) -> None:
    """Add the samples of a family to the family of the same name."""
    target = merged.setdefault(family.name, Metric(family.name, family.documentation, family.type))
    for sample in family.samples:
        target.samples.append(sample._replace(labels={**sample.labels, "process": process}))


def _to_json(family: Metric) -> dict[str, Any]:
    samples: Iterable[Any] = ((each.name, each.labels, each.value) for each in family.samples)
    return {
        "name": family.name,
        "help": family.documentation,
        "type": family.type,
        "samples": list(samples),
    }


def _from_json(stored: Any) -> Metric:
    family = Metric(stored["name"], stored["help"], stored["type"])
    for name, labels, value in stored["samples"]:
        family.add_sample(name, labels, value)
    return family


_exchanges: list[MetricExchange] = []


def start_exchange(role: str) -> None:
    """Start to publish the metrics of this process, once; `role` is `web` or `worker`."""
    if _exchanges:
        return
    exchange = MetricExchange(Path(settings.DATA_DIR) / "metrics", role, REGISTRY)
    _exchanges.append(exchange)
    exchange.start()


def collect_processes() -> list[Metric]:
    """Return the metrics of the processes of this machine, without an exchange of this one."""
    if not _exchanges:
        return list(REGISTRY.collect())
    try:
        return _exchanges[0].collect()
    except OSError as error:
        repeated_log.warn(log, "Metrics of other processes cannot be read: %s", error)
        return list(REGISTRY.collect())
