"""Host that enables tasks but does not import asyncio."""

import json
import sys

from flamewatch import _native
from flamewatch.capture.native_sampler import NativeSampler
from flamewatch.capture.profile_types import ProfileType

NativeSampler(_native, tasks=True).capture(ProfileType.WALL, 0.01, lambda seconds: False)
print(json.dumps({"loaded": "asyncio" in sys.modules}))
