"""Tune memory management: reuse freed memory of large profiles, and spare the garbage collector.

By default glibc's malloc maps each allocation over 128 kB anew and unmaps it when it is freed. The
kernel has to zero the pages each time, which takes a third as much CPU time as decoding the
profile.
"""

import ctypes
import gc

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt, from glibc's malloc.h
_KEPT_BYTES = 8 * 2**20  # free memory that malloc keeps at the top of each arena
_ASKED_BYTES = 4 * 2**20  # larger allocations are returned to the kernel as soon as they are freed


def keep_freed() -> None:
    """Let malloc keep freed memory for reuse. No effect with a C library without mallopt."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _ASKED_BYTES)
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)


def leave_out_of_collections() -> None:
    """Exclude all present objects from garbage collection: they stay until the process ends."""
    gc.collect()
    gc.freeze()
