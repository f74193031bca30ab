"""One-shot mode, `flamewatch-run --once`: one profile in a file, without a server."""

import atexit
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from flamewatch import unpatched
from flamewatch.capture.choose_sampler import choose_sampler
from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture, Sampler
from flamewatch.config import idle_waits
from flamewatch.process.bell import Bell
from flamewatch.profile import pprof
from flamewatch.profile.build import build_profile
from flamewatch.profile.pprof import Profile
from flamewatch.profile.top import table

# Variables by which `flamewatch-run` passes the options to the interpreter that replaces it.
TYPE, OUTPUT, SECONDS = "FLAMEWATCH_ONCE", "FLAMEWATCH_ONCE_OUTPUT", "FLAMEWATCH_ONCE_SECONDS"
WHOLE_PROGRAM_SECONDS = 1e6  # no limit in practice: the capture ends with the program
AT_THE_END = 60.0  # seconds that the program's exit waits for the profile
AT_THE_START = 1.0  # seconds that the program's start waits for the capture to begin


@dataclass(frozen=True, slots=True)
class Wish:
    kind: ProfileType
    output: Path
    seconds: float  # end of the capture, unless the program ends earlier

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self | None:
        """Return the options from the environment, or None if it requests no one-shot profile."""
        if TYPE not in environ:
            return None
        seconds = float(environ.get(SECONDS) or WHOLE_PROGRAM_SECONDS)
        return cls(ProfileType(environ[TYPE].upper()), Path(environ[OUTPUT]), seconds)

    def environ(self) -> dict[str, str]:
        return {TYPE: self.kind, OUTPUT: str(self.output), SECONDS: str(self.seconds)}


def begin(wish: Wish) -> None:
    """Start the capture. The profile is written after the given time or when the program ends."""
    sampler = choose_sampler(idle_waits=idle_waits(os.environ))
    if wish.kind not in sampler.types:
        _say(f"this interpreter cannot capture {wish.kind} profiles")
        return
    once = _Once(wish, sampler)
    once.start()
    atexit.register(once.end)
    os.register_at_fork(after_in_child=once.forget)


class _Once:
    def __init__(self, wish: Wish, sampler: Sampler) -> None:
        self._wish, self._sampler = wish, sampler
        self._bell, self._begun, self._written = Bell(), Bell(), Bell()

    def start(self) -> None:
        """Start the thread, and return when the capture runs.

        So the capture includes the program's first line.
        """
        unpatched.start_thread(self.run)
        self._begun.wait(AT_THE_START)

    def run(self) -> None:
        try:
            self._sampler.stay_apart()
            profile = self._profile(self._capture())
            self._wish.output.write_bytes(pprof.encode(profile))
            self._tell(profile)
        except Exception as error:
            _say(f"no profile was written: {type(error).__name__}: {error}")
        finally:
            self._begun.ring()
            self._written.ring()

    def end(self) -> None:
        """End the capture when the program exits, and wait for the file."""
        self._bell.ring()
        if not self._written.wait(AT_THE_END):
            _say(f"no profile was written: writing took longer than {AT_THE_END:.0f} s")
        self._sampler.close()

    def forget(self) -> None:
        """Disable the capture in a forked child: the profile covers one process."""
        atexit.unregister(self.end)
        self._sampler.after_fork()

    def _capture(self) -> Capture:
        wish = self._wish
        if wish.kind is ProfileType.THREADS:
            self._wait(wish.seconds)
        return self._sampler.capture(wish.kind, wish.seconds, self._wait)

    def _wait(self, seconds: float) -> bool:
        self._begun.ring()
        return self._bell.wait(seconds)

    def _profile(self, capture: Capture) -> Profile:
        return build_profile(self._wish.kind, capture, self._sampler.name, 0)

    def _tell(self, profile: Profile) -> None:
        took = f", {profile.duration_ns / 1e9:.1f} s" if profile.duration_ns else ""
        _say(f"{self._wish.kind} profile{took} written to {self._wish.output}")
        for line in table(profile):
            print(line, file=sys.stderr)


def _say(line: str) -> None:
    print(f"flamewatch-run: {line}", file=sys.stderr, flush=True)
