"""Check of this interpreter by the sampler in a given folder."""

import json
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from flamewatch import _native

print(
    json.dumps({"supported": _native.supported(), "from": str(Path(_native.__file__).parents[1])})
)
