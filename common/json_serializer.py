"""JSON for values in Django's Redis cache.

Django's own serializer is pickle, which runs code of whoever can write to Redis.
"""

import json
from typing import Any


class JsonSerializer:
    """Serializer of django.core.cache.backends.redis.RedisCache; Redis can increment integers."""

    def dumps(self, value: object) -> bytes:
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        """Return the value. Raise ValueError for anything but JSON."""
        return json.loads(data)
