"""Location tables of code objects (`co_linetable`, CPython 3.11 and later).

A table is a sequence of entries. The first byte of an entry has its high bit set; bits 0-2 are the
number of code units covered minus one, bits 3-6 the kind. Kinds 0-9 are short forms on the same
line, 10-12 advance 0-2 lines, 13 and 14 carry a signed line difference, 15 has no location.
"""

CODE_UNIT = 2  # bytes
NEXT_LINES = range(10, 13)
SIGNED_LINE = range(13, 15)
NO_LOCATION = 15


def find_line(table: bytes, first_line: int, offset: int) -> int:
    """Return the line of the instruction at `offset` bytes; 0 if it has none.

    Return 0 for a broken table, too. A negative offset means that the function was entered but has
    not begun: return its first line.
    """
    if offset < 0:
        return first_line
    try:
        return _find_line(table, first_line, offset)
    except IndexError:  # the code object was freed during the copy of its table
        return 0


def _find_line(table: bytes, first_line: int, offset: int) -> int:
    line, end, index = first_line, 0, 0
    while index < len(table):
        kind = (table[index] >> 3) & 15
        if kind in SIGNED_LINE:
            line += _read_signed(table, index + 1)
        elif kind in NEXT_LINES:
            line += kind - NEXT_LINES.start
        end += ((table[index] & 7) + 1) * CODE_UNIT
        if offset < end:
            return max(line, 0) if kind < NO_LOCATION else 0
        index = _next_entry(table, index)
    return 0


def _read_signed(table: bytes, index: int) -> int:
    """Decode a number in groups of six bits, lowest first, with the sign in the lowest bit."""
    value = shift = 0
    while True:
        byte = table[index]
        value |= (byte & 63) << shift
        if not byte & 64:
            return -(value >> 1) if value & 1 else value >> 1
        index, shift = index + 1, shift + 6


def _next_entry(table: bytes, index: int) -> int:
    index += 1
    while index < len(table) and not table[index] & 128:
        index += 1
    return index
