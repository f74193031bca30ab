"""All fuzz targets, by name."""

from collections.abc import Mapping

from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.targets import bodies, credentials, otlp, parameters, pprofs, storage

TARGETS: Mapping[str, FuzzTarget] = {
    target.name: target
    for module in (pprofs, storage, bodies, parameters, credentials, otlp)
    for target in module.TARGETS
}
