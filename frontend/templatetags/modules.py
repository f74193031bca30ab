"""Template tag that preloads a page's ES modules with everything that they import."""

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from posixpath import normpath

from django import template
from django.contrib.staticfiles import finders
from django.template import Context
from django.template.base import Parser, Token
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()

_IMPORT = re.compile(r"""^(?:import|export)\b[^'";(]*['"](\.{1,2}/[^'"]+)['"]""", re.MULTILINE)


class _Preloads(template.Node):
    def __init__(self, names: list[str]) -> None:
        self._names = names

    def render(self, context: Context) -> SafeString:
        links = ((static(name),) for name in self._names)
        return format_html_join("\n", '<link rel="modulepreload" href="{}">', links)


@register.tag
def module_preloads(_parser: Parser, token: Token) -> _Preloads:
    """Write `<link rel="modulepreload">` for scripts and all modules that they import.

    Otherwise the browser would learn of a module only from those that import it, one level of
    imports after the other. The files are read when the template is compiled.
    """
    return _Preloads(modules(script.strip("\"'") for script in token.split_contents()[1:]))


def modules(scripts: Iterable[str]) -> list[str]:
    """Return the names of the scripts and of all modules that they import, directly or not."""
    found: dict[str, None] = {}
    pending = [*scripts]
    while pending:
        name = pending.pop(0)
        if name not in found:
            found[name] = None
            pending += _imports(name)
    return [*found]


def _imports(name: str) -> list[str]:
    path = finders.find(name)
    if not isinstance(path, str):
        raise ValueError(f"No static file {name}.")
    folder = PurePosixPath(name).parent
    texts = _IMPORT.findall(Path(path).read_text(encoding="utf-8"))
    return [normpath(folder / text) for text in texts]
