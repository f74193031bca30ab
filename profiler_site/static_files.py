"""Static files under names that carry their hash, so that browsers may keep them for ever."""

import re
from collections.abc import Callable
from typing import Any

from django.contrib.staticfiles.storage import ManifestStaticFilesStorage

# Other people's scripts import by names that only their own builds resolve.
_FOREIGN = ("admin/", "account/", "django_htmx/", "rest_framework/", "vendor/")


class ModuleManifestStorage(ManifestStaticFilesStorage):
    """Django's, with the imports between our ES modules rewritten too."""

    support_js_module_import_aggregation = True
    manifest_strict = False
    max_post_process_passes = 20  # one for each level of modules that import each other

    def url_converter(
        self, name: str, hashed_files: dict[str, Any], template: str | None = None, *rest: Any
    ) -> Callable[[re.Match[str]], str]:
        """Django's converter of the references in one file; foreign scripts stay as they are."""
        if name.endswith(".js") and name.startswith(_FOREIGN):
            return lambda found: found.group(0)
        converter: Callable[[re.Match[str]], str] = super().url_converter(
            name, hashed_files, template, *rest
        )
        return converter
