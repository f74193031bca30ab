"""Shorten the paths in sample profiles in place, to remove the folders of the machine.

Usage: python -m tests.samples.make.shorten FROM=TO… -- FILE…
"""

import gzip
import sys
from pathlib import Path

from tests.profiles.pprof_proto import Profile


def shorten(raw: bytes, paths: dict[str, str]) -> bytes:
    message = Profile.FromString(raw)
    for i, text in enumerate(message.string_table):
        message.string_table[i] = _shortened(text, paths)
    return bytes(message.SerializeToString())


def _shortened(text: bytes, paths: dict[str, str]) -> bytes:
    for long, short in paths.items():
        text = text.replace(long.encode(), short.encode())
    return text


def main(arguments: list[str]) -> None:
    middle = arguments.index("--")
    paths = dict(pair.split("=", 1) for pair in arguments[:middle])
    for path in map(Path, arguments[middle + 1 :]):
        raw = gzip.decompress(path.read_bytes())
        path.write_bytes(gzip.compress(shorten(raw, paths), 9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
