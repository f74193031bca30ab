"""All fuzz targets, by name."""

from collections.abc import Mapping

from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.targets import (
    bodies,
    credentials,
    imports,
    otlp,
    parameters,
    pprofs,
    pyroscope,
    storage,
)

TARGETS: Mapping[str, FuzzTarget] = {
    target.name: target
    for module in (pprofs, storage, bodies, parameters, credentials, imports, otlp, pyroscope)
    for target in module.TARGETS
}
