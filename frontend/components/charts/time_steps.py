"""Time steps of charts over a range: the offered lengths, the default one, and the menu."""

from datetime import timedelta

from django.utils.translation import gettext as _

from endpoints.params.lists import STEP
from endpoints.params.reader import LenientReader
from frontend.components.selection.picker import Item
from frontend.params.formats import span_text
from frontend.params.notices import Notice
from frontend.params.url_parameter import declare_dependents
from frontend.text.time_ranges import span_name

STEPS = tuple(
    timedelta(seconds=seconds) for seconds in (60, 300, 900, 3600, 6 * 3600, 86400, 7 * 86400)
)
MOST_STEPS = 400
_FEWEST = 24  # steps of a range when the URL gives no step


declare_dependents([STEP.name], ["range", "span"])


def default_step(span: timedelta) -> timedelta:
    """Return the longest step that gives at least 24 points: a day for thirty days."""
    return max((step for step in STEPS if span / step >= _FEWEST), default=STEPS[0])


def steps_for(span: timedelta) -> list[timedelta]:
    """Return the steps offered in the menu: those that give 2 to MOST_STEPS points."""
    return [step for step in STEPS if 2 <= span / step <= MOST_STEPS] or [default_step(span)]


def steps_menu(span: timedelta, chosen: timedelta) -> list[Item]:
    """Return the menu of the steps for a range of length `span`, with the chosen one."""
    offered = sorted({*steps_for(span), chosen})
    return [Item(span_text(step), span_name(step), step == chosen) for step in offered]


def read_step(reader: LenientReader, span: timedelta) -> timedelta | None:
    """Read the step for a range of length `span`; None without one, or for more than MOST_STEPS."""
    step = reader.read(STEP)
    if step is None or span / step <= MOST_STEPS:
        return step
    sentence = _("This range has more than %(n)d steps of that length; longer ones are shown.")
    reader.reject(STEP, reader.text(STEP), Notice(sentence % {"n": MOST_STEPS}))
    return None
