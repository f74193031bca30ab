"""Agent statistics from the pprof comments `flamewatch.<name>=<value>` of a profile."""

from collections.abc import Sequence

from projects.registration.agent_reports import SelfReport

_PREFIX = "flamewatch."
_LARGEST = 2**53  # far above any count that an agent reaches in one profile
_SILENCE = SelfReport()


def self_report(comments: Sequence[str]) -> SelfReport:
    """Parse the comments of a profile; missing and non-numeric values stay unset."""
    if not comments:  # the usual case: most agents send no comments
        return _SILENCE
    said = dict(
        comment.removeprefix(_PREFIX).split("=", 1)
        for comment in comments
        if comment.startswith(_PREFIX) and "=" in comment
    )
    cpu = [_number(said, name) for name in ("agent_cpu_ns", "sampler_cpu_ns")]
    known = [ns for ns in cpu if ns is not None]
    return SelfReport(
        sampler="".join(letter for letter in said.get("sampler", "")[:32] if letter.isprintable()),
        samples=_number(said, "samples") or 0,
        dropped=_number(said, "samples_dropped"),
        cpu_ns=sum(known) if known else None,
        memory_bytes=_number(said, "agent_memory_bytes"),
    )


def _number(said: dict[str, str], name: str) -> int | None:
    text = said.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        return None
    return min(int(text), _LARGEST)
