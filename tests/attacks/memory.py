"""Memory of a server together with its worker processes."""

from pathlib import Path

from tests.attacks.server import Site

_PROC = Path("/proc")


def processes(pid: int) -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for task in (_PROC / str(pid) / "task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except FileNotFoundError:  # the thread has ended
            continue
        for child in children:
            found += processes(int(child))
    return found


def resident_bytes(site: Site) -> int:
    """Return the resident memory of the server and its workers that no file has."""
    total = 0
    for pid in processes(site.pid):
        try:
            lines = (_PROC / str(pid) / "status").read_text().splitlines()
        except FileNotFoundError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))
    return total * 1024
