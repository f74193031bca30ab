"""Compaction of head rows into hour blocks, and rollup of hour blocks into day blocks.

See docs/development/architecture.md. Every step reads its sources, builds blocks, writes a blob,
and then adds the blocks and deletes their sources in one commit. A step that is killed changes
nothing but leaves a blob, which blob_sweep.py deletes. If two workers do the same step at once,
one commits and the other raises SourcesGone and gives up.
"""
