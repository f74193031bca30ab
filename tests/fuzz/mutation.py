"""Mutation engine: reproducible random changes of known inputs, with feedback by rejection.

It knows nothing of the code that runs. An input whose rejection has a new text (without its
numbers) becomes a parent of later inputs, so that the inputs get deeper into the checks.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

from tests.fuzz.fuzz_target import InputForm
from tests.fuzz.protobuf import WireField, join_fields, split_fields
from tests.fuzz.sections import join_sections, split_sections

MOST_CHANGES = 6  # of one input
MOST_PARENTS = 2000  # inputs that mutations start from
LONGEST_REPEAT = 2000  # times that a piece is repeated
MOST_NESTED = 1100  # levels of JSON, more than parsers and Python's stack allow

_NUMBERS = tuple(
    sorted(
        {
            *(sign * 2**bits + step for bits in (7, 8, 14, 15, 16, 31, 32, 53, 56, 62, 63, 64)
              for sign in (1, -1) for step in (-1, 0, 1)),
            *(0, 1, -1, 2, 10, 100, 999_999_999, 10**14, 10**17 - 1, 10**19),
        }
    )
)  # fmt: skip
_DIGITS = re.compile(rb"-?\d+")
_JSON_VALUE = re.compile(rb"(?<=[:,\[])(?:\"[^\"]*\"|[^\",:\[\]{}]+|\[\]|\{\})")
_JSON_VALUES = (b"null", b"true", b"-1", b"1e400", b"0.5", b'""', b'"\\u0000"', b"{}", b"[]")

Change = Callable[["Mutator", bytearray], None]


class Mutator:
    """Endless source of inputs; the same seed and the same feedback give the same inputs."""

    def __init__(
        self,
        corpus: Sequence[bytes],
        dictionary: Sequence[bytes],
        max_size: int,
        seed: str,
        form: InputForm = InputForm.BYTES,
    ) -> None:
        self._random = Random(seed)
        self._form = form
        self._corpus = [data[:max_size] for data in corpus] or [b""]
        self._parents = [*self._corpus]
        self._dictionary = [*dictionary, b"\0", b"\xff", b'"', b"[", b"{"]
        self._max_size = max_size
        self._texts: set[str] = set()

    def inputs(self) -> Iterator[bytes]:
        """Yield mutated inputs for ever."""
        while True:
            from_corpus = self._random.randrange(2)
            yield self.mutated(self._random.choice(self._corpus if from_corpus else self._parents))

    def learn(self, data: bytes, rejection: str) -> None:
        """Make the input a parent if no earlier one was rejected with this text."""
        text = re.sub(r"['\"].*|\d+|0x[0-9a-f]+", "", rejection)[:100]
        if text not in self._texts and len(self._parents) < MOST_PARENTS:
            self._texts.add(text)
            self._parents.append(data)

    def reseed(self, seed: int) -> None:
        self._random.seed(seed)

    def mutated(self, data: bytes) -> bytes:
        """Return the input with one change or, less often, several."""
        if self._form is InputForm.SECTIONS and self._random.randrange(16):
            return self._with_changed_section(data)[: self._max_size]
        if self._form is InputForm.PROTOBUF and self._random.randrange(4):
            return self._with_changed_field(data)[: self._max_size]
        changed = bytearray(data)
        self._change(changed, _TEXT_CHANGES if self._form is InputForm.TEXT else _BYTE_CHANGES)
        return bytes(changed[: self._max_size])

    def _with_changed_section(self, data: bytes) -> bytes:
        sections = list(split_sections(data))
        if not sections:
            return data
        at = self._random.randrange(len(sections))
        name, body = sections[at]
        changed = bytearray(body)
        self._change(changed, _TEXT_CHANGES if body.startswith((b"{", b"[")) else _BYTE_CHANGES)
        sections[at] = name, bytes(changed)
        if self._random.randrange(32) == 0:
            del sections[self._random.randrange(len(sections))]
        return join_sections(sections)

    def _with_changed_field(self, data: bytes) -> bytes:
        """Change a field of a protobuf message, or of a message in it; the lengths fit again."""
        fields = split_fields(data)
        if not fields:
            changed = bytearray(data)
            self._change(changed, _BYTE_CHANGES)
            return bytes(changed)
        at, choice = self._random.randrange(len(fields)), self._random.randrange(8)
        number, value = fields[at]
        if choice == 0:
            del fields[at]
        elif choice == 1:
            fields.insert(self._random.randrange(len(fields) + 1), fields[at])
        elif choice == 2:
            fields[at] = WireField(self._random.randrange(1, 16), value)
        elif isinstance(value, bytes):
            fields[at] = WireField(number, self._with_changed_field(value))
        else:
            near = value + self._random.randint(-2, 2)
            numbers = (near, self._random.choice(_NUMBERS), self._random.randrange(8))
            fields[at] = WireField(number, self._random.choice(numbers) % 2**64)
        return join_fields(fields)

    def _change(self, data: bytearray, changes: Sequence[Change]) -> None:
        self._random.choice(changes)(self, data)
        for _ in range(MOST_CHANGES - 1):
            if self._random.randrange(2):
                break
            self._random.choice(changes)(self, data)

    def _offset(self, data: bytearray) -> int:
        return self._random.randrange(len(data) + 1)

    def _range(self, data: bytearray) -> slice:
        start = self._offset(data)
        return slice(start, start + self._random.choice((1, 1, 2, 4, 8, 16, 64)))

    def flip_bit(self, data: bytearray) -> None:
        if data:
            data[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)

    def set_byte(self, data: bytearray) -> None:
        if data:
            data[self._random.randrange(len(data))] = self._random.randrange(256)

    def set_number(self, data: bytearray) -> None:
        """Overwrite bytes by a little-endian number."""
        size = self._random.choice((1, 2, 4, 8))
        number = self._random.choice(_NUMBERS) % 256**size
        at = self._offset(data)
        data[at : at + size] = number.to_bytes(size, "little")

    def set_varint(self, data: bytearray) -> None:
        number, at = self._random.choice(_NUMBERS) % 2**64, self._offset(data)
        out = bytearray()
        while number > 0x7F:
            out.append(number & 0x7F | 0x80)
            number >>= 7
        data[at : at + self._random.choice((1, len(out) + 1))] = bytes([*out, number])

    def set_digits(self, data: bytearray) -> None:
        """Replace a decimal number."""
        found = list(_DIGITS.finditer(data))
        if found:
            match = self._random.choice(found)
            data[match.start() : match.end()] = b"%d" % self._random.choice(_NUMBERS)

    def set_json_value(self, data: bytearray) -> None:
        """Replace a value of a JSON text, in one of eight cases by deeply nested lists."""
        found = list(_JSON_VALUE.finditer(data))
        if not found:
            return
        match, choice = self._random.choice(found), self._random.randrange(8)
        value = self._random.choice(_JSON_VALUES)
        if choice == 0:
            depth = self._random.randint(1, MOST_NESTED)
            value = b"[" * depth + b"]" * depth
        elif choice == 1:
            value = b"%d" % self._random.choice(_NUMBERS)
        elif choice < 5:
            value = self._random.choice(self._dictionary)
        elif choice == 5:
            value = bytes(self._random.choice(found)[0])
        data[match.start() : match.end()] = value

    def insert(self, data: bytearray) -> None:
        at = self._offset(data)
        data[at:at] = self._random.randbytes(self._random.choice((1, 1, 2, 4, 16)))

    def delete(self, data: bytearray) -> None:
        del data[self._range(data)]

    def copy(self, data: bytearray) -> None:
        """Copy a piece of this input to another place of it."""
        piece, at = data[self._range(data)], self._offset(data)
        data[at : at + self._random.choice((0, len(piece)))] = piece

    def splice(self, data: bytearray) -> None:
        """Copy a piece of another input."""
        other = self._random.choice(self._parents)
        start, at = self._random.randrange(len(other) + 1), self._offset(data)
        piece = other[start : start + self._random.choice((1, 4, 16, 64, 256))]
        data[at : at + self._random.choice((0, len(piece)))] = piece

    def insert_token(self, data: bytearray) -> None:
        token, at = self._random.choice(self._dictionary), self._offset(data)
        data[at : at + self._random.choice((0, len(token)))] = token

    def repeat(self, data: bytearray) -> None:
        """Repeat a piece, in one of 16 cases very often."""
        piece, at = data[self._range(data)][:16], self._offset(data)
        often = self._random.randrange(16) == 0
        data[at:at] = piece * self._random.randint(1, LONGEST_REPEAT if often else 4)

    def cut(self, data: bytearray) -> None:
        if self._random.randrange(4) == 0:
            del data[self._offset(data) :]


_BYTE_CHANGES = (
    *(Mutator.flip_bit, Mutator.set_byte, Mutator.set_number, Mutator.set_varint),
    *(Mutator.set_digits, Mutator.set_json_value, Mutator.insert, Mutator.delete, Mutator.copy),
    *(Mutator.splice, Mutator.insert_token, Mutator.repeat, Mutator.cut),
)
_TEXT_CHANGES = (
    *(Mutator.set_json_value, Mutator.set_json_value, Mutator.set_digits) * 8,
    *(Mutator.insert_token, Mutator.copy, Mutator.splice, Mutator.delete) * 2,
    *_BYTE_CHANGES,
)
