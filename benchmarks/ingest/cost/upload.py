"""Upload requests for profiles of a shape."""

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle

from benchmarks.tools.load import request_with
from benchmarks.tools.shapes import INSTANCES, SHAPES, variants

DIFFERENT = 64  # most bodies per shape; the same bytes under another name are another profile


class Uploads(Iterator[bytes]):
    """Iterator over one upload request per name, formatted as by our agents."""

    def __init__(self, shape: str, project: str, key: str, names: Sequence[str]) -> None:
        self._project, self._key = project, key
        self._names, self._bodies = iter(names), cycle(_bodies(shape))

    def __next__(self) -> bytes:
        path = f"/v2/projects/{self._project}/profiles/{next(self._names)}"
        return request_with("PATCH", path, self._key, next(self._bodies))


@cache
def _bodies(name: str) -> list[bytes]:
    raws = variants(min(DIFFERENT, SHAPES[name].variants), name=name)
    return [_body(SHAPES[name].type, index, raw) for index, raw in enumerate(raws)]


def _body(type: str, index: int, raw: bytes) -> bytes:
    message = {
        "profileType": type,
        "duration": "10s",
        "labels": {"instance": f"web-{index % INSTANCES}"},
        "profileBytes": base64.b64encode(gzip.compress(raw, 1)).decode(),
    }
    return json.dumps(message).encode()
