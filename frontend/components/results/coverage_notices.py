"""Notices about profiles that match but are missing from the numbers of a page."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from frontend.text.units import format_count
from profiles.query import Coverage, Missing


def left_out(*coverages: Coverage) -> tuple[str, ...]:
    """Say how many profiles are left out: one sentence per reason, quoting an example of each."""
    missing = [each for coverage in coverages for each in coverage.missing]
    lacking = [each for each in missing if each.reason == "no_metric"]
    unreadable = [each for each in missing if each.reason != "no_metric"]
    found = []
    if unreadable:
        sentence = _(
            "%(n)s parts of this range could not be read and are left out. First error: %(why)s"
        )
        found.append(sentence % _values(len(unreadable), unreadable[0]))
    if lacking:
        count = sum(each.profiles for each in lacking)
        most = max(lacking, key=lambda each: each.profiles)
        sentence = ngettext(
            "%(n)s profile is left out. %(why)s", "%(n)s profiles are left out. %(why)s", count
        )
        found.append(sentence % _values(count, most))
    return tuple(found)


def _values(count: int, first: Missing) -> dict[str, str]:
    return {"n": format_count(count), "why": first.explanation}
