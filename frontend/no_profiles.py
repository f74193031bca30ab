"""What a page says where no profile is selected, with what has to be looked up only then."""

from frontend import empty
from frontend.empty import Empty
from frontend.question import Question
from profiles.query import OptionsResult, run_last_profile


def no_profiles(of: Question, options: OptionsResult) -> Empty:
    matched = sum(zone.profiles for zone in options.zones)
    last = run_last_profile(of.project.pk, of.selection.service)
    return empty.without_profiles(of.asked, of.selection, of.services, matched, last)
