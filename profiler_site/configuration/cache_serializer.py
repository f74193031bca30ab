"""Serializer of Django's cache in Redis: JSON, because reading Django's pickles runs their code."""

import json
from typing import Any

VERSION = 2  # of the keys: 1 had pickles


class JsonSerializer:
    """Serializer of values that JSON can hold, as sessions and rate limits are."""

    def dumps(self, value: Any) -> int | bytes:
        """Encode a value; integers stay, so that Redis can increment them."""
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        """Decode a value. Raise `ValueError` for anything but JSON."""
        return json.loads(data)
