"""Compaction of a project: head rows and small blocks become larger blocks."""

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property

from profiles.compaction.build import build_hours, build_level2, promote_to_level1
from profiles.compaction.pending_series import PendingSeries, find_pending_series
from profiles.compaction.plan import CompactionStep, plan_level0, plan_level1, plan_level2
from profiles.compaction.replace import Replacement, SourcesGone, replace_sources
from profiles.models import BlockLevel
from profiles.storage.blobs import BlobUnavailable

log = logging.getLogger(__name__)

BLOB_BYTES = 8 * 2**20  # a blob is written once its blocks have this size
MAX_ROWS = 4096  # rows deleted from the head in one commit: SQLite has no other writer meanwhile
MAX_DAYS = 64  # in one commit


class Compactor:
    """Compaction of one project, as of one time.

    For each level, in turn: `plan` says what to do, `build` makes the new blocks of each step in
    memory, and `replace` stores what was built, once it fills a blob. Nothing but `replace` moves
    or deletes profiles. A process that ends at any point changes nothing but leaves a blob, which
    the sweep deletes. Two compactors of a project may run at once: one of them commits, and the
    other skips the steps whose sources are gone.
    """

    def __init__(self, project: int, now: datetime) -> None:
        self._project = project
        self._now = now
        self._clear()

    def _clear(self) -> None:
        self._built: list[tuple[CompactionStep, Replacement]] = []
        self._bytes = self._rows = self._days = 0  # in self._built

    def compact(self) -> None:
        """Build all levels: first the hours, whose blocks the days then sum."""
        self.build_level1()
        self.build_level0()
        self.build_level2()

    def build_level0(self) -> int:
        """Build blocks of settled rows. Return how many profiles left the head."""
        return sum(len(each.rows) for each in self._run(BlockLevel.LEVEL_0))

    def build_level1(self) -> int:
        """Build blocks of closed hours. Return how many profiles left the head."""
        return sum(len(each.rows) for each in self._run(BlockLevel.LEVEL_1))

    def build_level2(self) -> int:
        """Sum the blocks of closed days. Return how many days were summed."""
        return len(self._run(BlockLevel.LEVEL_2))

    def plan(self, level: BlockLevel) -> Iterator[CompactionStep]:
        """Yield the steps of a level, oldest first within a series. Nothing is changed."""
        if level == BlockLevel.LEVEL_0:
            return plan_level0(self._project, self._now, self._series)
        if level == BlockLevel.LEVEL_1:
            return plan_level1(self._project, self._now, self._series)
        return plan_level2(self._project, self._now)

    def build(self, step: CompactionStep) -> None:
        """Read the sources of a step and build its blocks in memory, for the next `replace`.

        Sources that cannot be read are quarantined, and blocks are built of the others. Raise
        BlobUnavailable if a source cannot be read at the moment; then nothing is built.
        """
        if step.level == BlockLevel.LEVEL_2:
            replacement = build_level2(self._project, step.span)
        elif len(step.sources) == 1 and step.sources[0].is_block:
            promote_to_level1([step.sources[0].pk])
            return
        else:
            replacement = build_hours(self._project, step.level, step.span, step.sources)
        if replacement.new:
            self._built.append((step, replacement))
            self._bytes += sum(len(block.data) for block in replacement.new)
            self._rows += len(replacement.rows)
            self._days += step.level == BlockLevel.LEVEL_2

    def replace(self) -> list[Replacement]:
        """Store the built blocks in one blob, and delete their sources in the same commit.

        Return what was replaced. If another process has moved or deleted sources, each step is
        stored by itself, and those whose sources are gone are skipped. Raise BlobError if the store
        fails; then nothing is changed.
        """
        built = self._built
        self._clear()
        return self._replace(built)

    def _run(self, level: BlockLevel) -> list[Replacement]:
        replaced: list[Replacement] = []
        for step in self.plan(level):
            try:
                self.build(step)
            except BlobUnavailable as error:
                log.warning(
                    "Compaction of %s of project %s is postponed: %s",
                    step.span,
                    self._project,
                    error,
                )
            if self._bytes >= BLOB_BYTES or self._rows >= MAX_ROWS or self._days >= MAX_DAYS:
                replaced += self.replace()
        return replaced + self.replace()

    def _replace(self, built: Sequence[tuple[CompactionStep, Replacement]]) -> list[Replacement]:
        replacements = [replacement for _, replacement in built]
        try:
            if built:
                replace_sources(self._project, replacements)
            return replacements
        except SourcesGone as error:
            if len(built) == 1:
                log.info(
                    "Compaction of %s of project %s was skipped: %s",
                    built[0][0].span,
                    self._project,
                    error,
                )
                return []
        return [replacement for each in built for replacement in self._replace([each])]

    @cached_property
    def _series(self) -> list[PendingSeries]:
        return find_pending_series(self._now, self._project)
