"""Flame graph as an SVG image without scripts, links or fonts of its own."""

from html import escape

from frontend.pages.embed.picture import (
    FONT_SIZE,
    MAX_TITLE,
    ROW,
    GraphBox,
    GraphPicture,
    TextLabel,
    visible,
)

_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


def svg(picture: GraphPicture) -> bytes:
    """Draw a picture; the boxes have their full names and shares as tooltips."""
    width, height = picture.width, picture.height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="{_FONT}" font-size="{FONT_SIZE}"'
        f' role="img"><title>{_text(picture.title)}</title>'
        f'<rect width="{width}" height="{height}" fill="{picture.background}"/>',
        *map(_draw_label, picture.labels),
        *map(_draw_box, picture.boxes),
    ]
    return "".join([*parts, "</svg>\n"]).encode()


def _draw_box(box: GraphBox) -> str:
    return (
        f"<g><title>{_text(box.name)} {_text(box.detail)}</title>"
        f'<rect x="{box.x:.2f}" y="{box.y}" width="{box.width:.2f}" height="{ROW - 1}"'
        f' fill="{box.fill}"/>{_draw_label(box.label) if box.label else ""}</g>'
    )


def _draw_label(label: TextLabel) -> str:
    return (
        f'<text x="{label.x:.2f}" y="{label.baseline}" fill="{label.colour}">'
        f"{escape(label.text)}</text>"
    )


def _text(text: str) -> str:
    return escape(visible(text, MAX_TITLE))
