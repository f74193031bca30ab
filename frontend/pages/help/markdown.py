"""Converter from the subset of Markdown that the documentation uses to HTML, fully escaped."""

import re
from collections.abc import Iterator

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*]+)\*"
    r"|\[(?P<text>[^\]]+)\]\((?P<url>[a-z0-9#/.:_-]+)\)"
)


def html_of(text: str) -> SafeString:
    """Convert headings (with ids), paragraphs, lists, tables and indented code."""
    blocks = [block for block in re.split(r"\n\s*\n", text.strip("\n")) if block.strip()]
    return mark_safe("\n".join(_block(block) for block in blocks))  # noqa: S308  escaped below


def _block(block: str) -> SafeString:
    lines = block.split("\n")
    heading = re.fullmatch(r"(#{1,3}) (.+)", block)
    if heading:
        level, text = len(heading[1]), heading[2]
        return format_html('<h{0} id="{1}">{2}</h{0}>', level, slugify(text), _inline(text))
    if all(line.startswith("    ") for line in lines):
        code = "\n".join(line[4:] for line in lines)
        return format_html('<pre class="code" tabindex="0">{}</pre>', code)
    if lines[0].startswith("|"):
        return _table(lines)
    if lines[0].startswith("- "):
        items = ((_inline(item),) for item in _items(lines))
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", items))
    return format_html("<p>{}</p>", _inline(" ".join(lines)))


def _items(lines: list[str]) -> Iterator[str]:
    """Yield each list item joined with its continuation lines."""
    for item in re.split(r"\n- ", "\n" + "\n".join(lines))[1:]:
        yield " ".join(line.strip() for line in item.split("\n"))


def _table(lines: list[str]) -> SafeString:
    header, _rule, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    head = format_html_join("", '<th scope="col">{}</th>', ((_inline(cell),) for cell in header))
    body = format_html_join(
        "",
        "<tr>{}</tr>",
        ((format_html_join("", "<td>{}</td>", ((_inline(c),) for c in row)),) for row in rows),
    )
    table = "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
    return format_html('<div class="scroll" tabindex="0">' + table + "</div>", head, body)


def _inline(text: str) -> SafeString:
    parts, at = [], 0
    for found in _INLINE.finditer(text):
        parts += [conditional_escape(text[at : found.start()]), _marked(found)]
        at = found.end()
    return mark_safe("".join([*parts, conditional_escape(text[at:])]))  # noqa: S308


def _marked(found: re.Match[str]) -> SafeString:
    if found["url"]:
        return format_html('<a href="{}">{}</a>', found["url"], found["text"])
    tag = str(found.lastgroup)
    return format_html("<{0}>{1}</{0}>", mark_safe(tag), found[tag])  # noqa: S308  a group's name
