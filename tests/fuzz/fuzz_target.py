"""Definition of a fuzz target: one function of bytes, its rejections, seeds and limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tests.fuzz.cost import CostBound

CORPUS = Path(__file__).parent / "corpus"
MAX_INPUT = 2**16  # bytes of one input


class InputForm(Enum):
    """Form of a target's inputs, by which the mutation engine chooses its changes."""

    BYTES = "bytes"
    TEXT = "text"  # JSON or a query string: mostly values are replaced
    PROTOBUF = "protobuf"  # see protobuf.py: mostly one field is changed
    SECTIONS = "sections"  # see sections.py: each section is changed by itself


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """Reader of foreign bytes with the exceptions by which it may reject them.

    `run` raises any other exception, an AssertionError included, only for a bug. An input may take
    `memory` bytes of address space and `memory_per_byte` times its own size, and what `cost` says.
    If `run` has checks that take more, `measured` is the server's part of it, to which these apply.
    """

    name: str
    run: Callable[[bytes], None]
    rejections: tuple[type[Exception], ...]
    seeds: Callable[[], Sequence[bytes]]
    dictionary: tuple[bytes, ...] = ()
    form: InputForm = InputForm.BYTES
    max_size: int = 4096  # bytes of an input
    memory: int = 24 * 2**20
    memory_per_byte: int = 64
    cost: CostBound | None = None  # measured for each input, which takes some four times as long
    measured: Callable[[bytes], None] | None = None

    def accepts(self, data: bytes) -> str:
        """Run one input; return "" if it is accepted, otherwise the rejection as a text."""
        return self._outcome(self.run, data)

    def accepts_measured(self, data: bytes) -> str:
        """Run the part with bounded memory and cost on one input; return as `accepts` does."""
        return self._outcome(self.measured or self.run, data)

    def _outcome(self, run: Callable[[bytes], None], data: bytes) -> str:
        try:
            run(data)
        except self.rejections as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def corpus(self) -> list[bytes]:
        """Return the seeds and the inputs that once were findings, in a fixed order."""
        folder = CORPUS / self.name
        stored = sorted(folder.iterdir()) if folder.is_dir() else []
        return [*self.seeds(), *(path.read_bytes() for path in stored)]
