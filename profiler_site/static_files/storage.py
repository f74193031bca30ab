"""Static files with a content hash in their names, which browsers may cache for ever.

The server collects them at its start if any of them has changed, with the bundles of its ES
modules in their place, and compresses them: serving a file costs no compression. With `DEBUG` pages
load the modules themselves.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files.base import ContentFile
from django.core.management import call_command
from servestatic.storage import CompressedManifestStaticFilesStorage

from profiler_site.static_files import bundles

_FINGERPRINT = ".collected-from"
# Third-party scripts import modules by names that only their own builds resolve.
_FOREIGN = ("admin/", "account/", "mfa/", "django_htmx/", "rest_framework/", "vendor/")
# Files of the admin and the API's browser, which take three times as long as all others.
_RARELY_LOADED = ("admin/", "rest_framework/")


class BundlingStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped
    """Manifest storage with bundles in place of this project's ES modules.

    Beside each file that gets smaller are a .gz and a .br, which the handler serves to clients that
    accept them.
    """

    support_js_module_import_aggregation = True

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str, bool] | tuple[str, None, RuntimeError]]:
        """Collect bundles in place of the modules."""
        if not dry_run:
            paths = self._with_bundles(paths)
        yield from super().post_process(paths, dry_run, **options)

    def compress_files(self, paths: set[str]) -> Iterator[tuple[str, str]]:
        """Compress the files that pages link to: those with a content hash, but not the admin's."""
        linked = set(self.hashed_files.values())
        yield from super().compress_files(
            {name for name in paths & linked if not name.startswith(_RARELY_LOADED)}
        )

    def _with_bundles(self, paths: dict[str, Any]) -> dict[str, Any]:
        sources = {}
        for name, (storage, path) in paths.items():
            if name.endswith(".js") and not _is_foreign_script(name):
                with storage.open(path) as source:
                    sources[name] = source.read()
        others = {name: paths[name] for name in paths.keys() - sources.keys()}
        files = bundles.read_bundles(sources)
        for name in sources.keys() | files.keys():
            self.delete(name)  # a module, or the bundle of another version
        for name, text in files.items():
            self.save(name, ContentFile(text.encode()))
        return others | {name: (self, name) for name in files}

    def _post_process(
        self, paths: dict[str, Any], adjustable_paths: list[str], hashed_files: dict[str, str]
    ) -> Iterator[tuple[str, str | None, bool | Exception, bool]]:
        """Exclude third-party scripts from all passes but the one that hashes their names.

        Django searches every script for imports in every pass. Searching third-party scripts, which
        are never rewritten, was 90 % of the time of collecting.
        """
        ours = [name for name in adjustable_paths if not _is_foreign_script(name)]
        needed = set(ours) | {name for name in paths if self.hash_key(name) not in hashed_files}
        pending = {name: source for name, source in paths.items() if name in needed}
        yield from super()._post_process(pending, ours, hashed_files)


def _is_foreign_script(name: str) -> bool:
    return name.endswith(".js") and name.startswith(_FOREIGN)


def collect_static_files() -> None:
    """Collect the static files if any has changed: hashing every file again takes seconds."""
    stored, now = Path(settings.STATIC_ROOT) / _FINGERPRINT, _fingerprint()
    if stored.exists() and stored.read_text() == now:
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    stored.write_text(now)


def _fingerprint() -> str:
    """Hash the server's version and the names, sizes and modification times of all sources."""
    paths = [
        Path(storage.path(name)) for finder in get_finders() for name, storage in finder.list([])
    ]
    sources = [settings.VERSION]
    for path in [*paths, *bundles.FOLDER.rglob("*.js")]:
        stat = path.stat()
        sources.append(f"{path} {stat.st_size} {stat.st_mtime_ns}")
    return hashlib.sha256("\n".join(sorted(sources)).encode()).hexdigest()
