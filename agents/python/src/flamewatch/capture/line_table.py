"""Location tables of code objects (`co_linetable`, CPython 3.11 and later).

A table is a sequence of entries. The first byte of an entry has its high bit set; bits 0-2 are the
number of code units covered minus one, bits 3-6 the kind. Kinds 0-9 are short forms on the same
line, 10-12 advance 0-2 lines, 13 and 14 carry a signed line difference, 15 has no location.
"""

CODE_UNIT = 2  # bytes
NEXT_LINES = range(10, 13)
SIGNED_LINE = range(13, 15)
NO_LOCATION = 15


def line_at(table: bytes, first_line: int, offset: int) -> int:
    """Return the line of the instruction at `offset` bytes; 0 if it has none.

    Return 0 for a broken table, too. A negative offset means that the function was entered but has
    not begun: return its first line.
    """
    if offset < 0:
        return first_line
    try:
        return _line_at(table, first_line, offset)
    except IndexError:  # the code object was freed during the copy of its table
        return 0


def _line_at(table: bytes, first_line: int, offset: int) -> int:
    line, end, at = first_line, 0, 0
    while at < len(table):
        kind = (table[at] >> 3) & 15
        if kind in SIGNED_LINE:
            line += _signed(table, at + 1)
        elif kind in NEXT_LINES:
            line += kind - NEXT_LINES.start
        end += ((table[at] & 7) + 1) * CODE_UNIT
        if offset < end:
            return max(line, 0) if kind < NO_LOCATION else 0
        at = _next_entry(table, at)
    return 0


def _signed(table: bytes, at: int) -> int:
    """Decode a number in groups of six bits, lowest first, with the sign in the lowest bit."""
    value = shift = 0
    while True:
        byte = table[at]
        value |= (byte & 63) << shift
        if not byte & 64:
            return -(value >> 1) if value & 1 else value >> 1
        at, shift = at + 1, shift + 6


def _next_entry(table: bytes, at: int) -> int:
    at += 1
    while at < len(table) and not table[at] & 128:
        at += 1
    return at
