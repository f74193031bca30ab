"""Thread of the agent: a loop of handshake, capture and upload until the bell rings."""

import random
import time
from collections import Counter
from dataclasses import replace

from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture, Sampler
from flamewatch.log import one_line, warn
from flamewatch.process.bell import Bell
from flamewatch.process.counters import Counters
from flamewatch.profile import pprof
from flamewatch.profile.build import build_profile
from flamewatch.transport.backoff import Backoff
from flamewatch.transport.client import Client
from flamewatch.transport.messages import Assignment, ErrorResponse, InvalidResponse
from flamewatch.transport.outage import Outage
from flamewatch.transport.upload import upload
from flamewatch.transport.wire import Unreachable

PACE = 0.5  # seconds between a profile and the next handshake, whatever the server requests
FAILURES_OF_A_TYPE = 3  # consecutive failures after which a type is no longer offered
_SHOWN_PAUSE = 1.0

_ASIDE = "The program is not affected"


class Worker:
    """Main loop of the agent's thread. `run` never raises."""

    def __init__(
        self, server: str, client: Client, sampler: Sampler, counters: Counters, bell: Bell
    ) -> None:
        self._server, self._client, self._sampler = server, client, sampler
        self._counters, self._bell = counters, bell
        # A generator of its own: the seed and the sequence of the module's functions belong to the
        # host.
        dice = random.Random()  # noqa: S311  no secret
        self._uniform = dice.uniform
        self._backoff, self._loss_backoff = Backoff(dice.uniform), Backoff(dice.uniform)
        self._outage, self._losses = Outage(warn), Outage(warn)
        self._failures: Counter[ProfileType] = Counter()
        self._cpu_mark = self._cpu_reported = 0
        self.busy = False  # a profile is being captured or uploaded

    @property
    def types(self) -> tuple[ProfileType, ...]:
        """Types to offer: those of the sampler without those that failed repeatedly."""
        return tuple(
            kind for kind in self._sampler.types if self._failures[kind] < FAILURES_OF_A_TYPE
        )

    def run(self, first_pause: float) -> None:
        self._cpu_mark = self._cpu_reported = time.thread_time_ns()
        pause = first_pause
        while not self._sleep(pause):
            if not self.types:
                self._give_up("no profile type can be captured")
                break
            try:
                pause = self._round()
            except Exception as error:
                pause = self._after_agent_error(error)
            self._count_cpu()
        if self._counters.state != "failed":
            self._counters.state = "stopped"
        self._client.connection.close()

    def _sleep(self, pause: float) -> bool:
        self._counters.state = "backing off" if pause > _SHOWN_PAUSE else "waiting"
        self._counters.next_try = time.monotonic() + pause
        return self._bell.wait(pause)

    def _round(self) -> float:
        """Do one handshake and serve its request.

        Return the pause until the next handshake in seconds.
        """
        self._counters.state = "waiting"
        try:
            response = self._client.handshake(self.types)
        except (Unreachable, InvalidResponse) as error:
            return self._after_no_answer(str(error))
        if isinstance(response, ErrorResponse):
            return self._after_error(response)
        self._backoff.succeed()
        self._outage.over(self._server)
        self.busy = True
        try:
            return self._serve(response)
        finally:
            self.busy = False

    def _serve(self, assignment: Assignment) -> float:
        taken = self._capture(assignment)
        if taken is None:
            self._counters.profiles_dropped += 1
            return self._loss_backoff.next()
        profile, assignment = taken
        self._counters.state = "uploading"
        lost = upload(self._client, assignment, profile, self._bell.wait, self._uniform)
        if lost is None:
            self._counters.profiles_sent += 1
            self._loss_backoff.succeed()
            self._losses.forget()
            return PACE
        self._counters.profiles_dropped += 1
        self._report_loss("upload", f"profile not uploaded: {_phrase(lost.reason)}. {_ASIDE}.")
        return self._loss_backoff.next(lost.error.retry_after if lost.error else None)

    def _capture(self, assignment: Assignment) -> tuple[bytes, Assignment] | None:
        """Capture and encode a profile. Return None if that fails.

        If stopping ends the capture early, the returned assignment has the shorter duration.
        """
        kind = assignment.type
        self._counters.state = "capturing"
        try:
            capture = self._sampler.capture(kind, assignment.duration, self._bell.wait)
            encoded = self._encode(kind, capture)
        except Exception as error:
            self._after_failed_capture(kind, error)
            return None
        self._failures[kind] = 0
        if self._bell.rung and capture.duration_ns:
            assignment = replace(assignment, duration=capture.duration_ns / 1e9)
        return encoded, assignment

    def _encode(self, kind: ProfileType, capture: Capture) -> bytes:
        self._counters.samples += sum(stack.count for stack in capture.stacks)
        self._counters.add_dropped(capture.dropped)
        self._counters.memory_bytes = max(self._counters.memory_bytes, capture.memory_bytes)
        self._counters.cpu_ns += capture.sampler_cpu_ns
        cpu_ns = self._take_cpu()
        return pprof.encode(build_profile(kind, capture, self._sampler.name, cpu_ns))

    def _after_error(self, error: ErrorResponse) -> float:
        """Log an error response once, and return the pause until the next handshake in seconds."""
        status, reason = error.status, _phrase(error.message)
        if error.throttled:
            self._outage.over(self._server)
            if error.retry_after is not None:
                self._backoff.succeed()
            return self._backoff.next(error.retry_after)
        if status in {401, 403}:
            pause = self._backoff.next_long(error.retry_after)
            line = f"API key rejected by {self._server} ({status}): {reason}"
            return self._report_outage("key", line, pause)
        if status >= 500 or status == 408:
            return self._after_no_answer(f"{status} {reason}".strip(), error.retry_after)
        kind = "quota" if status == 429 else "request"
        line = f"request rejected by {self._server} ({status}): {reason}"
        return self._report_outage(kind, line, self._backoff.next(error.retry_after))

    def _after_no_answer(self, reason: str, server_delay: float | None = None) -> float:
        line = f"cannot send profiles to {self._server}: {_phrase(reason)}"
        return self._report_outage("server", line, self._backoff.next(server_delay))

    def _after_failed_capture(self, kind: ProfileType, error: Exception) -> None:
        self._failures[kind] += 1
        self._counters.errors += 1
        reason = _phrase(f"{type(error).__name__}: {error}")
        self._report_loss(
            f"capture {kind}", f"capturing a {kind} profile failed: {reason}. {_ASIDE}."
        )

    def _after_agent_error(self, error: Exception) -> float:
        """Log a failure of the agent itself, and return a pause in seconds."""
        self._counters.errors += 1
        reason = _phrase(f"{type(error).__name__}: {error}")
        self._report_loss("agent", f"agent error: {reason}. {_ASIDE}; the agent continues.")
        return self._loss_backoff.next()

    def _report_outage(self, kind: str, line: str, pause: float) -> float:
        """Record a failure between agent and server, and return the pause until the next attempt.

        The outage ends with the next valid response.
        """
        if not self._bell.rung:
            line = f"{line} (retry in {pause:.0f} s). {_ASIDE}."
            self._counters.last_error = line
            self._outage.fail(kind, line)
        return pause

    def _report_loss(self, kind: str, line: str) -> None:
        """Record the loss of a profile. The outage ends with the next profile that is uploaded."""
        if self._bell.rung:
            return  # caused by `stop()`: not worth a message
        self._counters.last_error = line
        self._losses.fail(kind, line)

    def _give_up(self, reason: str) -> None:
        self._counters.state, self._counters.reason = "failed", reason
        warn(f"profiling stopped: {reason}. {_ASIDE}.")

    def _count_cpu(self) -> None:
        """Add the CPU time of this thread since the last call to the counters."""
        now = time.thread_time_ns()
        self._counters.cpu_ns += now - self._cpu_mark
        self._cpu_mark = now

    def _take_cpu(self) -> int:
        """Return the CPU time since the last profile, including its encoding and upload."""
        now = time.thread_time_ns()
        used, self._cpu_reported = now - self._cpu_reported, now
        return used


def _phrase(text: str) -> str:
    """Return text from outside in a form that can be followed by a full stop."""
    return one_line(text).rstrip(". ") or "no reason given"
