"""Compaction of a project: head rows and small blocks become larger blocks."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property

from common.cache import Cache
from common.worker_processes.workers import LimitExceeded, Outcome
from profiles.compaction.build import build_step
from profiles.compaction.build_workers import BUILD_FAILURES, BUILD_LIMITS, build
from profiles.compaction.pending_series import PendingSeries, find_pending_series
from profiles.compaction.plan import (
    CompactionStep,
    Span,
    plan_level0,
    plan_level1,
    plan_level2,
    plan_merges,
)
from profiles.compaction.replace import Replacement, SourcesGone, replace_sources
from profiles.models import BlockLevel
from profiles.storage.blobs import BlobMissing, BlobUnavailable

log = logging.getLogger(__name__)

BLOB_BYTES = 8 * 2**20  # a blob is written once its blocks have this size
MAX_ROWS = 4096  # rows deleted from the head in one commit: SQLite has no other writer meanwhile
MAX_DAYS = 64  # in one commit
# Days without a level-2 block because of a limit: each try takes long and ends the same.
_unbuilt_days = Cache[tuple[int, Span], bool](size=4096, seconds=6 * 3600)


class Compactor:
    """Compaction of one project, as of one time.

    For each level, in turn: `plan` says what to do, `build` makes the new blocks of each step, in a
    worker process if there is one, and `replace` stores what was built, once it fills a blob.
    Nothing but `replace` writes to the database. A process that ends at any point changes nothing
    but leaves a blob, which the sweep deletes. Two compactors of a project may run at once: one of
    them commits, and the other skips the steps whose sources are gone.
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
        """Merge the small hour blocks of closed days, and sum all hour blocks of each day.

        Return how many days were summed.
        """
        self._run_steps(plan_merges(self._project, [*self.plan(BlockLevel.LEVEL_2)]))
        return sum(len(each.new) for each in self._run(BlockLevel.LEVEL_2))

    def plan(self, level: BlockLevel) -> Iterator[CompactionStep]:
        """Yield the steps of a level, oldest first within a series. Nothing is changed."""
        if level == BlockLevel.LEVEL_0:
            return plan_level0(self._project, self._now, self._series)
        if level == BlockLevel.LEVEL_1:
            return plan_level1(self._project, self._now, self._series)
        days = plan_level2(self._project, self._now)
        return (day for day in days if not _unbuilt_days.get((self._project, day.span)))

    def build(self, step: CompactionStep) -> None:
        """Read the sources of a step and build its blocks, for the next `replace`.

        `replace` quarantines sources that cannot be read; blocks are built of the others. If the
        build crashes or exceeds a limit, each half of its sources is tried by itself: what crashes
        alone is quarantined. A day is left without a block of level 2 then, for some hours.

        Raise BlobUnavailable if a source cannot be read at the moment, BlobMissing if it was
        deleted meanwhile, and one of BUILD_FAILURES if the worker fails; then nothing is built.
        """
        try:
            replacement = build(build_step, self._project, step)
        except BUILD_LIMITS as error:
            log.warning(
                "Compaction of %s of project %s failed: %s",
                step.span,
                self._project,
                str(error) or "it crashed",
            )
            self._build_less(step, error)
            return
        if step.level == BlockLevel.LEVEL_2 and replacement.is_empty:
            _unbuilt_days.put((self._project, step.span), True)
        self._append(step, replacement)

    def _build_less(self, step: CompactionStep, error: Exception) -> None:
        sources = step.sources
        if step.level == BlockLevel.LEVEL_2:
            _unbuilt_days.put((self._project, step.span), True)
        elif len(sources) > 1:
            middle = len(sources) // 2
            for half in (sources[:middle], sources[middle:]):
                self.build(step._replace(sources=half))
        elif not isinstance(error, LimitExceeded) or error.outcome is not Outcome.WALL_LIMIT:
            # Not of the wall time: it may have waited for a busy machine. It is a row, because a
            # step of one block reads nothing.
            marks = {sources[0].pk: str(error) or "Its compaction crashed."}
            self._append(step, Replacement(quarantined_rows=marks))

    def _append(self, step: CompactionStep, replacement: Replacement) -> None:
        if not replacement.is_empty:
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
        return self._run_steps(self.plan(level))

    def _run_steps(self, steps: Iterable[CompactionStep]) -> list[Replacement]:
        replaced: list[Replacement] = []
        for step in steps:
            try:
                self.build(step)
            except (BlobUnavailable, BlobMissing, *BUILD_FAILURES) as error:
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
