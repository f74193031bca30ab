"""Limit of open files of this process, and a reserve of file descriptors below it."""

import resource

# File descriptors not used for agents: listening socket, log, database, blobs and pages.
_OTHER_FILES = 200
# Largest share of the limit that may be reserved, for processes with a low limit.
_LARGEST = 1 / 4


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard one; return how many agents it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return max(0, soft - _OTHER_FILES)


def is_reserved(descriptor: int, reserved: int) -> bool:
    """Return True if a new descriptor is among the last `reserved` ones below the limit.

    The kernel gives the lowest free number to a new file, so that the number says how many are
    open, without counting them.
    """
    limit, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit != resource.RLIM_INFINITY and descriptor >= limit - reserve(reserved)


def reserve(reserved: int) -> int:
    """Return the number of reserved descriptors: `reserved`, or less with a low limit."""
    limit, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return reserved if limit == resource.RLIM_INFINITY else min(reserved, int(limit * _LARGEST))
