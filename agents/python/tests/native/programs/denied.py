"""Captures under a seccomp filter that rejects one system call, like that of a strict container."""

import json
import sys
import threading
import time

from seccomp import deny

from flamewatch import _native

deny(sys.argv[1])
result: dict[str, object] = {"supported": _native.supported(), "error": None, "counts": None}
result["contention"] = _native.contention_supported()
try:
    _native.start("cpu", period_us=1000)
except RuntimeError as error:
    result["error"] = str(error)
else:
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        sum(range(1000))
    result["counts"] = _native.stop()["counts"]
result["threads"] = threading.active_count()
print(json.dumps(result))
