"""Blocks: immutable columnar storage for many profiles of one service and profile type.

The byte format is described in docs/reference/formats.md.
"""

from profiles.engine.blocks.build_day import build_day
from profiles.engine.blocks.build_hour import build_hour
from profiles.engine.blocks.day import ALL_LABELS, DayBlock, Groups, open_day
from profiles.engine.blocks.hour import HourBlock, open_hour
from profiles.engine.blocks.row_filter import Mask, RowFilter
from profiles.engine.blocks.sections.container import COMPRESSION_LEVEL
from profiles.engine.blocks.sections.identities import Identities
from profiles.engine.blocks.sections.profile_columns import NO_AGENT, BlockProfile, ProfileColumns

__all__ = [
    "ALL_LABELS",
    "COMPRESSION_LEVEL",
    "NO_AGENT",
    "BlockProfile",
    "DayBlock",
    "Groups",
    "HourBlock",
    "Identities",
    "Mask",
    "ProfileColumns",
    "RowFilter",
    "build_day",
    "build_hour",
    "open_day",
    "open_hour",
]
