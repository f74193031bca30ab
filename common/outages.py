"""Failures of the services that the server depends on: counted, and logged once a minute."""

import logging
from enum import StrEnum

from prometheus_client import Counter

from common.metrics import REGISTRY
from common.repeated_log import repeated_log


class Dependency(StrEnum):
    """Service that the server depends on; label of a metric."""

    DATABASE = "database"
    REDIS = "redis"
    BLOB_STORE = "blob_store"


_ERRORS = Counter(
    "flamewatch_dependency_errors",
    "Failed requests to the database, Redis or the blob store.",
    ["dependency"],
    registry=REGISTRY,
)
for _dependency in Dependency:
    _ERRORS.labels(_dependency.value)


def count_failure(dependency: Dependency) -> None:
    _ERRORS.labels(dependency.value).inc()


def note_failure(
    dependency: Dependency, logger: logging.Logger, message: str, *args: object
) -> None:
    """Count a failure, and log it unless the same message was logged in the last minute."""
    count_failure(dependency)
    repeated_log.warn(logger, message, *args)
