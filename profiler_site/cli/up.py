"""`flamewatch up`: run the whole server in one process."""

import contextlib
import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.checks import WARNING
from django.db import connections

from common.memory_allocator import keep_freed_memory
from frontend.rendering.load_pages import import_views
from profiler_site import demo as demos
from profiler_site.cli.command import CommandFailed
from profiler_site.configuration.checks import check_grpc_tls, find_problems
from profiler_site.configuration.initialization import initialize
from profiler_site.diagnosis.installation_checks import problem_text
from profiler_site.diagnosis.result import Severity
from profiler_site.diagnosis.service_checks import check_blob_store, check_redis
from profiler_site.process import (
    data_folder,
    disk_reserve,
    file_limit,
    lifespan,
    server_address,
)
from profiler_site.process.embedded_celery import EmbeddedCelery
from profiler_site.process.grpc_server import GrpcServer
from profiler_site.process.migration import migrate
from profiler_site.process.query_program import query_program
from profiler_site.process.server import (
    PortTaken,
    Server,
    bind,
    switch_threads_often,
)
from profiler_site.static_files.storage import collect_static_files
from profiles.compaction.lease import release_all
from profiles.queries import query_workers
from profiles.storage.column_files import delete_old_files
from projects.models import User

_GRPC_PORT = "FLAMEWATCH_GRPC_PORT"


def run(options: Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    _require_usable_settings()
    agents = file_limit.raise_file_limit()
    if settings.QUERY_WORKERS:
        # Now: there are no threads, locks, connections and sockets yet.
        import_views()
        query_workers.fork_early(query_program())
    # With Redis several servers share the schedule, and may share a data folder.
    alone = (
        contextlib.nullcontext()
        if settings.REDIS_URL
        else data_folder.lock_data_folder(settings.DATA_DIR)
    )
    try:
        with alone:
            return _serve(options, agents)
    except data_folder.InUse as in_use:
        raise CommandFailed(str(in_use)) from None


def _require_usable_settings() -> None:
    """Print warnings about the settings. Raise CommandFailed for values that cannot be used."""
    problems = find_problems()
    errors = [problem_text(each) for each in problems if each.level > WARNING]
    if errors:
        raise CommandFailed("\n".join(errors))
    for problem in problems:
        _warn(problem_text(problem))


def _require_usable_services() -> None:
    """Check Redis and the blob store. Raise CommandFailed if their settings are wrong.

    A service that does not respond may recover: the server starts, and says so.
    """
    for result in (check_redis(), check_blob_store()):
        if result.is_permanent:
            raise CommandFailed(result.text)
        if result.severity is Severity.FAILED:
            _warn(result.text)


def _warn(text: str) -> None:
    print(f"flamewatch: {text}", file=sys.stderr, flush=True)


def _serve(options: Namespace, agents: int) -> int:
    keep_freed_memory()
    switch_threads_often()
    try:
        listener = bind(options.host, options.port)
        grpc_server = _grpc_server(options.host)
    except PortTaken as taken:
        raise CommandFailed(str(taken)) from None
    _prepare()
    demo = demos.prepare(settings.DATA_DIR) if options.demo else None
    services = demos.Services(demo, settings.FLAMEWATCH_URL) if demo else None
    celery = None if settings.REDIS_URL else EmbeddedCelery()
    if celery:
        delete_old_files()
        release_all()  # the data folder's lock ensures that no other worker runs
    welcome = _welcome(demo, agents, grpc_server)
    connections.close_all()  # each serving thread opens its own connection

    def serving() -> None:
        server_address.note()
        print(welcome, flush=True)
        if services:
            services.start()

    server = Server(
        "profiler_site.asgi:application",
        on_serving=serving,
        before_stop=lifespan.release_parked_agents,
        grpc_server=grpc_server,
    )
    if celery:
        celery.start()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # Ctrl-C or SIGTERM: uvicorn raises the signal again after its shutdown
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):  # a second Ctrl-C must not leave parts running
            signal.signal(each, signal.SIG_IGN)
        _all_at_once([part.stop for part in (celery, services) if part])
    return 0 if server.started else 1


def _grpc_server(host: str) -> GrpcServer | None:
    """Return the gRPC server; None without one, and if its default port is taken.

    A second server on one machine starts without gRPC then. Raise PortTaken or CommandFailed if a
    port or a certificate that is set cannot be used: gRPC itself reads its files and binds its port
    later, and says less.
    """
    port = settings.GRPC_PORT
    if not port:
        return None
    for problem in check_grpc_tls(None):
        raise CommandFailed(f"{problem.msg} {problem.hint}")
    try:
        bind(host, port, f"{_GRPC_PORT}={port + 1}, or 0 for no gRPC").close()
    except PortTaken as taken:
        if os.environ.get(_GRPC_PORT):
            raise
        print(f"This server runs without gRPC. {taken}", file=sys.stderr, flush=True)
        return None
    return GrpcServer(host, port)


def _prepare() -> None:
    data_folder.restrict_access(settings.DATA_DIR, _sqlite_file())
    disk_reserve.open_up(settings.DATA_DIR)
    _require_usable_services()
    migrate()
    initialize()
    collect_static_files()
    disk_reserve.keep(settings.DATA_DIR, settings.MIN_FREE_BYTES)


def _sqlite_file() -> Path | None:
    database = settings.DATABASES["default"]
    is_sqlite = database["ENGINE"] == "django.db.backends.sqlite3"
    return Path(str(database["NAME"])) if is_sqlite else None


def _all_at_once(stops: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=stop) for stop in stops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _welcome(demo: demos.Demo | None, agents: int, grpc_server: GrpcServer | None) -> str:
    lines = [f"Flamewatch {settings.VERSION} is at {settings.FLAMEWATCH_URL}"]
    if demo:
        flame = f"{settings.FLAMEWATCH_URL}/p/{demo.project}/flame"
        lines += [
            f"  Demo account: {demo.email}, password {demo.password}",
            f"  CPU profiles:  {flame}?service=main-foo-bar&type=CPU",
            f"  Heap profiles: {flame}?service=allocations&type=HEAP",
            "  The first profile arrives in about 15 s, then one per minute of each type.",
        ]
    elif not User.objects.filter(is_superuser=True).exists():
        lines.append("  No account has access to /admin/ yet. Create one with:")
        lines.append("  flamewatch user create EMAIL --admin --password-stdin")
    if grpc_server:
        lines.append(f"  gRPC for Cloud Profiler's agents: {grpc_server.address}")
    lines.append(
        f"  Data folder: {settings.DATA_DIR}. Limit: {agents:,} agents at once. Ctrl-C stops."
    )
    return "\n".join(lines)
