"""Set-up of the worker processes of queries, imported before they are forked.

A worker responds to pages and to the query API like the server, and reads the database with
connections of its own. It never writes to the database.
"""

import os

import django
from django.db import connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup(set_prefix=False)

from alerts import readings as _alert_readings  # noqa: E402, F401
from api.mcp import urls as _mcp  # noqa: E402, F401  loads what jobs call
from api.pyroscope import urls as _pyroscope_queries  # noqa: E402, F401
from api.resources import table as _resources  # noqa: E402, F401
from common.memory_allocator import keep_freed_memory  # noqa: E402
from findings.hourly_sums import storage as _hourly_sums  # noqa: E402, F401
from frontend.http.page_handler import get_page_handler  # noqa: E402
from frontend.rendering.load_pages import load_pages  # noqa: E402
from profiles.compaction import build as _builds  # noqa: E402, F401  for the worker of compaction
from profiles.compaction import build_workers as _build_workers  # noqa: E402, F401


def forbid_writes() -> None:
    """Let the database reject what a worker would write; the server's process writes everything."""
    database = connections.settings["default"]
    options = database.setdefault("OPTIONS", {})
    if database["ENGINE"].endswith("sqlite3"):
        options["init_command"] = f"{options.get('init_command', '')}PRAGMA query_only=ON;"
        options.pop("transaction_mode", None)
    else:
        options["options"] = f"{options.get('options', '')} -c default_transaction_read_only=on"


forbid_writes()
keep_freed_memory()
load_pages()
get_page_handler()
connections.close_all()  # none may be open when workers are forked
