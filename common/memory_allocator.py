"""Memory allocator of a process: what it keeps, and what it returns to the kernel."""

import ctypes

# Parameters of mallopt, from glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_FREE_BYTES = 8 * 2**20  # free memory that malloc keeps at the top of each arena
_MAPPED_BYTES = 4 * 2**20  # larger allocations are returned to the kernel when they are freed


def keep_freed_memory() -> None:
    """Let malloc keep freed memory for reuse. No effect with a C library without mallopt.

    By default glibc's malloc maps each allocation over 128 kB anew and unmaps it when it is freed.
    The kernel has to zero the pages each time, which takes a third as much CPU time as decoding a
    profile.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _MAPPED_BYTES)
        mallopt(_TRIM_THRESHOLD, _FREE_BYTES)


def release_freed_memory() -> None:
    """Return freed memory to the kernel, of all arenas of malloc.

    It takes milliseconds, and the next allocations some more: call it when the process is idle.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
