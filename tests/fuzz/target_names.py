"""Names of the fuzz targets, with each one's share of the inputs of a run of all targets.

The shares follow the speed of the targets, so that none takes most of the time.
"""

from collections.abc import Mapping

SHARES: Mapping[str, int] = {
    "pprof": 3,
    "pprof-row": 3,
    "gunzip": 4,
    "tree": 3,
    "tree-sections": 3,
    "block": 3,
    "block-sections": 2,
    "result": 3,
    "result-sections": 4,
    "upload-json": 8,
    "handshake-json": 8,
    "upload-protobuf": 6,
    "handshake-protobuf": 6,
    "labels": 8,
    "request": 4,
    "time": 8,
    "api-query": 8,
    "page-query": 2,
    "upload-query": 6,
    "profile-name": 6,
    "key": 6,
    "signed-token": 4,
    "token-request": 6,
    "page-token": 6,
}
