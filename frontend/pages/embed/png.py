"""Flame graph as a PNG image, for wikis, chats and mails that show no SVG.

The font is in fonts/: servers and containers often have none. It has Latin, Greek, Cyrillic,
Arabic and Georgian letters; characters that it lacks are drawn as empty boxes.
"""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from frontend.pages.embed.picture import FONT_SIZE, ROW, GraphPicture, TextLabel

# Bounds the memory of one image to 15 MB. Every size is possible at scale 1: 2400 pixels in width
# with 100 levels are 4.4 million.
MAX_PIXELS = 5_000_000
_FONT = Path(__file__).parent / "fonts" / "DejaVuSansMono.ttf"
_CHECKED_BOXES = 256  # drawn between two checks of the deadline, within 10 ms


def png(picture: GraphPicture, scale: int, check: Callable[[], None]) -> bytes:
    """Draw a picture with `scale` pixels for each of its own, or one above MAX_PIXELS.

    `check` is called regularly and may raise to end the drawing.
    """
    if picture.width * picture.height * scale**2 > MAX_PIXELS:
        scale = 1
    size = (picture.width * scale, picture.height * scale)
    image = Image.new("RGB", size, picture.background)
    draw = ImageDraw.Draw(image)
    # One for each image: fonts of FreeType are not for use by several threads.
    font = ImageFont.truetype(_FONT, FONT_SIZE * scale, layout_engine=ImageFont.Layout.BASIC)

    def write(label: TextLabel) -> None:
        position = (label.x * scale, label.baseline * scale)
        draw.text(position, label.text, label.colour, font, anchor="ls")

    for label in picture.labels:
        write(label)
    for index, box in enumerate(picture.boxes):
        if index % _CHECKED_BOXES == 0:
            check()
        left, right = round(box.x * scale), round((box.x + box.width) * scale)
        bottom = (box.y + ROW - 1) * scale
        # Pillow's rectangles include their last column and row.
        draw.rectangle((left, box.y * scale, max(left, right - 1), bottom - 1), box.fill)
        if box.label:
            write(box.label)
    check()
    data = BytesIO()
    image.save(data, "PNG")
    return data.getvalue()
