"""Compaction of head rows into hour blocks, and rollup of hour blocks into day blocks.

`Compactor` (compactor.py) is the interface; it has three verbs.

- plan (plan.py, pending_series.py) says which blocks to build of which rows and blocks.
- build (build.py) reads these sources and makes the new blocks, in a worker process if there is
  one (build_workers.py). It writes nothing: a Replacement has the new blocks and the marks.
- replace (replace.py) writes the new blocks into a blob, and then adds their rows, deletes their
  sources and sets the marks in one commit.

A step that is killed changes nothing but leaves a blob, which blob_sweep.py deletes. If two workers
do the same step at once, one commits and the other raises SourcesGone and gives up. Every profile
is in exactly one of head and blocks of levels 0 and 1 at any time; level 2 repeats them as sums.
docs/development/architecture.md says when each level is built.
"""
