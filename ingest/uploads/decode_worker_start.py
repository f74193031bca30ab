"""Set-up of the process that forks the workers of uploads: it imports what their jobs call.

The workers of conversions are forked by the same process. None of it imports Django or settings.
"""

from common.memory_allocator import keep_freed_memory
from ingest.files import conversion_job as _files  # noqa: F401
from ingest.formats.otlp import json_encoding as _otlp  # noqa: F401
from ingest.pyroscope import conversion_jobs as _pyroscope  # noqa: F401
from ingest.uploads import decode_job as _decoding  # noqa: F401

keep_freed_memory()
