"""The C library's allocator, told to keep the memory of one large profile for the next.

By default what is larger than 128 kB is asked of the kernel and given back each time, and comes
back as pages of zeros: for a large profile as much work as a third of its digest.
"""

import ctypes
import gc

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt, in malloc.h of glibc
_KEPT_BYTES = 8 * 2**20  # at the end of each of malloc's arenas
_ASKED_BYTES = 4 * 2**20  # what is larger is the kernel's again as soon as it is free


def keep_freed() -> None:
    """Nothing happens with a C library that has no such options."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _ASKED_BYTES)
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)


def leave_out_of_collections() -> None:
    """What is loaded by now stays for good: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()
