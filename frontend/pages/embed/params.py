"""Parameters of an embedded image that may be changed in its URL."""

from dataclasses import dataclass

from django.http import QueryDict

from endpoints.params import values
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from frontend.pages.embed.picture import Size
from frontend.pages.embed.theme import THEMES

MIN_WIDTH, MAX_WIDTH, MAX_LEVELS = 200, 2400, 100
_DEFAULT = Size(width=1200, levels=24)


def _width(text: str) -> int:
    width = values.count(text, MAX_WIDTH)
    if width < MIN_WIDTH:
        raise ValueError(f"is at least {MIN_WIDTH}")
    return width


WIDTH = Parameter("width", "Width in pixels", _width, _DEFAULT.width)
LEVELS = Parameter(
    "levels", "Levels of the graph", lambda text: values.count(text, MAX_LEVELS), _DEFAULT.levels
)
SCALE = Parameter("scale", "Pixels of a PNG image per pixel", lambda text: values.count(text, 2), 1)
THEME = Parameter("theme", "Colours", lambda text: values.choice(text, tuple(THEMES)), "light")


@dataclass(frozen=True, slots=True)
class ImageParams:
    size: Size
    theme: str
    scale: int  # of a PNG image: 2 for screens with two pixels for each of the page's


def read_image(query: QueryDict) -> ImageParams:
    """Read the parameters; a value out of bounds is replaced by its default."""
    reader = LenientReader.from_query(query)
    return ImageParams(
        Size(reader.read(WIDTH), reader.read(LEVELS)), reader.read(THEME), reader.read(SCALE)
    )
